package telling

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// ReplayJSON writes results as a list, each as it comes: what a replay has found
// by the time it is ended is there.
type ReplayJSON struct {
	w    io.Writer
	some bool
}

// NewReplayJSON begins a list.
func NewReplayJSON(w io.Writer) *ReplayJSON { return &ReplayJSON{w: w} }

// Add writes results behind those before.
func (j *ReplayJSON) Add(results []findings.Replayed) error {
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
func WriteReplayText(w io.Writer, results []findings.Replayed) error {
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
	for i := range results {
		for _, s := range runLines(results[i].Run()) {
			below += fmt.Sprintf("%s: %s\n", results[i].Level, s)
		}
	}
	_, err := io.WriteString(w, t.Render()+"\n"+below)
	return errors.Join(err, WriteInvariants(w, results))
}

// WriteInvariants writes a line for each run of a case with an invariant in its header.
func WriteInvariants(w io.Writer, results []findings.Replayed) error {
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

func outcomeText(r *findings.Replayed) string {
	if r.Verdict == oracle.Unknown {
		switch r.Reason {
		case target.ReasonLevel:
			return "unsupported"
		case target.ReasonInit:
			return "set-up failed"
		case target.ReasonStale:
			return target.ReasonStale
		}
	}
	return string(r.Verdict)
}

// TableStyle is how tables for people look.
func TableStyle() table.Style {
	s := table.StyleLight
	s.Format.Header = text.FormatDefault
	s.Options.SeparateRows = false
	return s
}
