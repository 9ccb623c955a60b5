package solve

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

func and(a, b sqlvalue.Truth) sqlvalue.Truth {
	switch {
	case a == sqlvalue.False || b == sqlvalue.False:
		return sqlvalue.False
	case a == sqlvalue.True && b == sqlvalue.True:
		return sqlvalue.True
	}
	return sqlvalue.Unknown
}

func negateIf(not bool, t sqlvalue.Truth) sqlvalue.Truth {
	if not && t != sqlvalue.Unknown {
		return truthOf(t == sqlvalue.False)
	}
	return t
}

// constantOrNull tells whether n is a NULLIF of a constant that is no literal: in a WHERE it
// may be taken for NULL wherever it is asked whether it is.
func (c *compiler) constantOrNull(n ast.ExprNode) bool {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return c.constantOrNull(x.Expr)
	case *ast.FuncCallExpr:
		if x.FnName.L != "nullif" || len(x.Args) != 2 || !c.inWhere {
			return false
		}
		_, literal := x.Args[0].(ast.ValueExpr)
		return !literal && !mentionsColumn(x.Args[0])
	}
	return false
}

func (c *compiler) isNull(n *ast.IsNullExpr) (expr, error) {
	e, err := c.expr(n.Expr)
	if err != nil {
		return expr{}, err
	}
	x, zero, orNull := e.eval, c.zeroIsNull(n.Expr), c.constantOrNull(n.Expr)
	return boolExpr(e.konst, func(f *frame) sqlvalue.Truth {
		v := x(f)
		null := v.IsNull()
		if zero && isZeroDate(v) {
			f.refuse("IS NULL of a zero date whose column is NOT NULL")
		}
		if orNull && !null {
			f.refuse("IS NULL of a NULLIF of a constant")
		}
		f.underNull()
		return truthOf(null != n.Not)
	}), nil
}

// zeroIsNull tells whether a zero date in a column may count as NULL under IS NULL:
// one that is NOT NULL. Where that is, is the plan's affair.
// https://dev.mysql.com/doc/refman/9.7/en/comparison-operators.html#operator_is-null
func (c *compiler) zeroIsNull(n ast.ExprNode) bool {
	name, ok := n.(*ast.ColumnNameExpr)
	if !ok || c.d.DBMS == history.TiDB {
		return false
	}
	col := c.ownColumn(name.Name)
	return col != nil && col.NotNull && (col.Type.Class == DateClass || col.Type.Class == DatetimeClass)
}

func isZeroDate(v sqlvalue.Value) bool {
	text, _ := v.Text()
	return v.Kind() == sqlvalue.Temporal && strings.HasPrefix(text, "0000-00-00")
}

// underNull makes an error under IS NULL uncertain: what cannot be NULL need not
// be evaluated.
func (f *frame) underNull() {
	if isSQL(f.err) {
		f.err = &Unsupported{"error under IS NULL"}
	}
}

func (c *compiler) isTruth(n *ast.IsTruthExpr) (expr, error) {
	e, err := c.expr(n.Expr)
	if err != nil {
		return expr{}, err
	}
	t := c.truth(e)
	want := truthOf(n.True != 0)
	return boolExpr(e.konst, func(f *frame) sqlvalue.Truth { return truthOf((t(f) == want) != n.Not) }), nil
}

// logic compiles AND, OR, XOR.
func (c *compiler) logic(op opcode.Op, a, b expr) (expr, error) {
	a, b = c.numbered(a), c.numbered(b)
	p, q := c.truth(a), c.truth(b)
	if op == opcode.LogicXor && c.d.is(xorByInt) {
		p, q = c.intTruth(a), c.intTruth(b)
	}
	k := a.konst && b.konst
	if op != opcode.LogicXor {
		return boolExpr(k, connect(op == opcode.LogicAnd, false, []func(*frame) sqlvalue.Truth{p, q})), nil
	}
	return boolExpr(k, func(f *frame) sqlvalue.Truth {
		t := p(f)
		if t == sqlvalue.Unknown {
			f.beside(func(f *frame) sqlvalue.Value { q(f); return sqlvalue.Value{} })
			return t
		}
		u := q(f)
		if u == sqlvalue.Unknown {
			return u
		}
		return truthOf(t != u)
	}), nil
}

// intTruth is truth for an operand that is read as an integer first.
func (c *compiler) intTruth(e expr) func(*frame) sqlvalue.Truth {
	if e.greatest && (e.mixedLarge || e.mixedInt) {
		return func(f *frame) sqlvalue.Truth {
			f.refuse("integer of one of several numbers")
			return sqlvalue.Unknown
		}
	}
	if e.typ.Class == DoubleClass && e.typ.Unsigned {
		// The remainder of a BIT that is negative as a double.
		e.eval = aboveZero(e.eval)
	}
	e = withinSigned(e)
	bits := c.bits(e)
	if !isExact(e.typ) {
		bits = c.shiftCount(e)
	}
	return func(f *frame) sqlvalue.Truth {
		u, null := bits(f)
		if null {
			return sqlvalue.Unknown
		}
		return truthOf(u != 0)
	}
}

// aboveZero makes 0 of what is below it.
func aboveZero(x func(*frame) sqlvalue.Value) func(*frame) sqlvalue.Value {
	return func(f *frame) sqlvalue.Value {
		if v := x(f); v.IsNull() || v.ToDouble() >= 0 {
			return v
		}
		return sqlvalue.NewDouble(0)
	}
}
