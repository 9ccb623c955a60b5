package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// uniqueLookup predicts, under the rule TrustsIndex, a SELECT whose filter is
// an equality for each column of one secondary unique key. ok is false where
// the rule does not apply.
func (r *Replay) uniqueLookup(tx *Txn, s *ast.SelectStmt, view View) (p *Prediction, ok bool, err error) {
	if tx.Rules[rules.UniqueLookup] != rules.TrustsIndex || s.Limit != nil || s.OrderBy != nil || singleTable(s.From) == nil {
		return nil, false, nil
	}
	t := r.table(singleTable(s.From).Name.O)
	if t == nil {
		return nil, false, nil
	}
	key := pinnedKey(t.Def, s.Where)
	if key == nil {
		return nil, false, nil
	}
	c := r.indexEntry(t, key, s.Where, view)
	if c == nil {
		return nil, false, nil
	}
	ver := view.Seen(c)
	if ver == nil {
		return &Prediction{Err: errInconsistent, Matched: -1, Changed: -1, Single: true}, true, nil
	}
	res, err := r.solver.Project(s, t.Def, []solve.Row{ver.Row}, &stored{&r.store, view})
	if err != nil {
		return nil, true, lossOf("solver", err)
	}
	return &Prediction{Rows: res.Rows, Matched: -1, Changed: -1, Single: true}, true, nil
}

// indexEntry returns the chain to which the snapshot's entry leads, if the own
// transaction neither wrote the tuple nor took it from a row.
func (r *Replay) indexEntry(t *Table, key *solve.Key, where ast.ExprNode, view View) *Chain {
	matches := func(row solve.Row) bool {
		if row == nil {
			return false
		}
		truth, _, err := r.solver.Where(where, t.Def, row, &stored{&r.store, view})
		return err == nil && truth == sqlvalue.True
	}
	snapshot := View{Tick: view.Tick}
	var found *Chain
	for _, c := range t.Chains {
		for i := range c.Versions {
			if c.Versions[i].Txn != view.Own {
				continue
			}
			if matches(c.Versions[i].Row) || i > 0 && matches(c.Versions[i-1].Row) {
				return nil
			}
		}
		if ver := snapshot.Seen(c); ver != nil && matches(ver.Row) {
			found = c
		}
	}
	return found
}

// pinnedKey returns the secondary unique key whose columns a filter compares
// with constants, each once and no others.
func pinnedKey(t *solve.Table, where ast.ExprNode) *solve.Key {
	pinned := map[int]bool{}
	for _, part := range leaves(where, nil) {
		b, ok := part.(*ast.BinaryOperationExpr)
		if !ok || b.Op != opcode.EQ {
			return nil
		}
		col, ok := b.L.(*ast.ColumnNameExpr)
		if !ok {
			col, ok = b.R.(*ast.ColumnNameExpr)
		}
		if !ok {
			return nil
		}
		pinned[t.ColumnIndex(col.Name.Name.O)] = true
	}
	for i := range t.Keys {
		k := &t.Keys[i]
		if k.Primary || !k.Unique || len(k.Columns) != len(pinned) {
			continue
		}
		all := true
		for _, c := range k.Columns {
			all = all && pinned[c]
		}
		if all {
			return k
		}
	}
	return nil
}
