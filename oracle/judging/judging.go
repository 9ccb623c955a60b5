package judging

import (
	"iter"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Options say how a history is to be judged.
type Options struct {
	Solver Solver
	// Counted says that the verdict is to count how much was judged, RulesOnly that no other judge is asked of what the
	// rules call right.
	Counted, RulesOnly bool
	// Witness has the server asked for what is plain, too: see Plain.
	Witness bool
	// Begun is the verdict of somebody else, from which the judging goes on at the state silent; nil: there is none.
	// Broken says that the run came to no end.
	Begun  *oracle.Verdict
	Broken bool
	// NoReruns ends the judging at the state promise: the case is not run again.
	NoReruns bool
	// Doubtful are the server's settings of which no rule speaks.
	Doubtful []string
	// Modelled says that the rules and the oracle's SQL have a say on this server.
	Modelled bool
}

// Judging is the judging of one history; it is resumed by one goroutine at a time. Its answers are kept in the history.
type Judging struct {
	c    *corpus.Case
	h    *history.History
	o    Options
	v    oracle.Verdict
	err  error
	path []State
	// Plain counts what was not left to the server.
	Plain Plain

	yield func(Request) bool
	next  func() (Request, bool)
	stop  func()
}

// State is one of those of the package's table.
type State string

// The states.
const (
	Rules    State = "rules"
	Computed State = "computed"
	Solvers  State = "solver"
	Promise  State = "promise"
	Silent   State = "silent"
	Defaults State = "defaults"
	Alone    State = "alone"
	Values   State = "values"
)

// New begins the judging of a history. It must be driven to its end by Next.
func New(c *corpus.Case, h *history.History, o Options) *Judging {
	j := &Judging{c: c, h: h, o: o}
	j.next, j.stop = iter.Pull(j.run)
	return j
}

// Next goes on with what was requested last, and returns the next request; nil: the judging has ended. It costs what
// the states cost that need no answer.
func (j *Judging) Next() Request {
	r, ok := j.next()
	if !ok {
		j.stop()
		return nil
	}
	return r
}

// Verdict is what the judging has come to.
func (j *Judging) Verdict() oracle.Verdict { return j.v }

// Err is why there is no better verdict: a Solo or Ask that failed, or two ways to compute a statement that differ (a
// *Disagreement).
func (j *Judging) Err() error { return j.err }

// Path are the states that had something to say, in their order.
func (j *Judging) Path() []State { return slices.Clone(j.path) }

func (j *Judging) run(yield func(Request) bool) {
	j.yield = yield
	if j.o.Begun != nil {
		j.v = *j.o.Begun
	} else if _, v := ReplicaReads(j.h); v != nil {
		j.v = *v
		return
	} else {
		j.h.ServerComputes = j.o.Solver == ByServer
		j.rules()
		j.serverComputes()
		j.solversAgree()
		j.byPromise()
	}
	if j.o.NoReruns || j.err != nil {
		return
	}
	if j.heardAgain(); j.v.Outcome != oracle.Violation || !j.o.Modelled {
		return
	}
	j.atDefaults()
	if j.h.Held() {
		return
	}
	j.answeredAlone()
	j.computedAlone()
}

// asks has a request answered.
func (j *Judging) asks(r Request) { j.yield(r) }

// enter notes a state.
func (j *Judging) enter(s State) {
	if len(j.path) == 0 || j.path[len(j.path)-1] != s {
		j.path = append(j.path, s)
	}
}

// rules asks the judges that need no server.
func (j *Judging) rules() {
	j.enter(Rules)
	switch {
	case j.o.RulesOnly && j.o.Counted:
		j.v = oracle.CheckAndCount(j.c, j.h)
	case j.o.RulesOnly:
		j.v = oracle.Check(j.c, j.h)
	default:
		j.v = oracle.Judge(j.c, j.h, j.o.Counted)
	}
}

// unjudged is a verdict that takes another one back: nobody knows.
func unjudged(was *oracle.Verdict, reason, actual string) oracle.Verdict {
	return oracle.Verdict{
		Outcome: oracle.Unknown, Stmt: -1, Statements: was.Statements, Conflicting: was.Conflicting,
		Reason: reason, Actual: actual,
	}
}

// SameCause reports whether two verdicts show the same under conditions that
// differ: the same deviations, or the same kind of violation.
func SameCause(v, w *oracle.Verdict) bool {
	return w.Outcome == v.Outcome &&
		(v.Outcome == oracle.Known && slices.Equal(w.Rules, v.Rules) || v.Outcome == oracle.Violation && w.Kind == v.Kind)
}

// unsupported begins the reasons of SQL that the oracle does not compute.
const unsupported = "unsupported: "

func lacksSQL(v *oracle.Verdict) bool {
	return v.Outcome == oracle.Unknown && strings.HasPrefix(v.Reason, unsupported)
}
