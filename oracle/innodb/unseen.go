package innodb

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// unseenError returns the statement's own error if, by the rule FilterScope, the
// condition pushed into a secondary index raises it on an entry of a row that the
// view does not show: of another transaction's, of one that is deleted, of a former
// version. MySQL passes marked entries unless any transaction of the server is open
// that has written, of which the history knows its own only. Which index is used is
// the plan's affair: any will do that begins with a column of the condition, and of
// the condition any part that the index's columns decide.
// https://dev.mysql.com/doc/refman/en/index-condition-pushdown-optimization.html
func (x *running) unseenError(s *ast.SelectStmt, t *versions.Table, view versions.View) error {
	code := mvcc.ErrCode(x.st)
	if code == 0 || x.tx.Rules.Of(rules.FilterScope) != rules.UnseenRows {
		return nil
	}
	parts, tested := mvcc.Leaves(s.Where, nil), mvcc.ColumnsIn(t.Def, s.Where)
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		if k == t.Clustered || !tested[k.Columns[0]] {
			continue
		}
		cols := entryColumns(t, k)
		for _, c := range t.Chains {
			seen := view.Version(c)
			for j := range c.Versions {
				v := &c.Versions[j]
				if v.Row == nil || v == seen {
					continue
				}
				for _, part := range parts {
					if !mvcc.OnlyColumns(part, t.Def, cols) {
						continue
					}
					_, _, err := x.e.Solver.Where(part, t.Def, v.Row, &innodbViews{e: x.e, view: view})
					var e *solve.SQLError
					if errors.As(err, &e) && e.Code == code {
						x.open = mvcc.StrayOrNot
						return err
					}
				}
			}
		}
	}
	return nil
}
