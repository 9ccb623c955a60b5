package stmt

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// MayGiveNull says that a statement may write NULL into certain columns of a table: it gives one of them something else than
// a literal. columns are the names of all that the table has, and certain takes their places among them.
func MayGiveNull(n ast.StmtNode, table string, columns []string, certain func(i int) bool) bool {
	if !slices.ContainsFunc(columns, func(c string) bool { return certain(slices.Index(columns, c)) }) {
		return false
	}
	named := func(name *ast.ColumnName) bool {
		i := slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(c, name.Name.O) })
		return i >= 0 && certain(i)
	}
	assigned := func(list []*ast.Assignment) bool {
		return slices.ContainsFunc(list, func(a *ast.Assignment) bool { return !isValue(a.Expr) && named(a.Column) })
	}
	switch s := n.(type) {
	case *ast.InsertStmt:
		if into := SoleTable(s.Table); into == nil || !strings.EqualFold(into.Name.O, table) {
			return false
		}
		if assigned(s.OnDuplicate) || s.Select != nil {
			return true
		}
		for _, list := range s.Lists {
			for i, v := range list {
				switch {
				case isValue(v):
				case s.Columns == nil && i < len(columns) && certain(i), i < len(s.Columns) && named(s.Columns[i]):
					return true
				}
			}
		}
	case *ast.UpdateStmt:
		return assigned(s.List)
	case *RawStmt:
		return slices.ContainsFunc(s.Writes, func(t *ast.TableName) bool { return strings.EqualFold(t.Name.O, table) })
	}
	return false
}

// isValue says that an expression is a literal, and not NULL.
func isValue(e ast.ExprNode) bool {
	v, ok := e.(ast.ValueExpr)
	return ok && v.GetValue() != nil
}
