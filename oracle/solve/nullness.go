package solve

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// nullness says whether a server takes an expression for one that can be NULL.
type nullness uint8

const (
	nullUnknown nullness = iota
	neverNull
	canBeNull
)

// nullness of an expression as COUNT asks for it before it reads a row: sure of
// literals, columns and + - * alone, and of quotients, which are NULL for zero.
func (c *compiler) nullness(n ast.ExprNode) nullness {
	switch n := n.(type) {
	case *ast.ParenthesesExpr:
		return c.nullness(n.Expr)
	case *ast.UnaryOperationExpr:
		if n.Op == opcode.Minus || n.Op == opcode.Plus {
			return c.nullness(n.V)
		}
	case *ast.ColumnNameExpr:
		switch col := c.ownColumn(n.Name); {
		case col == nil:
			return nullUnknown
		case col.NotNull:
			return neverNull
		}
		return canBeNull
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.Div, opcode.IntDiv, opcode.Mod:
			return canBeNull
		case opcode.Plus, opcode.Minus, opcode.Mul:
			a, b := c.nullness(n.L), c.nullness(n.R)
			if a == canBeNull || b == canBeNull {
				return canBeNull
			}
			return min(a, b)
		}
	case ast.ValueExpr:
		if n.GetValue() == nil {
			return canBeNull
		}
		return neverNull
	}
	return nullUnknown
}
