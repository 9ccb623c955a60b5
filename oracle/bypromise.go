package oracle

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// Promised is the judge that knows what a level promises, and no engine and no SQL; as Verdict.Oracle
// names it.
const Promised = "promise"

// ByPromise is the verdict on a history that the rules cannot judge, by what the judge by promise
// says of it. Where that cannot tell either, it is the verdict as it was.
func ByPromise(c *corpus.Case, h *history.History, was *Verdict, g *promise.Ruling) Verdict {
	v := Verdict{Stmt: -1, Oracle: Promised, Statements: g.Statements, Judged: g.Judged, Asked: g.Solos, Conflicting: was.Conflicting || g.Met}
	switch {
	case g.Broken:
		v.violates(h, Promised, Kind(g.Kind), g.Stmt, kindsIn(c, h, g.Stmt)...)
		v.Expected, v.Actual, v.Reason = g.Expected, g.Actual, g.Reason
		if g.Promise.Says != "" {
			v.Reason += ". What is promised: " + g.Promise.Says + " (" + g.Promise.Link + ")"
		}
	case g.Unjudged != "":
		own := *was
		if own.Reason == ReasonDeclared || own.Reason == ReasonHeld { // nobody else is there to say why
			own.Reason += ": " + g.Unjudged
			return own
		}
		own.Unpromised = g.Unjudged
		return own
	default:
		v.Outcome = OK
	}
	return v
}

// kindsIn is the kind of the statement that shows a violation, for its fingerprint.
func kindsIn(c *corpus.Case, h *history.History, stmt int) []string {
	if stmt < 0 {
		return nil
	}
	return []string{string(KindOf(c.Steps[h.Stmts[stmt].Line].Stmt))}
}
