package fuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// Replayed is the verdict of one file on one target at one level. Its JSON
// keys are part of the command line's contract.
type Replayed struct {
	File          string         `json:"file"`
	Target        string         `json:"target"`
	ServerVersion string         `json:"server_version"`
	Level         string         `json:"level"`
	Verdict       oracle.Outcome `json:"verdict"`
	Kind          oracle.Kind    `json:"kind"`
	Rules         []string       `json:"rules"`
	Expected      string         `json:"expected"`
	Actual        string         `json:"actual"`
	Reason        string         `json:"reason"`
	Fingerprint   string         `json:"fingerprint"`
	// Anomaly is what the literature calls what the run shows, whatever the verdict, the
	// gravest name first.
	Anomaly []oracle.Anomaly `json:"anomaly"`
	// Recorded is what the file's header says of this target and level, "" for
	// nothing; see verdictText.
	Recorded string `json:"recorded,omitempty"`
	// Runs is how often the case ran until it showed what its header records, or
	// until that would be missed no more than once in a hundred times; see
	// Replay.
	Runs int `json:"runs"`
	// Invariant says whether the run kept the invariant that the header of a workload's
	// finding names; nil where it names none. The verdict is on the server alone.
	Invariant *workload.Kept `json:"invariant,omitempty"`
	// Against says what another server did; nil where none was asked for.
	Against *ReplayedAgainst `json:"against,omitempty"`

	// Trial is the last run.
	Trial Trial `json:"-"`
}

// Replay runs a case on a target at the levels of its header. Sessions that have none there run
// at each of the levels given. A case runs once, unless its header tells how surely
// it shows something: then it runs, in new databases as when that was measured,
// until it shows it, or so often that it would be missed by chance at most once in a
// hundred times. Runs that the end of the context cuts off are left out.
func Replay(ctx context.Context, t *Target, file string, c *corpus.Case, levels []corpus.Level) []Replayed {
	if SetsLevels(c) {
		levels = levels[:1]
	}
	var out []Replayed
	for _, l := range levels {
		if ctx.Err() != nil {
			break
		}
		r := replayAt(ctx, t, file, c, LevelsFor(c, l))
		if ctx.Err() != nil {
			break
		}
		out = append(out, r)
	}
	return out
}

// SetsLevels says that the header of a case gives each of its sessions a level,
// so that it runs at those, whatever levels are asked for.
func SetsLevels(c *corpus.Case) bool {
	return len(c.Steps) > 0 && !slices.ContainsFunc(c.Sessions(), func(session int) bool {
		_, ok := c.LevelOf(session)
		return !ok
	})
}

func replayAt(ctx context.Context, t *Target, file string, c *corpus.Case, levels map[int]corpus.Level) Replayed {
	level := LevelName(levels)
	recorded := recordedVerdict(c, t.Name, level)
	judge, most := t.Judge, 1
	if rate := rateIn(c, keyReproduced); rate != Unconfirmed {
		judge = t.JudgeFresh
		if shouldShow(t, c, recorded) {
			most = rate.runsToMiss()
		}
	}
	if t.Facts {
		judge = t.JudgeForFacts
	}
	var r Trial
	runs := 1
	if l, missing := t.Missing(levels); missing {
		err := &LevelError{t.Name, l, t.Levels()}
		r = Trial{Case: c, Levels: levels, Err: err, Verdict: oracle.Verdict{
			Outcome: oracle.Unknown, Stmt: -1, Reason: ReasonLevel, Actual: err.Error(),
		}}
	} else {
		for r = judge(ctx, c, levels); runs < most && !showsAgain(c, recorded, &r.Verdict) && ctx.Err() == nil; runs++ {
			r = judge(ctx, c, levels)
		}
		Explain(ctx, &r)
	}
	kept := workload.Keeps(ctx, c, r.History, t.History)
	v := &r.Verdict
	return Replayed{
		File: file, Target: t.Name, ServerVersion: t.Server().Version, Level: level,
		Verdict: v.Outcome, Kind: v.Kind, Rules: v.Rules, Expected: v.Expected, Actual: v.Actual,
		Reason: v.Reason, Fingerprint: v.Fingerprint, Anomaly: r.anomalies(), Recorded: recorded, Runs: runs, Invariant: kept, Trial: r,
	}
}

// shouldShow says that a case with a rate is to show something here: by its
// record for the target and level or, where there is none for the target at all,
// because it did so where it was found.
func shouldShow(t *Target, c *corpus.Case, recorded string) bool {
	if recorded == "" {
		return len(recordedOn(c, t.Name)) == 0
	}
	outcome, _, _ := strings.Cut(recorded, " ")
	return outcome == string(oracle.Violation) || outcome == string(oracle.Known)
}

// showsAgain says that there is no reason to run a case another time.
func showsAgain(c *corpus.Case, recorded string, v *oracle.Verdict) bool {
	if v.Outcome == oracle.Violation || recorded != "" && verdictText(v) == recorded {
		return true
	}
	fingerprint, _ := c.Get(keyFingerprint)
	return fingerprint != "" && v.Fingerprint == fingerprint
}

// Explain tells people why a case has no verdict, unless the context ends before
// that is found out.
func Explain(ctx context.Context, r *Trial) {
	if ctx.Err() != nil {
		return
	}
	done := make(chan oracle.Verdict, 1)
	v, c, h := r.Verdict, r.Case, r.History
	go func() {
		if !stale(&v, c, h) {
			explainUnknown(&v, c, h)
		}
		done <- v
	}()
	select {
	case r.Verdict = <-done:
	case <-ctx.Done():
	}
}

// Missing returns a level of a run that the target does not know.
func (t *Target) Missing(levels map[int]corpus.Level) (corpus.Level, bool) {
	have := map[corpus.Level]bool{}
	for _, l := range t.Levels() {
		have[l] = true
	}
	for _, l := range corpus.Levels {
		for _, want := range levels {
			if want == l && !have[l] {
				return l, true
			}
		}
	}
	return 0, false
}

// ReplayJSON writes results as a list, each as it comes: what a replay has found
// by the time it is ended is there.
type ReplayJSON struct {
	w    io.Writer
	some bool
}

// NewReplayJSON begins a list.
func NewReplayJSON(w io.Writer) *ReplayJSON { return &ReplayJSON{w: w} }

// Add writes results behind those before.
func (j *ReplayJSON) Add(results []Replayed) error {
	for i := range results {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false) // SQL is full of < and >
		e.SetIndent("  ", "  ")
		if err := e.Encode(&results[i]); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		start := ",\n  "
		if !j.some {
			start = "[\n  "
		}
		j.some = true
		if _, err := io.WriteString(j.w, start+strings.TrimSuffix(text.String(), "\n")); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
	}
	return nil
}

// Close ends the list.
func (j *ReplayJSON) Close() error {
	end := "\n]\n"
	if !j.some {
		end = "[]\n"
	}
	if _, err := io.WriteString(j.w, end); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// WriteReplayText writes results as a table for people, and below it what was
// recorded where that differs, and what the literature has a name for.
func WriteReplayText(w io.Writer, results []Replayed) error {
	t := table.NewWriter()
	t.SetStyle(TableStyle())
	t.AppendHeader(table.Row{"file", "target", "level", "verdict", "what", "expected", "actual"})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Name: "expected", WidthMax: cellWidth, WidthMaxEnforcer: text.WrapSoft},
		{Name: "actual", WidthMax: cellWidth, WidthMaxEnforcer: text.WrapSoft},
	})
	below := ""
	for i := range results {
		r := &results[i]
		verdict := outcomeText(r)
		if r.Changed() {
			verdict += markChanged
			below += fmt.Sprintf("%s other than recorded at %s: %s\n", markChanged, r.Level, r.Recorded)
		}
		t.AppendRow(table.Row{r.File, r.Target, r.Level, verdict, r.What(), r.Expected, r.Actual})
	}
	for i := range results {
		for k := range results[i].Anomaly {
			below += fmt.Sprintf("%s: %s\n", results[i].Level, &results[i].Anomaly[k])
		}
	}
	_, err := io.WriteString(w, t.Render()+"\n"+below)
	return errors.Join(err, WriteInvariants(w, results))
}

// WriteInvariants writes a line for each run of a case with an invariant in its header.
func WriteInvariants(w io.Writer, results []Replayed) error {
	var b strings.Builder
	for i := range results {
		if r := &results[i]; r.Invariant != nil {
			if len(results) > 1 {
				fmt.Fprintf(&b, "%s on %s at %s: ", r.File, r.Target, r.Level)
			}
			b.WriteString(r.Invariant.String() + "\n")
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the invariants: %w", err)
	}
	return nil
}

const cellWidth = 48

func outcomeText(r *Replayed) string {
	if r.Verdict == oracle.Unknown {
		switch r.Reason {
		case ReasonLevel:
			return "unsupported"
		case ReasonInit:
			return "set-up failed"
		case ReasonStale:
			return ReasonStale
		}
	}
	return string(r.Verdict)
}

// What names the kind or the rules or the reason, whichever says most, "" for ok.
func (r *Replayed) What() string {
	switch r.Verdict {
	case oracle.Known:
		return strings.Join(r.Rules, " + ")
	case oracle.Violation:
		return string(r.Kind)
	case oracle.Unknown:
		return plainSQL(r.Reason)
	}
	return ""
}

// TableStyle is how tables for people look.
func TableStyle() table.Style {
	s := table.StyleLight
	s.Format.Header = text.FormatDefault
	s.Options.SeparateRows = false
	return s
}

// Step is the statement that differs, counted from 1 in the order of the file;
// 0: the final state, or the run as a whole.
func (r *Replayed) Step() int { return stepNumber(r.Trial.History, r.Trial.Verdict.Stmt) }

// NotRun says that the case could not be run at all, for a reason that is
// neither the server's level nor a limit of the oracle: a set-up that the
// server refused, a statement that does not fit the tables or is not allowed, a
// harness that broke down.
func (r *Replayed) NotRun() bool {
	switch r.Reason {
	case ReasonInit, ReasonStale, ReasonRefused, ReasonHarness, ReasonPanic, reasonLost:
		return r.Verdict == oracle.Unknown
	}
	return false
}
