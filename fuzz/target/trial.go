package target

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// Reasons why a case has no verdict that are no fault of the oracle.
const (
	ReasonInit    = "init-error"        // the server refused a set-up line
	ReasonStale   = judging.ReasonStale // a statement does not fit the tables
	ReasonLevel   = "unsupported-level" // the server does not take the level
	ReasonRefused = "refused"           // a statement could reach beyond the case's own database
	ReasonHarness = "harness-error"     // the run broke down for another reason
	ReasonPanic   = "oracle-panic"      // the oracle broke down; see Trial.Err
	ReasonCutOff  = "cut-off"           // the process was told to end
	ReasonLost    = "server-lost"       // the connection broke, and the server lives
)

// Trial is one execution of a case and the judgement of it.
type Trial struct {
	Case    *corpus.Case
	Levels  map[int]corpus.Level
	server  history.Server
	History *history.History // nil if the case could not be run
	Verdict oracle.Verdict
	// Counted says that the verdict is to count how much was judged.
	Counted bool
	// RulesOnly says that the rules alone are to judge.
	RulesOnly bool
	// Err says why there is no history, or that the server was lost.
	Err error
	// Log is what a server wrote that went down, as far as it is known.
	Log string
	// Reduction is how Case became what it is, if it was reduced.
	Reduction *timeline.Reduction
	// Also holds other levels at which the case shows the same cause, as far as
	// they were tried.
	Also []corpus.Level
	// Defaults says, of a case found under a server's options, whether it shows
	// with the vendor's defaults, or which options it needs; empty: not tried.
	Defaults string
	// Dead says that the server died and could not be brought back.
	Dead error
	// Against is the run of the same case on the target that is compared with this one;
	// nil: there is none.
	Against *Trial
	// Path are the states that the judging has gone through.
	Path []judging.State
	// named holds its anomalies once they are known, askForNames asks the server what these rest on; nil: nothing.
	named       []oracle.Anomaly
	askForNames func()
}

// Judge runs a case with the levels given, one for each of its sessions. A
// case that cannot be run has the outcome Unknown and one of the reasons
// above, and the cause in Err.
func (t *Target) Judge(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.JudgeAs(ctx, c, levels, false, false)
}

// JudgeAs is Judge with Trial.Counted and Trial.RulesOnly as given.
func (t *Target) JudgeAs(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level, counted, rulesOnly bool) Trial {
	r := t.Run(ctx, c, levels)
	r.Counted, r.RulesOnly = counted, rulesOnly
	t.Decide(ctx, &r)
	return r
}

// JudgeFresh is Judge in a database that is made for this one run.
func (t *Target) JudgeFresh(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.judgeBy(ctx, (*harness.Pool).RunFresh, c, levels)
}

// JudgeForFacts is JudgeFresh, but that the server is asked on the way for plans, traces,
// locks and read views; the verdict goes by what it told.
func (t *Target) JudgeForFacts(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.judgeBy(ctx, (*harness.Pool).RunFreshForFacts, c, levels)
}

func (t *Target) judgeBy(ctx context.Context, run poolRun, c *corpus.Case, levels map[int]corpus.Level) Trial {
	r := t.executeBy(ctx, run, c, levels)
	t.Decide(ctx, &r)
	return r
}

// JudgeForFactsInPlace is JudgeForFacts in the database whose tables are filled again and
// again.
func (t *Target) JudgeForFactsInPlace(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.judgeBy(ctx, (*harness.Pool).RunForFacts, c, levels)
}

// JudgeRecorded judges a history that was recorded on a server like this one. The server
// answers what the oracle has to ask; nothing of the case is run again.
func (t *Target) JudgeRecorded(ctx context.Context, c *corpus.Case, h *history.History) Trial {
	r := Trial{Case: c, Levels: h.Levels, History: h}
	t.judge(ctx, &r, judging.Options{NoReruns: true})
	t.namesByAsking(ctx, &r)
	return r
}

// Decide judges a case that was executed, and asks the server where the oracle alone
// cannot tell, or may be wrong.
func (t *Target) Decide(ctx context.Context, r *Trial) {
	t.judge(ctx, r, judging.Options{})
	t.namesByAsking(ctx, r)
}

// DecideAlone judges a case that was executed, and asks the server only where the oracle may be wrong.
func (t *Target) DecideAlone(ctx context.Context, r *Trial) {
	JudgeByOracle(ctx, r)
	t.judge(ctx, r, judging.Options{})
}

// JudgeByOracle lets the oracle judge a case that was executed, unless that has a verdict. Where the context ends first,
// it is unknown.
func JudgeByOracle(ctx context.Context, r *Trial) {
	if r.Verdict.Outcome != "" || r.History == nil {
		return
	}
	j := judging.New(r.Case, r.History, judging.Options{Solver: judging.BySolver, Counted: r.Counted, RulesOnly: r.RulesOnly, NoReruns: true})
	if _, err := next(ctx, j); err != nil {
		r.breaksOff(ctx, err)
		return
	}
	r.Verdict, r.Path, r.Err = j.Verdict(), j.Path(), nil
}

// Run is Judge without the oracle: it leaves the verdict empty of a case
// that has run, on a server that has no complaint.
func (t *Target) Run(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.executeBy(ctx, (*harness.Pool).Run, c, levels)
}

// History runs a case at the first of the target's levels and returns what was seen;
// nothing judges it.
func (t *Target) History(ctx context.Context, c *corpus.Case) (*history.History, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	h, err := t.pool.Run(ctx, c, harness.At(t.Levels()[0]))
	if err != nil {
		return nil, fmt.Errorf("on %s: %w", t.Name, err)
	}
	return h, nil
}

// poolRun is one of the ways in which a pool runs a case.
type poolRun func(*harness.Pool, context.Context, *corpus.Case, harness.Levels) (*history.History, error)

func (t *Target) executeBy(ctx context.Context, run poolRun, c *corpus.Case, levels map[int]corpus.Level) Trial {
	r := t.execute(ctx, run, c, levels)
	if r.Verdict.Outcome == "" {
		t.AskAlone(ctx, &r)
	}
	return r
}

// RunSampled is Run for one of many cases: see harness.Pool.RunSampled.
func (t *Target) RunSampled(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.executeBy(ctx, (*harness.Pool).RunSampled, c, levels)
}

// AskAlone finds out which statements of a run fail by their text alone. It costs a run for each that failed.
func (t *Target) AskAlone(ctx context.Context, r *Trial) {
	t.mu.RLock()
	seen := t.revived
	r.Err = askAlone(ctx, r.Case, r.History, r.Levels, t.pool.RunUnread)
	t.mu.RUnlock()
	if r.Err != nil {
		t.brokeDown(ctx, r, seen)
	}
}

// RunOnly is Run without AskAlone, for a run that may be of no interest.
func (t *Target) RunOnly(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.execute(ctx, (*harness.Pool).Run, c, levels)
}

func (t *Target) execute(ctx context.Context, run poolRun, c *corpus.Case, levels map[int]corpus.Level) Trial {
	r := Trial{Case: c, Levels: levels, server: t.server}
	t.mu.RLock()
	seen, built := t.revived, t.replicas.Rebuilt
	r.History, r.Err = run(t.pool, ctx, c, harness.Levels{By: levels})
	t.mu.RUnlock()
	if r.History != nil && r.Err == nil {
		again := func() (*history.History, error) { return run(t.pool, ctx, c, harness.Levels{By: levels}) }
		t.replicaTrouble(ctx, &r, built, again)
	}
	if r.History != nil && r.Err == nil {
		if r.Verdict.Outcome == "" {
			t.readLog(ctx, &r, seen)
		}
		return r
	}
	t.brokeDown(ctx, &r, seen)
	return r
}

// fails makes a fault of txnfuzz the reason why there is no verdict.
func (r *Trial) fails(why error) {
	r.Err = why
	r.Verdict = judging.Undecided(ReasonHarness, judging.PlainSQL(OneLine(why.Error())))
}

// brokeDown is the verdict on a run that came to no end; seen counts the revivals of the server before it.
func (t *Target) brokeDown(ctx context.Context, r *Trial, seen int) {
	var (
		lost    *harness.LostError
		init    *harness.InitError
		level   *harness.LevelError
		refused *harness.RefusedError
		unheld  *harness.UnheldError
	)
	reason := ReasonHarness
	switch {
	case errors.As(r.Err, &lost):
		r.Verdict, r.Dead = t.judgeLost(ctx, r, seen)
		return
	case errors.As(r.Err, &init):
		reason = ReasonInit
	case errors.As(r.Err, &level):
		reason = ReasonLevel
	case errors.As(r.Err, &refused):
		reason = ReasonRefused
	case errors.As(r.Err, &unheld):
		reason = ReasonUnheld
	}
	said := ""
	if r.Err != nil {
		said = judging.PlainSQL(OneLine(r.Err.Error()))
	}
	r.Verdict = judging.Undecided(reason, said)
}

// ExplainPlans adds the plans of some statements to the history of a case that ran.
func (t *Target) ExplainPlans(ctx context.Context, c *corpus.Case, h *history.History, stmts []int) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.pool.ExplainPlans(ctx, c, h, stmts)
}

// Anomalies tells what the literature calls what a run shows. It is found out once, and
// only for runs that are kept or looked at: it takes a replay, on PostgreSQL some questions to the server.
func (t *Trial) Anomalies() (out []oracle.Anomaly) {
	if t.named != nil {
		return t.named
	}
	defer func() {
		// A name is an extra; without one a finding is still to be saved.
		if recover() != nil {
			out = []oracle.Anomaly{}
		}
		t.named = out
	}()
	if t.askForNames != nil {
		t.askForNames()
		t.askForNames = nil
	}
	return oracle.Anomalies(t.Case, t.History, &t.Verdict)
}

// caseDeadline bounds one case: a worker of native fuzzing gives up after 10 s.
const caseDeadline = 7 * time.Second
