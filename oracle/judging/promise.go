package judging

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// forPromise holds the reasons of unknown verdicts, beside those of SQL, that are the oracle's own: it knows no model
// of what the case holds.
var forPromise = []string{"set-up of unknown effect", "schema", "solver", "key", "auto-increment exhausted",
	"order in which a condition is evaluated", "view", "value that cannot be read", "work", "text error predicted",
	oracle.ReasonDeclared, oracle.ReasonHeld}

// byPromise lets the judge that knows no engine and no SQL judge what the rules cannot, for lack of a model. Where it
// cannot tell either, the verdict stays as it is.
func (j *Judging) byPromise() {
	if j.err != nil || j.v.Outcome != oracle.Unknown || j.o.Solver == BySolver ||
		!lacksSQL(&j.v) && !slices.Contains(forPromise, j.v.Reason) && j.h.Server.DBMS != history.PostgreSQL {
		return
	}
	j.enter(Promise)
	g, err := rule(j.c, j.h, j.plainly(), func(q *history.Solo) (*history.SoloAnswer, error) {
		r := &Solo{Question: q}
		j.asks(r)
		return r.Answer, r.Err
	})
	if err != nil {
		j.err = err
		return
	}
	j.v = oracle.ByPromise(j.c, j.h, &j.v, &g)
}

// Rule holds a history against what its levels promise, with the server as the calculator, whom alone asks. What is
// plain on PostgreSQL is not asked, unless the promise then is broken, or o has a Witness; plain counts that.
func Rule(c *corpus.Case, h *history.History, o Options, plain *Plain, alone promise.Scratch) (promise.Ruling, error) {
	return rule(c, h, newPlainly(c, h, o, plain), alone)
}

func rule(c *corpus.Case, h *history.History, by *plainly, alone promise.Scratch) (promise.Ruling, error) {
	g, err := promise.Judge(c, h, func(q *history.Solo) (*history.SoloAnswer, error) {
		if a := by.alone(q); a != nil {
			return a, nil
		}
		a, err := alone(q)
		if err == nil {
			err = by.saysAlikeAlone(c, q, a)
		}
		return a, err
	})
	if err == nil && g.Broken && by.off() {
		return promise.Judge(c, h, alone)
	}
	return g, err
}
