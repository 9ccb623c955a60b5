package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// Bare returns an expression without the parentheses around it.
func Bare(e ast.ExprNode) ast.ExprNode {
	for p, ok := e.(*ast.ParenthesesExpr); ok; p, ok = e.(*ast.ParenthesesExpr) {
		e = p.Expr
	}
	return e
}
