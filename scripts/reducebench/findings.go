package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// finding is one unreduced case that a strict campaign called wrong.
type finding struct {
	Target      string         `json:"target"`
	Input       string         `json:"input"`
	Fingerprint string         `json:"fingerprint"`
	Kind        oracle.Kind    `json:"kind"`
	Outcome     oracle.Outcome `json:"outcome"`
	Rules       []string       `json:"rules,omitempty"`
	// Case is the text form, its levels in the header.
	Case string `json:"case"`
	// History is kept only where fingerprints are to be studied.
	History *history.History `json:"history,omitempty"`
}

func (f *finding) parse() (*corpus.Case, error) {
	c, err := corpus.Parse(f.Target+", "+f.Input, []byte(f.Case))
	if err != nil {
		return nil, fmt.Errorf("parse finding: %w", err)
	}
	return c, nil
}

// collection gathers findings from the workers of a campaign.
type collection struct {
	target    string
	want      int
	mostAlike int
	histories bool
	enough    context.CancelFunc

	mu    sync.Mutex
	list  []finding
	seen  map[string]bool
	alike map[string]int
}

func (l *collection) observe(r *target.Trial, input string) {
	v := &r.Verdict
	if v.Outcome != oracle.Known && v.Outcome != oracle.Violation || v.Kind == oracle.ServerCrash {
		return
	}
	c := r.Case.Clone()
	c.Header = nil
	c.SetLevels(r.Levels)
	f := finding{
		Target: l.target, Input: input, Fingerprint: v.Fingerprint, Kind: v.Kind, Outcome: v.Outcome, Rules: v.Rules,
		Case: string(corpus.Print(c, corpus.Text)),
	}
	if l.histories {
		f.History = r.History
	}
	// The orders of one input show the same thing again and again.
	made, _, _ := strings.Cut(input, ", order")
	cause := strings.Join(v.Rules, "+") + string(v.Outcome)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) >= l.want || l.seen[made] || l.mostAlike > 0 && l.alike[cause] >= l.mostAlike {
		return
	}
	l.seen[made] = true
	l.alike[cause]++
	l.list = append(l.list, f)
	if len(l.list) == l.want {
		l.enough()
	}
}

// collect runs a strict campaign on a target until it has so many findings, at
// most mostAlike of them with the same rules where that is not 0.
func collect(ctx context.Context, target string, want, mostAlike int, histories bool, seed uint64) ([]finding, error) {
	out, err := os.MkdirTemp("", "reducebench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(out)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &collection{target: target, want: want, mostAlike: mostAlike, histories: histories, enough: cancel, seen: map[string]bool{}, alike: map[string]int{}}
	_, err = campaign.RunHere(ctx, campaign.Settings{
		Target: target, Conflict: mutate.Mix, Workers: 1, Seed: seed, Out: out, Strict: true, Observe: l.observe,
	})
	if err != nil && !errors.Is(err, campaign.ErrNothingJudged) {
		return nil, fmt.Errorf("collect findings on %s: %w", target, err)
	}
	return l.list, nil
}

// readSet reads a compressed file of one JSON object a line.
func readSet(path string) ([]finding, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("read findings %s: %w", path, err)
	}
	var out []finding
	for d := json.NewDecoder(z); ; {
		var x finding
		if err := d.Decode(&x); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("read finding %d of %s: %w", len(out)+1, path, err)
		}
		out = append(out, x)
	}
}

// writeSet replaces the file.
func writeSet(path string, list []finding) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	for i := range list {
		if err == nil {
			err = e.Encode(&list[i])
		}
	}
	if err = errors.Join(err, z.Close(), f.Close()); err != nil {
		return fmt.Errorf("write findings %s: %w", path, err)
	}
	return nil
}
