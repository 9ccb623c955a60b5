package fuzz

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// ReplayedAgainst says what another server did with the same case. Its JSON keys are part
// of the command line's contract.
type ReplayedAgainst struct {
	Target        string         `json:"target"`
	ServerVersion string         `json:"server_version"`
	Verdict       oracle.Outcome `json:"verdict"`
	What          string         `json:"what"`
	// Statements counts those whose answers were compared.
	Statements  int                  `json:"compared_statements"`
	Differences []ReplayedDifference `json:"differences"`
}

// ReplayedDifference is one difference of a case.
type ReplayedDifference struct {
	// Step counts the statements from 1; 0: the final state, or the run as a whole.
	Step        int                 `json:"step"`
	Statement   string              `json:"statement"`
	Kind        against.Kind        `json:"kind"`
	First       string              `json:"first"`
	Second      string              `json:"second"`
	Attribution against.Attribution `json:"attribution"`
	Reason      string              `json:"reason"`
	Follows     bool                `json:"follows,omitempty"`
	Link        string              `json:"link,omitempty"`
	// Reproduced is in how many of ten more runs on both an unattributed difference
	// showed; null where it was not run again.
	Reproduced Rate `json:"reproduced"`
}

// ReplayAgainst runs what was replayed on another target, too, and adds to the result how the
// two differ. What nothing explains is run ten more times on both.
func ReplayAgainst(ctx context.Context, t, other *Target, r *Replayed) {
	o := other.Judge(ctx, r.Trial.Case, r.Trial.Levels)
	trial := r.Trial
	trial.Against = &o
	names := [2]string{t.Name, other.Name}
	out := &ReplayedAgainst{Target: other.Name, ServerVersion: other.Server().Version, Verdict: o.Verdict.Outcome, What: whatOf(&o.Verdict), Differences: []ReplayedDifference{}}
	r.Against = out
	if broken(&trial) || broken(&o) {
		return
	}
	cmp := compared(names, &trial)
	out.Statements = cmp.Statements
	for i := range cmp.Differences {
		d := &cmp.Differences[i]
		x := ReplayedDifference{
			Step: stepNumber(trial.History, d.Stmt), Kind: d.Kind, First: oneLine(d.First), Second: oneLine(d.Second), Attribution: d.Attribution,
			Reason: oneLine(d.Reason), Follows: d.Follows, Link: d.Link, Reproduced: Unconfirmed,
		}
		if x.Step > 0 {
			l := trial.Case.Steps[x.Step-1]
			x.Statement = fmt.Sprintf("tx%d: %s", l.Session, corpus.SQL(l.Stmt, corpus.Text))
		}
		if d.Attribution == against.Unattributed {
			x.Reproduced = showsAgainst(ctx, t, other, &trial, d)
		}
		out.Differences = append(out.Differences, x)
	}
}

// showsAgainst runs a case ten more times on both targets and returns how often it showed
// the difference.
func showsAgainst(ctx context.Context, t, other *Target, r *Trial, d *against.Difference) Rate {
	names := [2]string{t.Name, other.Name}
	shown := *r
	shown.Verdict = verdictOn(names, r, d)
	count, _ := again(ctx, func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
		return differing(names, both(ctx, c, levels, t.JudgeFresh, other.JudgeFresh))
	}, &shown)
	return count
}

// Counts says that a difference is unattributed, and shows each time.
func (d *ReplayedDifference) Counts() bool {
	return d.Attribution == against.Unattributed && d.Reproduced >= differsAlways
}

// whatOf names the rules or the kind or the reason of a verdict.
func whatOf(v *oracle.Verdict) string {
	r := Replayed{Verdict: v.Outcome, Kind: v.Kind, Rules: v.Rules, Reason: v.Reason}
	return r.What()
}

// WriteAgainst writes for each result what differs and why, the answers side by side.
func WriteAgainst(w io.Writer, results []Replayed) error {
	var b strings.Builder
	runs, differing, count, open := 0, 0, 0, 0
	for i := range results {
		r := &results[i]
		a := r.Against
		if a == nil {
			continue
		}
		runs++
		if len(a.Differences) == 0 {
			continue
		}
		differing++
		verdict := func(o oracle.Outcome, what string) string { return strings.TrimSpace(string(o) + " " + what) }
		b.WriteString("\n" + wrapped(fmt.Sprintf("%s at %s: %s on %s, %s on %s",
			r.File, r.Level, verdict(r.Verdict, r.What()), r.Target, verdict(a.Verdict, a.What), a.Target), "  ") + "\n")
		rows := [][]string{{"step", "statement", r.Target, a.Target, "put down to"}}
		reasons := ""
		for _, d := range a.Differences {
			count++
			if d.Counts() {
				open++
			}
			rows = append(rows, []string{stepText(d.Step), d.Statement, d.First, d.Second, putDownTo(&d)})
			if d.Reason != "" && !d.Follows {
				reasons += "  " + wrapped(strings.TrimSpace(fmt.Sprintf("%s: %s. %s", stepText(d.Step), d.Reason, d.Link)), "    ") + "\n"
			}
		}
		b.WriteString(listed(rows) + "\n" + reasons)
	}
	if runs > 0 {
		fmt.Fprintf(&b, "\n%s compared with another server, %d of them with differences: %s, %d unattributed\n", Count(runs, "run"), differing, Count(count, "difference"), open)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the differences: %w", err)
	}
	return nil
}

func stepText(step int) string {
	if step == 0 {
		return "end"
	}
	return fmt.Sprint(step)
}

// putDownTo says what a difference is put down to.
func putDownTo(d *ReplayedDifference) string {
	text := fmt.Sprintf("%s, %s", d.Kind, d.Attribution)
	switch {
	case d.Follows:
		text = fmt.Sprintf("%s, follows", d.Kind)
	case d.Attribution == against.Unattributed && !d.Counts():
		text = fmt.Sprintf("%s, by chance", d.Kind)
	}
	if d.Attribution == against.Unattributed {
		text += ", reproduced " + d.Reproduced.String()
	}
	return text
}
