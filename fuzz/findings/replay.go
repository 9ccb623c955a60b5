package findings

import (
	"context"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/fuzz/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
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
	// Path are the states that the judging went through, as package judging has them.
	Path []judging.State `json:"path"`
	// Anomaly is what the literature calls what the run shows, whatever the verdict, the
	// gravest name first.
	Anomaly []oracle.Anomaly `json:"anomaly"`
	// Recorded is what the file's header says of this target and level, "" for
	// nothing; see VerdictText.
	Recorded string `json:"recorded,omitempty"`
	// Protocol is how the case's statements were sent, Sent how many were in the last run.
	Protocol string         `json:"protocol"`
	Sent     map[string]int `json:"sent,omitempty"`
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
	Trial target.Trial `json:"-"`
}

// Replay runs a case on a target at the levels of its header. Sessions that have none there run
// at each of the levels given. A case runs once, unless its header tells how surely
// it shows something: then it runs, in new databases as when that was measured,
// until it shows it, or so often that it would be missed by chance at most once in a
// hundred times. Runs that the end of the context cuts off are left out.
func Replay(ctx context.Context, t *target.Target, file string, c *corpus.Case, levels []corpus.Level) []Replayed {
	if SetsLevels(c) {
		levels = levels[:1]
	}
	var out []Replayed
	for _, l := range levels {
		if ctx.Err() != nil {
			break
		}
		r := replayAt(ctx, t, file, c, target.LevelsFor(c, l))
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

func replayAt(ctx context.Context, t *target.Target, file string, c *corpus.Case, levels map[int]corpus.Level) Replayed {
	level := target.LevelName(levels)
	recorded := RecordedVerdict(c, t.Name, level)
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
	var r target.Trial
	runs := 1
	if l, missing := t.Missing(levels); missing {
		err := &target.LevelError{Target: t.Name, Level: l, Have: t.Levels()}
		r = target.Trial{Case: c, Levels: levels, Err: err, Verdict: judging.Undecided(target.ReasonLevel, err.Error())}
	} else {
		for r = judge(ctx, c, levels); runs < most && !showsAgain(c, recorded, &r.Verdict) && ctx.Err() == nil; runs++ {
			r = judge(ctx, c, levels)
		}
		target.Explain(ctx, &r)
	}
	kept := workload.Keeps(ctx, c, r.History, t.History)
	v := &r.Verdict
	return Replayed{
		Protocol: c.Protocol().String(), Sent: sentIn(r.History),
		File: file, Target: t.Name, ServerVersion: t.Server().Version, Level: level,
		Verdict: v.Outcome, Kind: v.Kind, Rules: v.Rules, Expected: v.Expected, Actual: v.Actual,
		Reason: v.Reason, Fingerprint: v.Fingerprint, Path: r.Path, Anomaly: r.Anomalies(), Recorded: recorded, Runs: runs, Invariant: kept, Trial: r,
	}
}

// shouldShow says that a case with a rate is to show something here: by its
// record for the target and level or, where there is none for the target at all,
// because it did so where it was found.
func shouldShow(t *target.Target, c *corpus.Case, recorded string) bool {
	if recorded == "" {
		return len(recordedOn(c, t.Name)) == 0
	}
	outcome, _, _ := strings.Cut(recorded, " ")
	return outcome == string(oracle.Violation) || outcome == string(oracle.Known)
}

// showsAgain says that there is no reason to run a case another time.
func showsAgain(c *corpus.Case, recorded string, v *oracle.Verdict) bool {
	if v.Outcome == oracle.Violation || recorded != "" && VerdictText(v) == recorded {
		return true
	}
	fingerprint, _ := c.Get(KeyFingerprint)
	return fingerprint != "" && v.Fingerprint == fingerprint
}

// What names the kind or the rules or the reason, whichever says most, "" for ok.
func (r *Replayed) What() string {
	switch r.Verdict {
	case oracle.Known:
		return strings.Join(r.Rules, " + ")
	case oracle.Violation:
		return string(r.Kind)
	case oracle.Unknown:
		return judging.PlainSQL(r.Reason)
	}
	return ""
}

// Step is the statement that differs, counted from 1 in the order of the file;
// 0: the final state, or the run as a whole.
func (r *Replayed) Step() int { return target.StepNumber(r.Trial.History, r.Trial.Verdict.Stmt) }

// NotRun says that the case could not be run at all, for a reason that is
// neither the server's level nor a limit of the oracle: a set-up that the
// server refused, a statement that does not fit the tables or is not allowed, a
// harness that broke down.
func (r *Replayed) NotRun() bool {
	switch r.Reason {
	case target.ReasonInit, target.ReasonStale, target.ReasonRefused, target.ReasonHarness, target.ReasonPanic, target.ReasonLost:
		return r.Verdict == oracle.Unknown
	}
	return false
}

// Foreign says that the header names a PostgreSQL and the case ran on a server that is none: there its SQL need not
// mean anything.
func (r *Replayed) Foreign() bool {
	home, named := r.Trial.Case.Get(KeyTarget)
	if h := r.Trial.History; h != nil {
		return named && vendor(home) == "postgres" && h.Server.DBMS != history.PostgreSQL
	}
	return named && vendor(home) == "postgres" && vendor(r.Target) != "postgres"
}

// Changed says that the verdict is not the one that the file records; without a
// record nothing has changed.
func (r *Replayed) Changed() bool {
	return r.Recorded != "" && r.Recorded != r.Verdictline()
}

// Verdictline is the verdict as a header line would record it.
func (r *Replayed) Verdictline() string { return VerdictText(&r.Trial.Verdict) }

// Run returns what was run, for those who show it.
func (r *Replayed) Run() timeline.Run {
	return timeline.Run{File: r.File, Target: r.Target, Case: r.Trial.Case, Levels: r.Trial.Levels, History: r.Trial.History, Verdict: r.Trial.Verdict, Reduction: r.Trial.Reduction}
}
