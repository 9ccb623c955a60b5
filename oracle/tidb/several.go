package tidb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// several predicts a write of several tables and applies it.
func (r *engine) several(i int, tx *versions.Txn, kind stmt.Kind, node ast.StmtNode, view versions.View) (*mvcc.Prediction, error) {
	code := mvcc.ErrCode(&r.History.Stmts[i])
	if code != 0 && code != mvcc.ErrDup {
		return nil, mvcc.ErrSeveralFails
	}
	rows, err := r.ChosenRows(node, view)
	if err != nil {
		return nil, err
	}
	p := mvcc.SeveralPrediction(kind, rows)
	r.TouchSeveral(i, tx, r.History.Stmts[i].Submit, node, rows)
	for _, w := range rows {
		switch {
		case w.Row == nil:
			r.Store.Delete(w.Table, w.Chain, tx)
		case w.Changed || tx.Rules.Of(rules.NoOpUpdate) == rules.NoOpWrites:
			r.Store.Update(w.Table, w.Chain, w.Row, tx)
		}
	}
	switch {
	case r.sharesKey(rows, tx):
		p.Err = mvcc.ErrDup
	case code == mvcc.ErrDup:
		return nil, mvcc.ErrSeveralFails
	}
	return p, nil
}

// sharesKey reports whether a row that a write of several tables has changed has a key of
// another one. Which rows have each other's keys in passing is the plan's affair; what they
// have in the end is not.
func (r *engine) sharesKey(rows []mvcc.ChosenRow, tx *versions.Txn) bool {
	now := versions.View{Tick: versions.Latest, Own: tx}
	return slices.ContainsFunc(rows, func(w mvcc.ChosenRow) bool {
		return w.Changed && w.Row != nil && len(r.duplicates(w.Table, now, w.Row, nil)) > 1 // itself is one
	})
}
