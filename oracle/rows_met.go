package oracle

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// RowsMet returns, of a history that a verdict calls a violation, the rows of each
// table on which the statement was judged that differs; nil where no statement
// does. Costs one replay.
func RowsMet(c *corpus.Case, h *history.History, v *Verdict) []history.Table {
	if v.Stmt < 0 {
		return nil
	}
	c, h = read(c, h, v)
	own, err := resolved(c, h)
	if err != nil {
		return nil
	}
	r := engines.New(own, h, rules.For(h.Server), false)
	d, err := r.Run()
	if err != nil || d == nil || d.Stmt != v.Stmt {
		return nil
	}
	return r.RowsMet(d.Stmt)
}
