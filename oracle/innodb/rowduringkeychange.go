package innodb

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// An UPDATE of the clustered key marks the old record deleted before it inserts the
// new one, for which it may have to wait. An index still leads to the old record
// then. A SELECT at READ UNCOMMITTED that merges several indexes collects the keys of
// its rows first and looks the records up in their order.
// https://dev.mysql.com/doc/refman/en/index-merge-optimization.html

// keyChanges returns the rows, as they were, of a table whose records such an UPDATE
// of another session has deleted, and which match a condition of several parts.
func (x *running) keyChanges(s *ast.SelectStmt, t *versions.Table) []solve.Row {
	if t.Clustered == nil || len(mvcc.Disjuncts(s.Where, nil)) < 2 {
		return nil
	}
	var out []solve.Row
	for _, o := range x.e.running {
		u, ok := o.node.(*ast.UpdateStmt)
		if !ok || o == x || o.table != t || !assigns(u, t, t.Clustered) {
			continue
		}
		for _, c := range o.tx.Writes[o.mark:] {
			n := len(c.Versions)
			if n < 2 || c.Versions[n-1].Row != nil || c.Versions[n-1].Txn != o.tx || c.Versions[n-2].Row == nil {
				continue
			}
			truth, _, err := x.e.Solver.Where(s.Where, t.Def, c.Versions[n-2].Row, &innodbViews{e: x.e})
			if err == nil && truth == sqlvalue.True {
				out = append(out, c.Versions[n-2].Row)
			}
		}
	}
	return out
}

// goneDuringKeyChange answers a SELECT under the rule RowAmidKeyChange where it looks up a record
// that is gone: with error 1032, or with the rows before it. It returns nil where the
// rule changes nothing; whether indexes are merged is the plan's affair.
func (x *running) goneDuringKeyChange(s *ast.SelectStmt, t *versions.Table, view versions.View) (*solve.Result, error) {
	rule := x.tx.Rules.Of(rules.RowAmidKeyChange)
	if rule == rules.FoundOrNot {
		return nil, nil
	}
	gone := x.keyChanges(s, t)
	if len(gone) == 0 {
		return nil, nil
	}
	if rule == rules.NotFound {
		if mvcc.ErrCode(x.st) == mvcc.ErrKeyNotFound {
			x.open = "whether it merges indexes"
			return nil, &solve.SQLError{Code: mvcc.ErrKeyNotFound, Message: "can't find record"}
		}
		return nil, nil
	}
	if x.e.choices.Choose(2) == 0 {
		return nil, nil
	}
	_, all, err := (&innodbViews{e: x.e, view: view}).Table(t.Def.Name)
	if err != nil {
		return nil, err
	}
	var before []solve.Row
	for _, row := range all {
		first := true
		for _, g := range gone {
			first = first && versions.CompareKey(t.Clustered, row, g) < 0
		}
		if first {
			before = append(before, row)
		}
	}
	return x.e.Solver.Select(s, &innodbViews{e: x.e, view: view, only: t, rows: before})
}
