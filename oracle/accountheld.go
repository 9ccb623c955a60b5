package oracle

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// tellHeld is the account of a run in which a statement was held inside of the server: no rule says what
// the others were promised, since no order of submission does.
func tellHeld(c *corpus.Case, h *history.History, v *Verdict) Account {
	a := Account{Steps: make([]Step, len(h.Stmts)), Wrong: -1}
	for i := range h.Stmts {
		kind := mvcc.KindOf(c.Steps[h.Stmts[i].Line].Stmt)
		a.Steps[i] = Step{Stmt: i, Kind: kind, Actual: history.Describe(kind, &h.Stmts[i].Result)}
	}
	if v.Stmt >= 0 && v.Stmt < len(a.Steps) {
		a.Wrong, a.Level = v.Stmt, h.Levels[h.Stmts[v.Stmt].Session]
		s := &a.Steps[v.Stmt]
		s.Differs, s.Expected, s.Actual, s.Reason = true, v.Expected, v.Actual, v.Reason
	}
	if held, until := c.Held(); held >= 0 {
		at := c.Steps[held].Hold
		says := fmt.Sprintf("tx%d is held in step %d, inside of the server, %s", c.Steps[held].Session, held+1, at)
		if until >= 0 {
			says += fmt.Sprintf(", and goes on behind step %d", until+1)
		}
		a.Why = append(a.Why, sentence(says))
	}
	if v.Outcome == Violation {
		a.Why = append(a.Why, sentence(v.Reason))
	}
	return a
}
