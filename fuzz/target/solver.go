package target

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Solver says who computes what statements answer on the rows that they are to see.
type Solver string

// ByBoth is the statement solver of the oracle, and the server where that does not know, or
// where it expects what the server does not answer alone either. BySolver is the solver
// alone: SQL that it does not know is not judged. ByServer is the tested server, asked
// alone for each statement that it can be asked, which takes some fifty times as long;
// where the solver comes to another verdict, the case is told as a disagreement.
const (
	ByBoth   Solver = ""
	BySolver Solver = "model"
	ByServer Solver = "server"
)

// ParseSolver reads model, server or both.
func ParseSolver(s string) (Solver, error) {
	switch v := Solver(s); {
	case s == "both":
		return ByBoth, nil
	case v == BySolver, v == ByServer:
		return v, nil
	}
	return "", fmt.Errorf("unknown solver %q: want model, server or both", s)
}

// disagreeing judges a case once more by the solver if the server has computed all of it:
// where the verdicts differ, one of the two computes SQL wrongly.
func disagreeing(ctx context.Context, r *Trial) {
	v := &r.Verdict
	if r.History == nil || !r.History.ServerComputes || v.Outcome == oracle.Unknown || r.Err != nil {
		return
	}
	own := *r
	h := *r.History
	h.ServerComputes = false
	own.History, own.Verdict = &h, oracle.Verdict{}
	JudgeByOracle(ctx, &own)
	w := &own.Verdict
	if w.Outcome == oracle.Unknown || w.Outcome == v.Outcome && w.Fingerprint == v.Fingerprint {
		return
	}
	if w.Outcome == oracle.Violation && v.Outcome != oracle.Violation && r.ordered(w.Stmt) {
		*v = *w
		return
	}
	*v = oracle.Verdict{
		Outcome: oracle.Unknown, Stmt: -1, Statements: v.Statements, Conflicting: v.Conflicting, Reason: ReasonSolver, Asked: v.Asked,
		Actual: fmt.Sprintf("as the server computes it is %s, as the solver does %s", oneVerdict(v), oneVerdict(w)),
	}
}

// kindsOfValues holds the kinds of violation that a wrong effect of an earlier write can
// look like.
var kindsOfValues = []oracle.Kind{
	"wrong-rows", "wrong-count", "wrong-final-state", "stale-read", "dirty-read", "future-read", "non-repeatable-read",
	"lost-commit", "lost-write", "lost-own-write", "kept-rollback",
}

// computedAlone looks at a violation of the rules once more by what the server computes of each statement
// while no other transaction is open: an effect that the solver got wrong shows in later
// reads and in the final state only. If that predicts the history, it says nothing of
// isolation. Costs some runs of the case's statements, one by one.
func (t *Target) computedAlone(ctx context.Context, r *Trial) {
	v := &r.Verdict
	if t.solver != ByBoth || r.History == nil || r.Err != nil || !valuesMayExplain(v) || r.ordered(v.Stmt) {
		return
	}
	own := *r
	h := *r.History
	h.ServerComputes, h.Answers = true, maps.Clone(h.Answers)
	own.History = &h
	if !t.fitsAsked(ctx, &own) {
		return
	}
	*v = oracle.Verdict{
		Outcome: oracle.Unknown, Stmt: -1, Statements: v.Statements, Conflicting: v.Conflicting, Reason: ReasonSolver, Asked: len(h.Answers),
		Actual: fmt.Sprintf("as the server computes each statement alone all is as it should be, as the solver does it is %s", oneVerdict(v)),
	}
}

// valuesMayExplain reports whether a verdict is a violation that the rules found, of a kind
// that a wrong value can look like. What other judges find, the rules call right.
func valuesMayExplain(v *oracle.Verdict) bool {
	return v.Outcome == oracle.Violation && v.Oracle == "" && slices.Contains(kindsOfValues, v.Kind)
}

// fitsAsked has the server answer what it can be asked of a history until that fits, and
// reports whether it still does with the answers of all layouts.
func (t *Target) fitsAsked(ctx context.Context, r *Trial) bool {
	asked := map[string]history.Question{}
	for range askingRounds {
		fits, open := oracle.Fits(r.Case, r.History)
		switch {
		case len(open) > 0 && len(r.History.Answers) < mostAnswers:
			if !t.answer(ctx, r, open, layouts[:1]) {
				return false
			}
			maps.Copy(asked, open)
		case !fits:
			return false
		case len(asked) == 0 || !t.confirmAnswers(ctx, r, asked):
			return true
		default:
			clear(asked)
		}
	}
	return false
}

// ordered reports whether a statement's answer has an order. Those that the server gives alone
// are kept without theirs, so that they cannot tell whether it is right.
func (r *Trial) ordered(stmt int) bool {
	return stmt >= 0 && inOrder(r.Case.Steps[r.History.Stmts[stmt].Line].Stmt)
}

func oneVerdict(v *oracle.Verdict) string {
	if v.Fingerprint == "" {
		return string(v.Outcome)
	}
	return fmt.Sprintf("%s %s (expected %s, actual %s)", v.Outcome, v.Fingerprint, v.Expected, v.Actual)
}
