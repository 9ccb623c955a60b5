package findings

import (
	"context"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
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
func ReplayAgainst(ctx context.Context, t, other *target.Target, r *Replayed) {
	o := other.Judge(ctx, r.Trial.Case, r.Trial.Levels)
	trial := r.Trial
	trial.Against = &o
	names := [2]string{t.Name, other.Name}
	out := &ReplayedAgainst{Target: other.Name, ServerVersion: other.Server().Version, Verdict: o.Verdict.Outcome, What: whatOf(&o.Verdict), Differences: []ReplayedDifference{}}
	r.Against = out
	if target.Broken(&trial) || target.Broken(&o) {
		return
	}
	cmp := target.Compare(names, &trial)
	out.Statements = cmp.Statements
	for i := range cmp.Differences {
		d := &cmp.Differences[i]
		x := ReplayedDifference{
			Step: target.StepNumber(trial.History, d.Stmt), Kind: d.Kind, First: target.OneLine(d.First), Second: target.OneLine(d.Second), Attribution: d.Attribution,
			Reason: target.OneLine(d.Reason), Follows: d.Follows, Link: d.Link, Reproduced: Unconfirmed,
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
func showsAgainst(ctx context.Context, t, other *target.Target, r *target.Trial, d *against.Difference) Rate {
	names := [2]string{t.Name, other.Name}
	shown := *r
	shown.Verdict = target.VerdictOn(names, r, d)
	count, _ := again(ctx, func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) target.Trial {
		return target.Differing(names, target.Both(ctx, c, levels, t.JudgeFresh, other.JudgeFresh))
	}, &shown)
	return count
}

// Counts says that a difference is unattributed, and shows each time.
func (d *ReplayedDifference) Counts() bool {
	return d.Attribution == against.Unattributed && d.Reproduced >= target.DiffersAlways
}

// whatOf names the rules or the kind or the reason of a verdict.
func whatOf(v *oracle.Verdict) string {
	r := Replayed{Verdict: v.Outcome, Kind: v.Kind, Rules: v.Rules, Reason: v.Reason}
	return r.What()
}
