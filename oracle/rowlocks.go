package oracle

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rowlocks"
)

// RowLocks asks who can have locked which rows of a PostgreSQL, as Verdict.Oracle names it: the judge by promise knows
// no locks.
const RowLocks = "row locks"

// rowLocks makes a violation of a history that row locks do not explain. It is for those that no rules judge: the rules
// know the rows, too.
func (v *Verdict) rowLocks(c *corpus.Case, h *history.History) {
	if v.Outcome == Violation || h.Server.DBMS != history.PostgreSQL {
		return
	}
	if d := rowlocks.Check(c, h); d != nil {
		v.Rules, v.World, v.Unpromised = nil, 0, ""
		v.violates(h, RowLocks, Kind(d.Kind), d.Stmt)
		v.Expected, v.Actual, v.Reason = d.Expected, d.Actual, d.Reason
	}
}
