package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// measurement is one reduction of one finding. Sizes are of the case's
// statements, set-up included where not said otherwise.
type measurement struct {
	Finding  int    `json:"finding"` // index into the set
	Target   string `json:"target"`
	Strategy string `json:"strategy"`
	Cause    string `json:"cause"`
	// StepsBefore and StepsAfter leave the set-up out.
	StepsBefore int            `json:"steps_before"`
	StepsAfter  int            `json:"steps_after"`
	CharsBefore int            `json:"chars_before"`
	CharsAfter  int            `json:"chars_after"`
	Attempts    int            `json:"attempts"`
	Useful      int            `json:"useful"`
	Cached      int            `json:"cached"`
	Layers      []reduce.Count `json:"layers"`
	Arms        []reduce.Count `json:"arms"`
	Seconds     float64        `json:"seconds"`
	Minimal     bool           `json:"minimal"`
	Complete    bool           `json:"complete"`
	// Lost says that the finding did not show again.
	Lost bool `json:"lost,omitempty"`
	// Curve holds attempt and characters, in turn, for each kept candidate.
	Curve []int `json:"curve"`
	// Case is the reduced case.
	Case string `json:"case,omitempty"`
}

// strategies is the order of the tables.
var strategies = []reduce.Strategy{reduce.EpsilonGreedy, reduce.ProbabilityTable, reduce.Random, reduce.DeltaDebug}

// benchmark reduces each finding of a target with each strategy and appends a
// line for each to the results. What these hold already is not done again.
func benchmark(ctx context.Context, set []finding, name, results string, chosen []reduce.Strategy, limit time.Duration, joint, blindly bool) error {
	done, err := readMeasurements(results)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, m := range done {
		have[fmt.Sprint(m.Finding, m.Strategy)] = true
	}
	out, err := os.OpenFile(results, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("append results: %w", err)
	}
	defer out.Close()
	t, err := target.Open(ctx, name, target.Options{Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer t.Close()
	for i := range set {
		if set[i].Target != name {
			continue
		}
		for _, s := range chosen {
			if have[fmt.Sprint(i, s)] {
				continue
			}
			m, err := measure(ctx, t, &set[i], s, limit, joint, blindly)
			if err != nil {
				return fmt.Errorf("finding %d, %s: %w", i, s, err)
			}
			m.Finding = i
			line, err := json.Marshal(m)
			if err != nil {
				return err
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return fmt.Errorf("append results: %w", err)
			}
			fmt.Printf("%s %d %s, %s: %d → %d steps, %d → %d characters, %d attempts, %.2f s, minimal %t\n",
				name, i, m.Cause, s, m.StepsBefore, m.StepsAfter, m.CharsBefore, m.CharsAfter, m.Attempts, m.Seconds, m.Minimal)
		}
	}
	return nil
}

func measure(ctx context.Context, t *target.Target, f *finding, s reduce.Strategy, limit time.Duration, joint, blindly bool) (measurement, error) {
	m := measurement{Target: f.Target, Strategy: s.String(), Cause: f.cause()}
	c, err := f.parse()
	if err != nil {
		return m, err
	}
	// The finding may have another fingerprint by now, since rules were added.
	want, err := t.Try(ctx, c)
	if err != nil {
		return m, err
	}
	m.Cause = (&finding{Rules: want.Rules, Kind: want.Kind}).cause()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	same := findings.SameBug(want, "")
	if joint {
		same = nil // equal fingerprints
	}
	o := reduce.Options{Try: t.Try, Want: want, Same: same, Strategy: s, Seed: 1}
	if !blindly && same != nil {
		o.Try, o.Foresee = t.Watch(same)
	}
	begin := time.Now()
	r, err := reduce.Reduce(ctx, c, o)
	m.Seconds = time.Since(begin).Seconds()
	if errors.Is(err, reduce.ErrNotReproduced) {
		m.Lost = true
		return m, nil
	}
	if err != nil {
		return m, err
	}
	m.StepsBefore, m.StepsAfter = len(c.Steps), len(r.Case.Steps)
	m.CharsBefore, m.CharsAfter = r.CharactersBefore, r.CharactersAfter
	m.Attempts, m.Useful, m.Cached, m.Layers = r.Attempts, r.Useful, r.Cached, r.PerLayer
	m.Arms = r.PerArm
	m.Minimal, m.Complete = r.Minimal, r.Complete
	m.Case = string(corpus.Print(&corpus.Case{Init: r.Case.Init, Steps: r.Case.Steps}, corpus.Text))
	m.Curve = []int{0, m.CharsBefore}
	for _, x := range r.Trace {
		if x.Kept && x.Attempt > 1 {
			m.Curve = append(m.Curve, x.Attempt, x.Characters)
		}
	}
	return m, nil
}

func readMeasurements(path string) ([]measurement, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	defer f.Close()
	var out []measurement
	for d := json.NewDecoder(f); ; {
		var m measurement
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("read result %d of %s: %w", len(out)+1, path, err)
		}
		out = append(out, m)
	}
}
