package oracle

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sequence"
)

// Sequences asks who drew what from PostgreSQL's sequences, as Verdict.Oracle names it. They are the same at all levels.
const Sequences = "sequences"

// sequences makes a violation of a history whose draws no sequence explains.
func (v *Verdict) sequences(c *corpus.Case, h *history.History) {
	if v.Outcome == Violation || h.Server.DBMS != history.PostgreSQL {
		return
	}
	if d := sequence.Check(c, h); d != nil {
		v.Rules, v.World = nil, 0
		v.violates(h, Sequences, Kind(d.Kind), d.Stmt)
		v.Expected, v.Actual, v.Reason = d.Expected, d.Actual, d.Reason
	}
}
