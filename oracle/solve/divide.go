package solve

import (
	"math"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// zeroDivisor handles division by zero: NULL with a warning, or error 1365
// where a row is written in strict mode.
// https://dev.mysql.com/doc/refman/9.7/en/sql-mode.html#sqlmode_error_for_division_by_zero
func (c *compiler) zeroDivisor(f *frame) sqlvalue.Value {
	if c.d.Mode&ErrorForDivisionByZero != 0 {
		if f.strictUnsure {
			return f.refuse("division by zero in the WHERE of an UPDATE")
		}
		if f.strictWrite {
			return f.fail(1365, "Division by 0")
		}
		f.warnings++
	}
	return sqlvalue.Value{}
}

// divPrecision is div_precision_increment at its default, which all servers share.
// https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html#sysvar_div_precision_increment
const divPrecision = 4

func (c *compiler) divide(a, b expr) (expr, error) {
	if c.d.is(branchCasts) && (isTemporal(a.typ) || isTemporal(b.typ)) {
		return expr{}, unsupported("division of a date or time")
	}
	a, b = c.unsignedStamp(c.summand(a)), c.unsignedStamp(c.summand(b))
	cls, err := c.numericClass(a, b)
	if err != nil {
		return expr{}, err
	}
	e := expr{konst: a.konst && b.konst}
	if cls == DoubleClass {
		p, q := c.double(a), c.double(b)
		if e.typ = computedDouble(a, b); e.typ.Origin != anyDouble && c.d.is(momentQuotient) {
			return expr{}, unsupported("division of a double made of a date or time")
		}
		e.nullDouble = a.typ.Class == NullClass || b.typ.Class == NullClass
		e.arithmetic = !e.konst
		value := c.computed(e.typ)
		e.eval = func(f *frame) sqlvalue.Value {
			v, null := p(f)
			if null {
				return f.beside(asValue(q))
			}
			w, null := q(f)
			if null || f.err != nil {
				return sqlvalue.Value{}
			}
			if w == 0 {
				return c.zeroDivisor(f)
			}
			return value(f, v/w)
		}
		return e, nil
	}
	x, y := c.exact(a), c.exact(b)
	scale := min(a.typ.Scale+divPrecision, c.d.maxScale())
	e.typ = Type{Class: DecimalClass, Prec: a.typ.Prec + b.typ.Scale + divPrecision, Scale: scale, Unsigned: c.bothUnsigned(a, b)}
	words, shortZero := c.d.is(divisionKeepsWords), c.d.is(zeroProduct)
	e.eval = func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return f.beside(y)
		}
		w := y(f)
		if w.IsNull() || f.err != nil {
			return sqlvalue.Value{}
		}
		if w.Sign() == 0 {
			return c.zeroDivisor(f)
		}
		r := sqlvalue.DivTrunc(v, w, quotientDigits(v.Scale(), w.Scale()))
		if !words {
			if r = r.Rescale(scale); shortZero && v.Sign() == 0 {
				return sqlvalue.NewDecimal64(0, 0)
			}
			return r
		}
		if v.Sign() == 0 && c.d.is(zeroSum) {
			return sqlvalue.NewDecimal64(0, 0)
		}
		if v.Sign()*w.Sign() < 0 && c.d.is(signedZero) && r.Sign() == 0 {
			return f.refuse("decimal of minus zero")
		}
		return r
	}
	return e, nil
}

// quotientDigits returns the digits behind the point that a decimal division
// computes before it cuts off: decimals are kept in words of nine digits.
func quotientDigits(s1, s2 int) int {
	f1, f2 := wordDigits(s1), wordDigits(s2)
	incr := max(divPrecision-(f1-s1+f2-s2), 0)
	return min(wordDigits(f1+f2+incr), 63)
}

func wordDigits(n int) int { return (n + 8) / 9 * 9 }

func (c *compiler) intDivide(a, b expr) (expr, error) {
	members := isMember(a.typ) || isMember(b.typ)
	a, b = c.unsignedStamp(c.numbered(a)), c.unsignedStamp(c.numbered(b))
	if _, err := c.numericClass(a, b); err != nil {
		return expr{}, err
	}
	if c.d.is(textDivUnsure) && (a.typ.Class == StringClass || b.typ.Class == StringClass) {
		return expr{}, unsupported("DIV of text")
	}
	unsigned := a.typ.Unsigned || b.typ.Unsigned
	intOperands := a.typ.Class == IntClass && b.typ.Class == IntClass && !members && !a.moment && !b.moment
	bad := uint16(1292)
	if c.d.is(divIs1366) {
		bad = 1366
	}
	x, y := c.exactOr(a, bad), c.exactOr(b, bad)
	t := bigInt
	if unsigned {
		t = bigUint
	}
	konst := a.konst && b.konst
	return expr{typ: t, konst: konst, eval: func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return f.beside(y)
		}
		w := y(f)
		if w.IsNull() || f.err != nil {
			return sqlvalue.Value{}
		}
		if w.Sign() == 0 {
			return c.zeroDivisor(f)
		}
		r := sqlvalue.DivTrunc(v, w, 0)
		if f.strictWrite && (a.moment || b.moment) {
			return f.refuse("DIV of a date or time in a write")
		}
		n, over := r.ToInt(unsigned)
		switch {
		case over != 0:
		case intOperands:
			if c.d.is(leastDivFails) && !unsigned && n == 1<<63 {
				over = -1
			}
		case unsigned && r.Sign() == 0 && v.Sign()*w.Sign() < 0 && c.d.is(minusZeroUnsure):
			whole := v.Scale() == 0 && w.Scale() == 0
			if !c.d.is(minusZeroFails) || !whole && (scaleUnsure(a) || scaleUnsure(b)) {
				return f.refuse("unsigned DIV below zero")
			}
			if whole {
				over = -1
			}
		}
		if over != 0 {
			return c.quotientOverflows(f, intOperands, members || konst || r.Digits() > sqlvalue.MaxDigits, unsigned)
		}
		if unsigned {
			return sqlvalue.NewUint(n)
		}
		return sqlvalue.NewInt(int64(n))
	}}, nil
}

// scaleUnsure tells whether a decimal may have other digits behind the point than
// its value here: it was chosen among others.
func scaleUnsure(e expr) bool {
	return e.typ.Class == DecimalClass && !e.column && !e.lit && !e.arithmetic
}

// quotientOverflows is the error of a DIV out of range. A quotient of other than
// integers is a decimal, whose conversion fails first in a strict write.
func (c *compiler) quotientOverflows(f *frame, ints, unsure, unsigned bool) sqlvalue.Value {
	switch {
	case !ints && f.strictWrite && !c.d.is(quotientIsDecimal):
		return f.refuse("overflow of DIV")
	case !ints && (f.strictUnsure || f.strictWrite && unsure):
		return f.refuse("overflow of DIV in a write")
	case !ints && f.strictWrite && c.d.is(bitsOfDecimal):
		return f.fail(1916, "Got overflow when converting to INT")
	case !ints && f.strictWrite:
		return f.fail(1292, "Truncated incorrect DECIMAL value")
	case unsigned:
		return f.fail(1690, "BIGINT UNSIGNED value is out of range")
	}
	return f.fail(1690, "BIGINT value is out of range")
}

func (c *compiler) modulo(a, b expr) (expr, error) {
	if c.d.is(branchCasts) && (isMember(a.typ) && b.typ.Class == DecimalClass || isMember(b.typ) && a.typ.Class == DecimalClass) {
		return expr{}, unsupported("remainder of an ENUM or SET and a decimal")
	}
	a, b = c.unsignedStamp(c.summand(a)), c.unsignedStamp(c.summand(b))
	cls, err := c.numericClass(a, b)
	if err != nil {
		return expr{}, err
	}
	e := expr{konst: a.konst && b.konst}
	if cls == DoubleClass {
		if c.d.is(textDivUnsure) && (a.typ.Class == StringClass && b.typ.Class == DecimalClass || a.typ.Class == DecimalClass && b.typ.Class == StringClass) {
			return expr{}, unsupported("remainder of text and decimal")
		}
		p, q := c.double(a), c.double(b)
		e.typ, e.arithmetic = computedDouble(a, b), !e.konst
		e.typ.Unsigned = a.typ.Unsigned
		value := c.computed(e.typ)
		e.eval = func(f *frame) sqlvalue.Value {
			v, null := p(f)
			if null {
				return f.beside(asValue(q))
			}
			w, null := q(f)
			if null || f.err != nil {
				return sqlvalue.Value{}
			}
			if w == 0 {
				return c.zeroDivisor(f)
			}
			r := math.Mod(v, w)
			if r == 0 && v < 0 && f.strictWrite && c.d.is(zerosEqual) {
				return f.refuse("minus zero out of %, in a write")
			}
			return value(f, r)
		}
		return e, nil
	}
	x, y := c.exact(a), c.exact(b)
	if cls == IntClass {
		x, y = a.asInteger(), b.asInteger()
		e.typ = bigInt
		if a.typ.Unsigned {
			e.typ = bigUint
		}
		e.typ.Prec = max(a.typ.Prec, b.typ.Prec)
	} else {
		e.typ = Type{Class: DecimalClass, Scale: max(a.typ.Scale, b.typ.Scale), Unsigned: a.typ.Unsigned}
		e.typ.Prec = max(intDigits(a.typ), intDigits(b.typ)) + e.typ.Scale
		e.keepScale = c.d.is(branchCasts)
	}
	unsigned := e.typ.Unsigned
	e.eval = func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return f.beside(y)
		}
		w := y(f)
		if w.IsNull() || f.err != nil {
			return sqlvalue.Value{}
		}
		if w.Sign() == 0 {
			return c.zeroDivisor(f)
		}
		r := sqlvalue.ModExact(v, w)
		if cls == DecimalClass && r.Sign() == 0 && v.Sign() < 0 && c.d.is(signedZero) {
			return f.refuse("decimal of minus zero")
		}
		if cls == DecimalClass {
			if v.Sign() == 0 && c.d.is(zeroSum) {
				return sqlvalue.NewDecimal64(0, 0)
			}
			return r
		}
		n, _ := r.ToInt(unsigned)
		if unsigned {
			return sqlvalue.NewUint(n)
		}
		return sqlvalue.NewInt(int64(n))
	}
	return e, nil
}
