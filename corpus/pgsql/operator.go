package pgsql

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

var (
	comparisons = map[opcode.Op]string{
		opcode.EQ: "=", opcode.NE: "<>", opcode.LT: "<", opcode.LE: "<=", opcode.GT: ">", opcode.GE: ">=",
		opcode.NullEQ: "IS NOT DISTINCT FROM",
	}
	arithmetic = map[opcode.Op]struct {
		sql  string
		bind bind
	}{
		opcode.Plus: {" + ", bindAdd}, opcode.Minus: {" - ", bindAdd},
		opcode.Mul: {" * ", bindMul}, opcode.Mod: {" % ", bindMul},
	}
	onBits = map[opcode.Op]string{
		opcode.And: " & ", opcode.Or: " | ", opcode.Xor: " # ", opcode.LeftShift: " << ", opcode.RightShift: " >> ",
	}
)

func (p *printer) binary(n *ast.BinaryOperationExpr) term {
	if op, ok := comparisons[n.Op]; ok {
		t := term{p.value(n.L, bindOther) + " " + op + " " + p.value(n.R, bindOther), bindCompare, boolean}
		if n.Op == opcode.NullEQ {
			t.bind = bindIs
		}
		return t
	}
	if op, ok := arithmetic[n.Op]; ok {
		return term{p.value(n.L, op.bind) + op.sql + p.value(n.R, op.bind+1), op.bind, value}
	}
	if op, ok := onBits[n.Op]; ok {
		right := p.integer(n.R)
		if _, literal := n.R.(ast.ValueExpr); !literal && (n.Op == opcode.LeftShift || n.Op == opcode.RightShift) {
			right = p.value(n.R, bindCast) + "::int"
		}
		return term{p.integer(n.L) + op + right, bindOther, bits}
	}
	switch n.Op {
	case opcode.LogicAnd:
		return term{p.condition(n.L, bindAnd) + " AND " + p.condition(n.R, bindAnd+1), bindAnd, boolean}
	case opcode.LogicOr:
		return term{p.condition(n.L, bindOr) + " OR " + p.condition(n.R, bindOr+1), bindOr, boolean}
	case opcode.LogicXor:
		return term{p.condition(n.L, bindPrimary) + " <> " + p.condition(n.R, bindPrimary), bindCompare, boolean}
	case opcode.Div:
		return term{p.castTo(n.L, "numeric") + " / " + p.value(n.R, bindMul+1), bindMul, value}
	case opcode.IntDiv:
		return term{"DIV(" + p.castTo(n.L, "numeric") + ", " + p.castTo(n.R, "numeric") + ")", bindPrimary, value}
	}
	return term{sql: p.no("the operator " + n.Op.String())}
}

// integer writes an operand of an operator on bits, of which there is none for NUMERIC.
func (p *printer) integer(e ast.ExprNode) string {
	t := p.term(e).number()
	if t.is == number || t.is == bits {
		return t.in(bindOther + 1)
	}
	return t.in(bindCast) + "::bigint"
}

// castTo writes a cast of a value.
func (p *printer) castTo(e ast.ExprNode, to string) string { return p.value(e, bindCast) + "::" + to }

func (p *printer) unary(n *ast.UnaryOperationExpr) term {
	switch n.Op {
	case opcode.Not, opcode.Not2:
		return term{"NOT " + p.condition(n.V, bindPrimary), bindNot, boolean}
	case opcode.BitNeg:
		return term{"~" + p.integer(n.V), bindOther, bits}
	case opcode.Plus:
		return p.signed(n.V)
	case opcode.Minus:
		t := p.signed(n.V)
		sign := term{"-" + t.in(bindSign+1), bindSign, value}
		if t.is == number {
			sign.is = number
		}
		return sign
	}
	return term{sql: p.no("the operator " + n.Op.String())}
}

// signed writes the operand of a sign, which makes a number of a string.
func (p *printer) signed(e ast.ExprNode) term {
	t := p.term(e).number()
	if t.is == text {
		t = term{t.sql + "::double precision", bindCast, value}
	}
	return t
}
