package oracle

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/advisory"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Advisory asks who has which of PostgreSQL's advisory locks, as Verdict.Oracle names it. No level promises anything
// of them, and the judges of levels take what they answer for right.
const Advisory = "advisory locks"

// advisory makes a violation of a history that advisory locks do not explain.
func (v *Verdict) advisory(c *corpus.Case, h *history.History) {
	if v.Outcome == Violation || h.Server.DBMS != history.PostgreSQL {
		return
	}
	if d := advisory.Check(c, h); d != nil {
		v.Rules, v.World = nil, 0
		v.violates(h, Advisory, Kind(d.Kind), d.Stmt)
		v.Expected, v.Actual, v.Reason = d.Expected, d.Actual, d.Reason
	}
}
