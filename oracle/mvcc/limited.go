package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// leaveOut makes unknown which of the rows that a SELECT's condition holds for it read, as
// far as LIMIT cut them off: it read those that it returns. What is equal in the columns
// that it returns, and partly there, is unknown, too.
func (l *look) leaveOut(q *ast.SelectStmt, view View, answer [][]sqlvalue.Value) {
	if q.Limit == nil || q.GroupBy != nil || aggregates(q) {
		return
	}
	texts := make([]string, len(l.met))
	returned, chosen, all := map[string]int{}, map[string]int{}, 0
	for _, row := range answer {
		returned[FormatRow(row)]++
	}
	for k := range l.met {
		if m := &l.met[k]; m.matched && !m.unknown {
			all++
			if row, ok := projected(q, l.table.Def, view.version(m.chain).Row); ok {
				texts[k] = FormatRow(row)
				chosen[texts[k]]++
			}
		}
	}
	if all <= len(answer) {
		return // nothing was cut off
	}
	for k := range l.met {
		m := &l.met[k]
		if m.matched && !m.unknown && (chosen[texts[k]] == 0 || returned[texts[k]] < chosen[texts[k]]) {
			*m = met{chain: m.chain, unknown: true}
		}
	}
}

// projected returns what a SELECT of columns alone returns of a row; ok is false of another
// SELECT.
func projected(q *ast.SelectStmt, t *solve.Table, row solve.Row) (out []sqlvalue.Value, ok bool) {
	if row == nil {
		return nil, false
	}
	for _, f := range q.Fields.Fields {
		if f.WildCard != nil {
			out = append(out, row...)
			continue
		}
		c, ok := f.Expr.(*ast.ColumnNameExpr)
		if !ok {
			return nil, false
		}
		at := slices.IndexFunc(t.Columns, func(col solve.Column) bool { return lower(col.Name) == c.Name.Name.L })
		if at < 0 {
			return nil, false
		}
		out = append(out, row[at])
	}
	return out, true
}
