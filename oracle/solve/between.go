package solve

import (
	"cmp"
	"math"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

func (c *compiler) between(n *ast.BetweenExpr) (expr, error) {
	var e [3]expr
	for i, x := range []ast.ExprNode{n.Expr, n.Left, n.Right} {
		var err error
		if e[i], err = c.expr(x); err != nil {
			return expr{}, err
		}
		if e[i].number != nil {
			return expr{}, unsupported("hexadecimal literal in BETWEEN")
		}
	}
	plain := *c
	plain.d.quirks = plain.d.quirks.without(compareRounds)
	plain.among = amongBounds
	alone := plain.eachAlone(e[:])
	plain.ranges = !alone
	if err := plain.agree(e[:]); err != nil {
		return expr{}, err
	}
	if err := c.shareCollation(e[:]); err != nil {
		return expr{}, err
	}
	lo, err := plain.comparison(e[0], e[1])
	if err != nil {
		return expr{}, err
	}
	hi, err := plain.comparison(e[0], e[2])
	if err != nil {
		return expr{}, err
	}
	c.badLiteral = c.badLiteral || plain.badLiteral
	switch {
	case n.Not && e[0].konst && c.d.is(keyLosesText):
		// MariaDB 11.8 loses rows where an upper bound has an index.
		return expr{}, unsupported("constant NOT BETWEEN")
	case sameComparison(e[0].typ, e[1].typ, e[2].typ), alone:
	case (c.d.is(textMeetsIntExactly) && e[0].column || c.isColumn(n.Expr, true)) && e[0].typ.Class == StringClass && (e[1].typ.Class == StringClass) != (e[2].typ.Class == StringClass):
		// An index on the column finds other rows.
		return expr{}, unsupported("BETWEEN on text, a text and a number")
	case e[0].konst && e[0].typ.Class == StringClass && (e[1].typ.Class == StringClass) != (e[2].typ.Class == StringClass) && (c.isColumn(n.Left, true) || c.isColumn(n.Right, true)):
		// So does one on a bound.
		return expr{}, unsupported("BETWEEN on text, a text and a number")
	case isTemporal(e[0].typ) && !isTemporal(e[1].typ) && !isTemporal(e[2].typ):
		// Literals are read as dates, each on its own.
	case isTemporal(e[0].typ) || isTemporal(e[1].typ) || isTemporal(e[2].typ):
		return expr{}, unsupported("BETWEEN on several dates or times")
	case c.d.is(textMeetsIntExactly) && intsAndText(e[:]):
		read := func(at int) comparator {
			p, q := e[0], e[at]
			return func(f *frame, x, y sqlvalue.Value) int {
				return sqlvalue.CmpExact(c.decimalOf(f, p, x), c.decimalOf(f, q, y))
			}
		}
		lo, hi = read(1), read(2)
	case e[0].notNumber || e[1].notNumber || e[2].notNumber:
		return expr{}, unsupported("number of a branch between text and others")
	case c.d.is(textMeetsIntExactly) && (e[1].konst && e[1].typ.Unsigned || e[2].konst && e[2].typ.Unsigned):
		return expr{}, unsupported("unsigned constant beside a double in BETWEEN")
	default:
		// One type for all three: that of doubles, as soon as one is no exact
		// number and not all are strings.
		d := c.d
		read := func(at int) comparator {
			return func(f *frame, x, y sqlvalue.Value) int {
				return cmp.Compare(d.number(f, x, c.literalReading(e[0])), d.number(f, y, c.literalReading(e[at])))
			}
		}
		lo, hi = checkedBetween(e[0].typ, e[1].typ, read(1)), checkedBetween(e[0].typ, e[2].typ, read(2))
	}
	switch {
	case beyondColumn(e[0], e[1]) || beyondColumn(e[0], e[2]):
		return expr{}, unsupported("BETWEEN on a BIGINT column and a large text or double")
	case nullBound(e) && c.d.is(nullBoundIsDouble):
		lo = func(_ *frame, x, y sqlvalue.Value) int { return cmp.Compare(x.ToDouble(), y.ToDouble()) }
		hi = lo
	case nullBound(e):
		lo, hi = apartAsDoubles(lo), apartAsDoubles(hi)
	}
	lazy, d := c.d.is(betweenStops), c.d
	keyed := c.isColumn(n.Expr, true)
	keyedLow, keyedHigh := e[0].konst && c.isColumn(n.Left, true), e[0].konst && c.isColumn(n.Right, true)
	anyMixed := !isTemporal(e[0].typ) && (mixed(e[0], e[1]) || mixed(e[0], e[2]) || mixed(e[1], e[2]))
	x, y, z := computedBefore(e[0]), e[1].eval, e[2].eval
	unreadLow, unreadHigh := c.besideNull(e[0], e[1]), c.besideNull(e[0], e[2])
	return boolExpr(e[0].konst && e[1].konst && e[2].konst, func(f *frame) sqlvalue.Truth {
		if f.strictWrite && anyMixed {
			for i, get := range [3]func(*frame) sqlvalue.Value{x, y, z} {
				f.beside(func(f *frame) sqlvalue.Value {
					if v := get(f); !v.IsNull() {
						d.number(f, v, c.literalReading(e[i]))
					}
					return sqlvalue.Value{}
				})
			}
		}
		v := x(f)
		if v.IsNull() {
			f.beside(func(f *frame) sqlvalue.Value { return unreadLow(f, v, y(f)) })
			f.beside(func(f *frame) sqlvalue.Value { return unreadHigh(f, v, z(f)) })
			return sqlvalue.Unknown
		}
		l := unreadLow(f, v, y(f))
		t := sqlvalue.Unknown
		if !l.IsNull() {
			t = truthOf(lo(f, v, l) >= 0)
		}
		h := unreadHigh(f, v, z(f))
		u := sqlvalue.Unknown
		if !h.IsNull() {
			u = truthOf(hi(f, v, h) <= 0)
		}
		if lazy && (l.IsNull() || h.IsNull()) && (huge(v) || huge(l) || huge(h)) {
			f.refuse("large unsigned number between NULL and a bound")
		}
		excluded := (keyed && e[1].konst || keyedLow) && t != sqlvalue.True || (keyed && e[2].konst || keyedHigh) && u != sqlvalue.True
		if excluded && isSQL(f.err) {
			f.err = &Unsupported{"error on a row that an index excludes"}
		}
		if t != sqlvalue.True && lazy && f.err != nil {
			f.err = &Unsupported{"error in the upper bound of BETWEEN"}
		}
		if e[0].konst && (e[1].konst || e[2].konst) && isSQL(f.err) {
			// The other half is a constant, which may decide.
			f.err = &Unsupported{"error in a bound of BETWEEN beside a constant one"}
		}
		return negateIf(n.Not, and(t, u))
	}), nil
}

// nullBound tells whether a bound of exact numbers is the literal NULL.
func nullBound(e [3]expr) bool {
	for _, x := range e {
		if !isExact(x.typ) && x.typ.Class != NullClass {
			return false
		}
	}
	return e[1].typ.Class == NullClass || e[2].typ.Class == NullClass
}

// apartAsDoubles refuses a decimal and another number that are one double.
func apartAsDoubles(as comparator) comparator {
	return func(f *frame, x, y sqlvalue.Value) int {
		r := as(f, x, y)
		if r != 0 && (x.Kind() == sqlvalue.Decimal || y.Kind() == sqlvalue.Decimal) && x.ToDouble() == y.ToDouble() {
			f.refuse("BETWEEN that doubles cannot tell apart")
		}
		return r
	}
}

// beyondColumn tells whether a constant text or double beyond the signed range may
// be converted to the type of a BIGINT column first.
func beyondColumn(col, bound expr) bool {
	if !col.column || col.typ.Class != IntClass || col.typ.Bits != 64 || !bound.konst || isExact(bound.typ) || !isNumeric(bound.typ) {
		return false
	}
	var f frame
	v := bound.eval(&f)
	x := v.ToDouble()
	if bound.typ.Class == StringClass {
		x, _ = sqlvalue.NumericPrefix(v.Str()).Double()
	}
	return f.err != nil || math.Abs(x) >= 1<<63
}

// checkedBetween refuses what two large exact numbers are as doubles.
func checkedBetween(a, b Type, as comparator) comparator {
	if a.Class == DoubleClass || b.Class == DoubleClass || a.Class == FloatClass || b.Class == FloatClass {
		return as
	}
	return func(f *frame, x, y sqlvalue.Value) int {
		r := as(f, x, y)
		if f.err == nil && r == 0 {
			p, okP := exactOf(x)
			q, okQ := exactOf(y)
			if !okP || !okQ || sqlvalue.CmpExact(p, q) != 0 {
				f.refuse("BETWEEN that doubles cannot tell apart")
			}
		}
		return r
	}
}

func exactOf(v sqlvalue.Value) (sqlvalue.Value, bool) {
	if k := v.Kind(); k == sqlvalue.String || k == sqlvalue.Bytes {
		return sqlvalue.NumericPrefix(v.Str()).Decimal()
	}
	return v, true
}

// decimalOf reads a value of e as an exact number.
func (c *compiler) decimalOf(f *frame, e expr, v sqlvalue.Value) sqlvalue.Value {
	if e.typ.Class != StringClass {
		return v
	}
	e.eval = func(*frame) sqlvalue.Value { return v }
	e.reading = c.literalReading(e)
	return c.exact(e)(f)
}

func intsAndText(es []expr) bool {
	for _, e := range es {
		if e.typ.Class != IntClass && e.typ.Class != StringClass {
			return false
		}
	}
	return true
}

// sameComparison tells whether three operands compare alike, pair by pair.
func sameComparison(ts ...Type) bool {
	strings, exact := 0, 0
	for _, t := range ts {
		switch {
		case t.Class == NullClass:
			strings, exact = strings+1, exact+1
		case t.Class == StringClass:
			strings++
		case isExact(t):
			exact++
		}
	}
	return strings == len(ts) || exact == len(ts)
}
