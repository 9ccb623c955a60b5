package solve

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// minMaxByKey tells whether MIN or MAX of a query may be looked up at an end of
// an index under a condition that compares a column of text with a number, or
// takes one for a truth value.
func (c *compiler) minMaxByKey(n *ast.SelectStmt) bool {
	keyed := false
	for _, f := range n.Fields.Fields {
		if a, ok := f.Expr.(*ast.AggregateFuncExpr); ok && (lower(a.F) == ast.AggFuncMin || lower(a.F) == ast.AggFuncMax) {
			keyed = keyed || c.isColumn(a.Args[0], true)
		}
	}
	if !keyed {
		return false
	}
	for _, x := range conjuncts(n.Where, nil) {
		if c.textAsNumber(x) {
			return true
		}
	}
	return false
}

// textAsNumber tells whether a condition is a comparison of a column of text with
// what is no text, or the negation of such a column.
func (c *compiler) textAsNumber(n ast.ExprNode) bool {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return c.textAsNumber(x.Expr)
	case *ast.UnaryOperationExpr:
		return isNot(x.Op) && (c.textColumn(x.V) || c.textAsNumber(x.V))
	case *ast.BinaryOperationExpr:
		return isComparison(x.Op) && (c.textColumn(x.L) && !c.isText(x.R) || c.textColumn(x.R) && !c.isText(x.L))
	case *ast.BetweenExpr:
		return c.textColumn(x.Expr) && !(c.isText(x.Left) && c.isText(x.Right))
	}
	return false
}

func (c *compiler) textColumn(n ast.ExprNode) bool { return c.isColumn(n, false) && c.isText(n) }

// isText tells whether an expression is a string; one that does not compile is none.
func (c *compiler) isText(n ast.ExprNode) bool {
	e, err := c.expr(n)
	return err == nil && e.typ.Class == StringClass
}
