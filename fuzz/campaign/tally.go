package campaign

import (
	"sync"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

const errDeadlock = 1213

// errDeadlockDetected is PostgreSQL's, see history.NumberOf.
const errDeadlockDetected = 40901

// Counts is what a campaign has seen so far. Its JSON keys are part of the
// command line's contract.
type Counts struct {
	Cases      int `json:"cases"`
	Statements int `json:"statements"`
	// Blocked counts statements that waited for a lock, Deadlocks those that
	// failed with the error of one.
	Blocked   int `json:"blocked"`
	Deadlocks int `json:"deadlocks"`
	// Sent counts statements that were to be prepared.
	Sent Sent `json:"sent,omitzero"`
	// Verdicts, Known and Unknown count cases by outcome, by rule, by reason.
	Verdicts map[oracle.Outcome]int `json:"verdicts"`
	Known    map[string]int         `json:"known"`
	Unknown  map[string]int         `json:"unknown"`
	ByLevel  ByLevel                `json:"by_level"`
	Features Features               `json:"features"`
	// Elsewhere counts cases in which a statement waited, by what the server told, where
	// the rules give it no reason to; see oracle.Verdict.
	Elsewhere int `json:"waits_elsewhere"`
	// Computed counts the cases that the server was asked to compute SQL of, ComputedJudged
	// those that got a verdict by its answers.
	Computed       int `json:"computed_by_server"`
	ComputedJudged int `json:"computed_by_server_judged"`
	// Asked counts the cases with a known deviation that were run again while the
	// server was asked for its plans, Refuted those in which it did the same and which
	// are something else by those plans.
	Asked   int `json:"facts_asked"`
	Refuted int `json:"facts_refuted"`
	// ByPromise counts the cases that got a verdict from the judge by promise alone, Seconded those
	// that the rules call ok and that it has judged, too, Disagreed those of them that it calls
	// broken.
	ByPromise int `json:"judged_by_promise"`
	Seconded  int `json:"judged_twice"`
	Disagreed int `json:"judges_disagreed"`

	judgeable, judged int // statements
	overlapping       int // cases
}

func newCounts() Counts {
	c := Counts{Verdicts: map[oracle.Outcome]int{}, Known: map[string]int{}, Unknown: map[string]int{}, ByLevel: ByLevel{}, Features: Features{}}
	for _, o := range []oracle.Outcome{oracle.OK, oracle.Known, oracle.Violation, oracle.Unknown} {
		c.Verdicts[o] = 0 // a reader of the JSON finds all four
	}
	return c
}

// countOneIn is of how many inputs one is counted for Judged: to count costs four times as
// much as the verdict. graphOneIn is of how many one is judged by its dependency graphs.
const (
	countOneIn = 24
	graphOneIn = 8
)

// counts reports whether the cases of the n-th input are counted for Judged.
func counts(n int) bool { return n%countOneIn == 0 }

// graphs reports whether the cases of the n-th input are judged by their dependency graphs,
// too: that costs two or three times the rules, so it is asked of some inputs only, and of
// others than those that are counted. What is run again, replayed or reduced is asked always.
func graphs(n int) bool { return n%graphOneIn == graphOneIn/2 }

// Judged is the share of the statements with something to judge whose answer
// is the only one that the rules allow, in the cases that were counted. Statements
// of cases without a verdict count as not judged.
func (c *Counts) Judged() float64 { return share(c.judged, c.judgeable) }

// Conflicting is the share of the cases whose transactions touched overlapping
// rows or predicates.
func (c *Counts) Conflicting() float64 { return share(c.overlapping, c.Cases) }

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func (c *Counts) add(r *target.Trial) {
	v := &r.Verdict
	c.Cases++
	c.Verdicts[v.Outcome]++
	c.ByLevel.add(r)
	if v.Oracle == oracle.Promised {
		c.ByPromise++
	}
	switch v.Outcome {
	case oracle.Known:
		for _, name := range v.Rules {
			c.Known[name]++
		}
	case oracle.Unknown:
		reason := v.Reason
		if v.Unpromised != "" {
			reason += "; by promise: " + v.Unpromised
		}
		c.Unknown[reason]++
	}
	c.judged += v.Judged
	c.judgeable += v.Statements
	if v.Conflicting {
		c.overlapping++
	}
	if v.Elsewhere {
		c.Elsewhere++
	}
	c.Features.add(r)
	if r.History == nil {
		return
	}
	if len(r.History.Answers) > 0 {
		c.Computed++
		if v.Outcome != oracle.Unknown {
			c.ComputedJudged++
		}
	}
	c.Statements += len(r.History.Stmts)
	c.Sent.add(r.History)
	for i := range r.History.Stmts {
		s := &r.History.Stmts[i]
		if len(s.Waits) > 0 {
			c.Blocked++
		}
		if s.Result.Err != nil && (s.Result.Err.Code == errDeadlock || s.Result.Err.Code == errDeadlockDetected) {
			c.Deadlocks++
		}
		if r.Counted && v.Outcome == oracle.Unknown && v.Statements == 0 && touchesTables(r.Case.Steps[s.Line]) {
			c.judgeable++
		}
	}
}

func touchesTables(l corpus.Line) bool {
	_, union := l.Stmt.(*ast.SetOprStmt)
	return union || stmt.KindOf(l.Stmt).TouchesRows()
}

// tally is Counts for several goroutines.
type tally struct {
	mu sync.Mutex
	c  Counts
}

func newTally() *tally { return &tally{c: newCounts()} }

func (t *tally) add(r *target.Trial) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.c.add(r)
}

// asked counts a case that was run again for facts.
func (t *tally) asked(refuted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.c.Asked++
	if refuted {
		t.c.Refuted++
	}
}

// seconded counts a case that two judges have judged.
func (t *tally) seconded(disagreed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.c.Seconded++
	if disagreed {
		t.c.Disagreed++
	}
}

// snapshot returns a copy that nobody changes.
func (t *tally) snapshot() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.c
	out.Verdicts, out.Known, out.Unknown = copyOf(t.c.Verdicts), copyOf(t.c.Known), copyOf(t.c.Unknown)
	out.ByLevel, out.Features = t.c.ByLevel.clone(), t.c.Features.clone()
	return out
}

func copyOf[K comparable](m map[K]int) map[K]int {
	out := make(map[K]int, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
