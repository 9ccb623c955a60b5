package solve

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

func (c *compiler) unary(n *ast.UnaryOperationExpr) (expr, error) {
	if x := exclusive(n.V); x != nil && isNot(n.Op) && c.d.is(xorByInt) {
		// The parser makes it (NOT a) XOR b, and NOT reads a as other operators do.
		return c.expr(&ast.BinaryOperationExpr{Op: x.Op, L: &ast.UnaryOperationExpr{Op: opcode.Not, V: x.L}, R: x.R})
	}
	e, err := c.expr(n.V)
	if err != nil {
		return expr{}, err
	}
	if e.number != nil && !isNot(n.Op) {
		return expr{}, unsupported("operator on a hexadecimal literal")
	}
	switch n.Op {
	case opcode.Plus:
		return e, nil
	case opcode.Minus:
		return c.negate(e)
	case opcode.Not, opcode.Not2:
		t := c.truth(e)
		return boolExpr(e.konst, func(f *frame) sqlvalue.Truth {
			switch t(f) {
			case sqlvalue.True:
				return sqlvalue.False
			case sqlvalue.False:
				return sqlvalue.True
			}
			return sqlvalue.Unknown
		}), nil
	case opcode.BitNeg:
		return c.bitNot(e)
	}
	return expr{}, unsupported("operator %s", n.Op)
}

// exclusive returns n without parentheses if it is an XOR.
func exclusive(n ast.ExprNode) *ast.BinaryOperationExpr {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return exclusive(x.Expr)
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.LogicXor {
			return x
		}
	}
	return nil
}

func boolExpr(konst bool, truth func(*frame) sqlvalue.Truth) expr {
	return expr{typ: boolInt, konst: konst, eval: func(f *frame) sqlvalue.Value {
		switch truth(f) {
		case sqlvalue.True:
			return sqlvalue.NewInt(1)
		case sqlvalue.False:
			return sqlvalue.NewInt(0)
		}
		return sqlvalue.Value{}
	}}
}

// binary compiles an operator of two operands.
func (c *compiler) binary(n *ast.BinaryOperationExpr) (expr, error) {
	if row, ok := n.L.(*ast.RowExpr); ok && len(row.Values) > 0 {
		return expr{}, unsupported("a row of several values")
	}
	a, err := c.expr(n.L)
	if err != nil {
		return expr{}, err
	}
	b, err := c.expr(n.R)
	if err != nil {
		return expr{}, err
	}
	switch logical := n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr; {
	case a.number == nil && b.number == nil || logical:
	case isMember(a.typ) || isMember(b.typ):
		return expr{}, unsupported("operator on a hexadecimal literal")
	case a.number != nil && b.number != nil || !isComparison(n.Op),
		a.number != nil && b.typ.Class == StringClass && !b.typ.Binary, b.number != nil && a.typ.Class == StringClass && !a.typ.Binary:
		return expr{}, unsupported("operator on a hexadecimal literal")
	case a.number != nil && b.typ.Class != StringClass:
		a = *a.number
	case b.number != nil && a.typ.Class != StringClass:
		b = *b.number
	}
	switch n.Op {
	case opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor:
		return c.logic(n.Op, a, b)
	case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
		return c.compare(n.Op, a, b)
	case opcode.And, opcode.Or, opcode.Xor, opcode.LeftShift, opcode.RightShift:
		return c.bitwise(n.Op, a, b)
	case opcode.Plus, opcode.Minus, opcode.Mul:
		return c.arith(n.Op, a, b)
	case opcode.Div:
		return c.divide(a, b)
	case opcode.IntDiv:
		return c.intDivide(a, b)
	case opcode.Mod:
		return c.modulo(a, b)
	}
	return expr{}, unsupported("operator %s", n.Op)
}

func isComparison(op opcode.Op) bool {
	switch op {
	case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
		return true
	}
	return false
}
