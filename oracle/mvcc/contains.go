package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// mentionsColumn reports whether an expression reads any column, be it in a
// subquery or an aggregate.
func mentionsColumn(x ast.Node) bool { return !onlyColumns(x, &solve.Table{}, nil) }

// onlyColumns reports whether an expression reads no columns but the given.
func onlyColumns(x ast.Node, t *solve.Table, cols map[int]bool) bool {
	return !corpus.Contains(x, func(n ast.Node) (found, skip bool) {
		switch c := n.(type) {
		case *ast.ColumnName:
			return !cols[t.ColumnIndex(c.Name.O)], false
		case *ast.SubqueryExpr, *ast.AggregateFuncExpr:
			return true, false
		}
		return false, false
	})
}

// HasSubquery reports whether a statement or an expression holds a query.
func HasSubquery(n ast.Node) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		_, found = n.(*ast.SubqueryExpr)
		return found, false
	})
}

// hasDerivedTable reports whether a FROM clause holds a query.
func hasDerivedTable(n ast.Node) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		_, found = n.(*ast.SelectStmt)
		return found, false
	})
}

// hasScalarSubquery passes over the subqueries of IN and EXISTS.
func hasScalarSubquery(n ast.Node) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch n.(type) {
		case *ast.PatternInExpr, *ast.ExistsSubqueryExpr:
			return false, true
		case *ast.SubqueryExpr:
			return true, false
		}
		return false, false
	})
}

// constant reports whether an operand names no column outside of a subquery.
func constant(e ast.ExprNode) bool {
	return !corpus.Contains(e, func(n ast.Node) (found, skip bool) {
		switch n.(type) {
		case *ast.ColumnNameExpr:
			return true, false
		case *ast.SubqueryExpr:
			return false, true
		}
		return false, false
	})
}

// integersOnly reports whether all literals of conditions are integers or NULL.
// How many values of a key others make depends on their conversion.
func integersOnly(conds []ast.ExprNode) bool {
	return !slices.ContainsFunc(conds, func(e ast.ExprNode) bool {
		return corpus.Contains(e, func(n ast.Node) (found, skip bool) {
			v, ok := n.(ast.ValueExpr)
			if !ok {
				return false, false
			}
			switch v.GetValue().(type) {
			case nil, int64, uint64:
				return false, false
			}
			return true, false
		})
	})
}

func isNull(x ast.ExprNode) bool {
	v, ok := x.(ast.ValueExpr)
	return ok && v.GetValue() == nil
}

func columnIn(t *Table, n *ast.ColumnNameExpr) int {
	if n == nil {
		return -1
	}
	return t.Def.ColumnIndex(n.Name.Name.O)
}

func columnSet(cols []int) map[int]bool {
	set := make(map[int]bool, len(cols))
	for _, c := range cols {
		set[c] = true
	}
	return set
}
