package judging

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Solver says who computes what statements answer on the rows that they are to see.
type Solver string

// ByBoth is the statement solver of the oracle, and the server where that does not know, or where it expects what the
// server does not answer alone either. BySolver is the solver alone: SQL that it does not know is not judged.
// ByServer is the tested server, asked alone for each statement that it can be asked, which takes some fifty times as
// long; where the solver comes to another verdict, the case is told as a disagreement.
const (
	ByBoth   Solver = ""
	BySolver Solver = "model"
	ByServer Solver = "server"
)

// ReasonSolver is why there is no verdict on a case in which a statement got an answer that the oracle does not expect,
// and gets the same on the same rows while nothing else is open: no isolation is in play, the oracle computes SQL in
// another way than the server. Either is wrong.
const ReasonSolver = "solver-disagreement"

// solversAgree judges a case once more by the solver if the server has computed all of it: where the verdicts differ,
// one of the two computes SQL wrongly.
func (j *Judging) solversAgree() {
	if !j.h.ServerComputes || j.v.Outcome == oracle.Unknown || j.err != nil {
		return
	}
	j.enter(Solvers)
	h := *j.h
	h.ServerComputes = false
	own := Judging{c: j.c, h: &h, o: j.o}
	own.rules()
	v, w := &j.v, &own.v
	switch {
	case w.Outcome == oracle.Unknown || w.Outcome == v.Outcome && w.Fingerprint == v.Fingerprint:
	case w.Outcome == oracle.Violation && v.Outcome != oracle.Violation && j.ordered(w.Stmt):
		j.v = *w
	default:
		asked := v.Asked
		j.v = unjudged(v, ReasonSolver,
			fmt.Sprintf("as the server computes it is %s, as the solver does %s", oneVerdict(v), oneVerdict(w)))
		j.v.Asked = asked
	}
}

// kindsOfValues holds the kinds of violation that a wrong effect of an earlier write can look like.
var kindsOfValues = []oracle.Kind{
	"wrong-rows", "wrong-count", "wrong-final-state", "stale-read", "dirty-read", "future-read", "non-repeatable-read",
	"lost-commit", "lost-write", "lost-own-write", "kept-rollback",
}

// computedAlone looks at a violation of the rules once more by what the server computes of each statement while no
// other transaction is open: an effect that the solver got wrong shows in later reads and in the final state only. If
// that predicts the history, it says nothing of isolation. Costs some runs of the case's statements, one by one.
func (j *Judging) computedAlone() {
	if j.o.Solver != ByBoth || j.o.Broken || !valuesMayExplain(&j.v) || j.ordered(j.v.Stmt) {
		return
	}
	j.enter(Values)
	h := *j.h
	h.ServerComputes, h.Answers = true, maps.Clone(h.Answers)
	was := j.h
	j.h = &h // whose answers are asked for
	fits := j.fitsAsked()
	j.h = was
	if !fits {
		return
	}
	j.v = unjudged(&j.v, ReasonSolver, fmt.Sprintf(
		"as the server computes each statement alone all is as it should be, as the solver does it is %s", oneVerdict(&j.v)))
	j.v.Asked = len(h.Answers)
}

// valuesMayExplain reports whether a verdict is a violation that the rules found, of a kind that a wrong value can look
// like. What other judges find, the rules call right.
func valuesMayExplain(v *oracle.Verdict) bool {
	return v.Outcome == oracle.Violation && v.Oracle == "" && slices.Contains(kindsOfValues, v.Kind)
}

// fitsAsked has the server answer what it can be asked of a history until that fits, and reports whether it still does
// with the answers of all layouts.
func (j *Judging) fitsAsked() bool {
	asked := map[string]history.Question{}
	for range rounds {
		fits, open := oracle.Fits(j.c, j.h)
		switch {
		case len(open) > 0 && len(j.h.Answers) < mostAnswers:
			if !j.computes(open, false) {
				return false
			}
			maps.Copy(asked, open)
		case !fits:
			return false
		case len(asked) == 0 || !j.confirm(asked):
			return true
		default:
			clear(asked)
		}
	}
	return false
}

// ordered reports whether a statement's answer has an order. Those that the server gives alone are kept without
// theirs, so that they cannot tell whether it is right.
func (j *Judging) ordered(at int) bool {
	return at >= 0 && inOrder(j.c.Steps[j.h.Stmts[at].Line].Stmt)
}

func inOrder(n ast.StmtNode) bool {
	v := stmt.Of(n)
	return v.Kind.Reads() && v.Order != nil
}

func oneVerdict(v *oracle.Verdict) string {
	if v.Fingerprint == "" {
		return string(v.Outcome)
	}
	return fmt.Sprintf("%s %s (expected %s, actual %s)", v.Outcome, v.Fingerprint, v.Expected, v.Actual)
}
