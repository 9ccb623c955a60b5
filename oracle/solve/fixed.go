package solve

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// fixesExpression tells whether one of several conditions equates an expression of
// columns with a constant and another one holds that expression, too. The optimiser
// may put the constant there, and then know without a row that all is false:
// a * 2 = 0 AND a * 2 never multiplies.
// https://dev.mysql.com/doc/refman/9.7/en/where-optimization.html
func (c *compiler) fixesExpression(list []ast.ExprNode) bool {
	for _, x := range list {
		l, r := equated(x)
		for _, side := range []ast.ExprNode{l, r} {
			if _, column := side.(*ast.ColumnNameExpr); side == nil || column || !mentionsColumn(side) {
				continue
			}
			text := writtenOut(side)
			holds := func(y ast.ExprNode) bool { return y != x && strings.Contains(writtenOut(y), text) }
			if slices.ContainsFunc(list, holds) {
				return true
			}
		}
	}
	return false
}

func writtenOut(n ast.Node) string {
	var b strings.Builder
	if err := n.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags, &b)); err != nil {
		return ""
	}
	return strings.Trim(b.String(), "()")
}
