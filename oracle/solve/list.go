package solve

import (
	"cmp"
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

func (c *compiler) in(n *ast.PatternInExpr) (expr, error) {
	if _, ok := n.Expr.(*ast.RowExpr); ok {
		return expr{}, unsupported("a row of several values")
	}
	if n.Sel == nil && len(n.List) == 1 {
		// Servers make a comparison of it before anything else.
		op := opcode.EQ
		if n.Not {
			op = opcode.NE
		}
		return c.expr(&ast.BinaryOperationExpr{Op: op, L: n.Expr, R: n.List[0]})
	}
	e, err := c.expr(n.Expr)
	if err != nil {
		return expr{}, err
	}
	if n.Sel != nil {
		return c.inSubquery(n, e)
	}
	konst := e.konst
	all := make([]expr, len(n.List)+1)
	all[0] = e
	list := all[1:]
	cmps := make([]comparator, len(n.List))
	for i, x := range n.List {
		if list[i], err = c.expr(x); err != nil {
			return expr{}, err
		}
		if list[i].number != nil || e.number != nil {
			return expr{}, unsupported("hexadecimal literal in IN")
		}
		konst = konst && list[i].konst
	}
	if err := c.agree(all); err != nil {
		return expr{}, err
	}
	if err := c.shareCollation(all); err != nil {
		return expr{}, err
	}
	e = all[0]
	if len(list) > 1 && slices.ContainsFunc(list, func(x expr) bool { return isNumeric(x.typ) }) && slices.ContainsFunc(list, c.computedBits) {
		return expr{}, unsupported("IN of numbers and computed bit strings")
	}
	if err := c.onlyMoments(all); err != nil {
		return expr{}, err
	}
	in := *c
	in.inList, in.among = len(list) > 1, amongList
	for i := range list {
		if cmps[i], err = in.comparison(e, list[i]); err != nil {
			return expr{}, err
		}
	}
	c.badLiteral = c.badLiteral || in.badLiteral
	if c.d.is(inComparesBits) && len(list) > 1 && (!allKonst(list) || !allInts(list)) {
		for i := range list {
			if e.typ.Class == IntClass && list[i].typ.Class == IntClass && e.typ.Unsigned != list[i].typ.Unsigned {
				cmps[i] = func(_ *frame, a, b sqlvalue.Value) int { return cmp.Compare(a.Uint(), b.Uint()) }
			}
		}
	}
	if c.d.is(inComparesBits) && e.typ.Class == IntClass && !e.column && (fractionIn(list) || len(list) > 1 && fractionalDouble(list)) {
		return expr{}, unsupported("integer IN a list with a fraction in a text or double")
	}
	if c.d.is(hugeLiteralRefined) && hugeLiteral(e, list) {
		return expr{}, unsupported("IN with an unsigned literal beyond the signed range")
	}
	if c.d.is(hugeLiteralRefined) && e.typ.Unsigned && allKonst(list) && len(list) > 1 && allBelowZero(list) {
		return expr{}, unsupported("unsigned number IN a list of negative ones")
	}
	d := c.d
	whole := c.d.is(betweenStops)
	anyMixed := false
	x := computedBefore(e)
	unread := make([]func(*frame, sqlvalue.Value, sqlvalue.Value) sqlvalue.Value, len(list))
	for i := range list {
		anyMixed = anyMixed || mixed(e, list[i])
		unread[i] = c.besideNull(e, list[i])
		list[i].eval = computedBefore(list[i])
	}
	return boolExpr(konst, func(f *frame) sqlvalue.Truth {
		v := x(f)
		if f.strictWrite && anyMixed && !v.IsNull() && e.typ.Class == StringClass {
			f.beside(func(f *frame) sqlvalue.Value { d.number(f, v, c.literalReading(e)); return v })
		}
		if v.IsNull() || f.strictWrite && anyMixed {
			for i := range list {
				f.beside(func(f *frame) sqlvalue.Value {
					if w := unread[i](f, v, list[i].eval(f)); f.strictWrite && !w.IsNull() && mixed(e, list[i]) {
						d.number(f, w, c.literalReading(list[i]))
					}
					return sqlvalue.Value{}
				})
			}
		}
		if v.IsNull() {
			return sqlvalue.Unknown
		}
		t := sqlvalue.False
		for i := range list {
			w := unread[i](f, v, list[i].eval(f))
			if w.IsNull() {
				t = sqlvalue.Unknown
				continue
			}
			if cmps[i](f, v, w) == 0 {
				if whole {
					for j := i + 1; j < len(list); j++ {
						f.beside(list[j].eval)
					}
				}
				return truthOf(!n.Not)
			}
		}
		return negateIf(n.Not, t)
	}), nil
}

func allBelowZero(list []expr) bool {
	for _, e := range list {
		f := frame{}
		if v := e.eval(&f); !e.lit || v.IsNull() || v.Kind() != sqlvalue.Int || v.Sign() >= 0 {
			return false
		}
	}
	return true
}

// fractionIn tells whether a literal text of a list holds a number that is no
// integer.
func fractionIn(list []expr) bool {
	for _, e := range list {
		if e.lit && e.typ.Class == StringClass && !sqlvalue.NumericPrefix(e.eval(nil).Str()).Integer {
			return true
		}
	}
	return false
}

// fractionalDouble tells whether a list holds a literal double with a fraction.
func fractionalDouble(list []expr) bool {
	return slices.ContainsFunc(list, func(e expr) bool {
		return e.lit && e.typ.Class == DoubleClass && e.eval(nil).Double() != math.Trunc(e.eval(nil).Double())
	})
}

func hugeLiteral(e expr, list []expr) bool {
	huge := e.konst && e.typ.Unsigned
	for _, x := range list {
		huge = huge || x.konst && x.typ.Unsigned
	}
	return huge
}
