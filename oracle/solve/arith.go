package solve

import (
	"math"

	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// numericClass returns the class in which + - * % compute, from the operands'
// classes: a string or double makes it double, else a decimal makes it decimal.
// https://dev.mysql.com/doc/refman/9.7/en/arithmetic-functions.html
func (c *compiler) numericClass(a, b expr) (Class, error) {
	cls := IntClass
	for _, e := range [2]expr{a, b} {
		if e.stamp && !e.stampColumn && c.d.is(signedMoments) {
			// Whether it is unsigned is not known.
			return 0, unsupported("arithmetic on a TIMESTAMP")
		}
		if e.castText && c.d.is(castTextRounds) {
			return 0, unsupported("arithmetic on CAST AS CHAR")
		}
		switch e.typ.Class {
		case NullClass:
			if a.typ.Class == DecimalClass || b.typ.Class == DecimalClass {
				return 0, unsupported("arithmetic of NULL and a decimal")
			}
			if c.d.is(nullIsDouble) {
				cls = DoubleClass
			}
		case IntClass, YearClass:
		case DecimalClass:
			if cls == IntClass {
				cls = DecimalClass
			}
		case StringClass, DoubleClass, FloatClass:
			cls = DoubleClass
		default:
			return 0, unsupported("arithmetic on a temporal, bit, enum or set")
		}
	}
	return cls, nil
}

// bothUnsigned tells whether a decimal computed of two operands is unsigned.
func (c *compiler) bothUnsigned(a, b expr) bool {
	return c.d.is(bothUnsigned) && a.typ.Unsigned && b.typ.Unsigned
}

func intDigits(t Type) int { return max(t.Prec-t.Scale, 0) }

func (c *compiler) arith(op opcode.Op, a, b expr) (expr, error) {
	a, b = c.unsignedStamp(c.summand(a)), c.unsignedStamp(c.summand(b))
	cls, err := c.numericClass(a, b)
	if err != nil {
		return expr{}, err
	}
	e := expr{konst: a.konst && b.konst, ofBits: a.bits || b.bits || a.moment || b.moment || a.ofBits || b.ofBits}
	x, y := a.eval, b.eval
	eager, wraps := c.d.is(eager), c.d.is(zeroMinusLeast)
	leastUnsure := op == opcode.Mul && c.d.is(leastProductUnsure)
	switch cls {
	case IntClass:
		unsigned := a.typ.Unsigned || b.typ.Unsigned
		if (a.moment || b.moment) && c.d.is(signedMoments) {
			unsigned = a.typ.Unsigned && b.typ.Unsigned
		}
		if op == opcode.Minus && c.d.Mode&NoUnsignedSubtraction != 0 {
			unsigned = false
		}
		e.typ = bigInt
		if unsigned {
			e.typ = bigUint
		}
		x, y = a.asInteger(), b.asInteger()
		raw := unsigned && op == opcode.Mul && c.d.is(mulRawBits)
		e.typ.Prec = intResultPrec(op, a.typ, b.typ)
		f64 := map[opcode.Op]func(a, b sqlvalue.Value, u bool) (sqlvalue.Value, bool){
			opcode.Plus: sqlvalue.Add64, opcode.Minus: sqlvalue.Sub64, opcode.Mul: sqlvalue.Mul64}[op]
		e.eval = func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() && !eager {
				return f.beside(y)
			}
			w := y(f)
			if v.IsNull() || w.IsNull() || f.err != nil {
				return sqlvalue.Value{}
			}
			if raw {
				v, w = sqlvalue.NewUint(v.Uint()), sqlvalue.NewUint(w.Uint())
			}
			r, ok := f64(v, w, unsigned)
			if ok && leastUnsure && r == least {
				return f.refuse("least BIGINT as a product")
			}
			if !ok {
				if op == opcode.Minus && wraps && v.Sign() == 0 && w == least {
					return w
				}
				if unsigned {
					return f.fail(1690, "BIGINT UNSIGNED value is out of range")
				}
				return f.fail(1690, "BIGINT value is out of range")
			}
			return r
		}
	case DecimalClass:
		e.keepScale, e.arithmetic = c.d.is(branchCasts), !e.konst
		x, y = c.exact(a), c.exact(b)
		maxScale := c.d.maxScale()
		e.typ = Type{Class: DecimalClass, Scale: max(a.typ.Scale, b.typ.Scale)}
		if op == opcode.Mul {
			e.typ.Scale = min(a.typ.Scale+b.typ.Scale, maxScale)
			e.typ.Prec = a.typ.Prec + b.typ.Prec
		} else {
			e.typ.Prec = max(intDigits(a.typ), intDigits(b.typ)) + 1 + e.typ.Scale
		}
		shortZero, shortSum, shortProduct := c.d.is(zeroProduct), c.d.is(zeroSum), c.d.is(productDropsWords)
		// Beside a date or time an exact number without fraction is a BIGINT.
		whole := (a.moment || b.moment) && c.d.is(signedMoments) && e.typ.Scale == 0
		e.typ.Unsigned = c.bothUnsigned(a, b)
		positive := op == opcode.Minus && e.typ.Unsigned && c.d.is(unsignedFails) && c.d.Mode&NoUnsignedSubtraction == 0
		beside := c.afterNull(b, false, y)
		e.eval = func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return beside(f)
			}
			w := y(f)
			if w.IsNull() || f.err != nil {
				return sqlvalue.Value{}
			}
			var r sqlvalue.Value
			switch op {
			case opcode.Plus:
				r = sqlvalue.AddExact(v, w)
				if shortSum && r.Sign() == 0 && v.Sign() < 0 != (w.Sign() < 0) {
					r = sqlvalue.NewDecimal64(0, 0)
				}
			case opcode.Minus:
				if r = sqlvalue.AddExact(v, sqlvalue.NegExact(w)); positive && r.Sign() < 0 {
					return f.fail(1690, "DECIMAL UNSIGNED value is out of range")
				}
				if shortSum && r.Sign() == 0 {
					r = sqlvalue.NewDecimal64(0, 0)
				}
			default:
				if r = sqlvalue.MulExact(v, w); shortProduct {
					r = withoutZeroWords(r)
				}
				if r.Sign() == 0 && (shortZero || shortSum && v.Sign() < 0 != (w.Sign() < 0)) {
					r = sqlvalue.NewDecimal64(0, 0)
				}
			}
			if r.Digits() > sqlvalue.MaxDigits {
				return f.refuse("decimal of more than 65 digits")
			}
			if whole && (beyondSigned(v) || beyondSigned(w) || beyondSigned(r)) {
				return f.refuse("decimal beyond the signed range beside a date or time")
			}
			return r
		}
	default:
		p, q := c.double(a), c.double(b)
		e.typ, e.arithmetic = computedDouble(a, b), !e.konst
		e.nullDouble = a.typ.Class == NullClass || b.typ.Class == NullClass
		value := c.computed(e.typ)
		e.eval = func(f *frame) sqlvalue.Value {
			v, null := p(f)
			if null && !eager {
				return f.beside(asValue(q))
			}
			w, null2 := q(f)
			if null || null2 || f.err != nil {
				return sqlvalue.Value{}
			}
			switch op {
			case opcode.Plus:
				v += w
			case opcode.Minus:
				v -= w
			default:
				v *= w
			}
			return value(f, v)
		}
	}
	return e, nil
}

// withoutZeroWords drops words of nine digits that are zero from the end of a
// fraction.
func withoutZeroWords(v sqlvalue.Value) sqlvalue.Value {
	for v.Scale() > 0 {
		short := v.Truncate((v.Scale() - 1) / 9 * 9)
		if sqlvalue.CmpExact(short, v) != 0 {
			break
		}
		v = short
	}
	return v
}

// beyondSigned tells whether an exact number is no BIGINT.
func beyondSigned(v sqlvalue.Value) bool {
	_, over := v.ToInt(false)
	return over != 0
}

var least = sqlvalue.NewInt(math.MinInt64)

// beside evaluates the operand beside a NULL. Servers agree on the value, which
// is NULL, but not on whether an error in the other operand shows.
func (f *frame) beside(y func(*frame) sqlvalue.Value) sqlvalue.Value {
	if f.err == nil {
		if y(f); f.err != nil {
			f.err = &Unsupported{"error in an operand beside NULL"}
		}
	}
	return sqlvalue.Value{}
}

// afterNull returns what becomes of the operand b, read by y, where the one on its
// left is NULL: it is evaluated or, unless both always are, not looked at. A
// constant may have been computed before, and rows of several tables may be
// compared otherwise.
func (c *compiler) afterNull(b expr, both bool, y func(*frame) sqlvalue.Value) func(*frame) sqlvalue.Value {
	switch {
	case b.konst || c.joins || !c.d.is(stopsAtNull):
		return func(f *frame) sqlvalue.Value { return f.beside(y) }
	case both:
		return func(f *frame) sqlvalue.Value { y(f); return sqlvalue.Value{} }
	}
	return func(*frame) sqlvalue.Value { return sqlvalue.Value{} }
}

// asValue makes an accessor fit for beside.
func asValue[T any](get func(*frame) (T, bool)) func(*frame) sqlvalue.Value {
	return func(f *frame) sqlvalue.Value { get(f); return sqlvalue.Value{} }
}

func intResultPrec(op opcode.Op, a, b Type) int {
	if op == opcode.Mul {
		return a.Prec + b.Prec
	}
	return max(a.Prec, b.Prec) + 1
}

// finite returns a double, or error 1690 where it is none.
func (f *frame) finite(v float64) sqlvalue.Value {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return f.fail(1690, "DOUBLE value is out of range")
	}
	return sqlvalue.NewDouble(v)
}

// computed returns what makes a value of a computed double of type t. MariaDB sends
// what was made of FLOOR or CEIL with as many digits behind the point as its operands
// say, FLOOR and CEIL none: 0.4286 for FLOOR(3.5e0) / 7.
// https://mariadb.com/docs/server/reference/sql-functions/numeric-functions/floor
func (c *compiler) computed(t Type) func(*frame, float64) sqlvalue.Value {
	if t.Origin == anyDouble || !c.d.is(roundedIsLong) {
		return (*frame).finite
	}
	return func(f *frame, v float64) sqlvalue.Value {
		if v != math.Trunc(v) {
			return f.refuse("fraction made of FLOOR or CEIL of a double")
		}
		return f.finite(v)
	}
}

func (c *compiler) negate(a expr) (expr, error) {
	moment := isTemporal(a.typ)
	a = c.summand(a)
	if moment && c.d.is(negationIsDouble) {
		x := c.double(a)
		t := double
		t.Origin = madeOfWhole
		return expr{typ: t, konst: a.konst, eval: func(f *frame) sqlvalue.Value {
			v, null := x(f)
			if null {
				return sqlvalue.Value{}
			}
			return sqlvalue.NewDouble(-v)
		}}, nil
	}
	e := expr{typ: a.typ, konst: a.konst, moment: a.moment}
	e.typ.Unsigned = false
	x := a.eval
	switch cls := a.typ.Class; {
	case cls == NullClass && c.d.is(nullIsDouble):
		e.typ = double
		e.eval = x
	case cls == IntClass || cls == NullClass || cls == YearClass:
		if a.lit && a.typ.Class == IntClass && a.typ.Unsigned {
			// -9223372036854775808 is written as the negation of an unsigned
			// literal; larger ones become decimals.
			v := a.eval(nil)
			if v.Uint() == 1<<63 {
				return konst(bigInt, sqlvalue.NewInt(math.MinInt64)), nil
			}
			d := sqlvalue.NegExact(v)
			return konst(decimalType(d), d), nil
		}
		if v, ok := c.negativeConstant(a); ok {
			d := sqlvalue.NegExact(v).ToDecimal()
			return konst(decimalType(d), d), nil
		}
		if a.lit && a.typ.Class == IntClass {
			v := a.eval(nil)
			if v.Int() == math.MinInt64 {
				d := sqlvalue.NegExact(v)
				return konst(decimalType(d), d), nil
			}
			return intLiteralOf(-v.Int(), a.typ), nil
		}
		e.typ.Class = IntClass
		e.typ.Bits = 64
		e.eval = func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			if a.konst && v.Kind() == sqlvalue.Uint && v.Uint() > 1<<63 {
				return f.refuse("negation of a large constant")
			}
			if v.Kind() == sqlvalue.Uint && v.Uint() > 1<<63 || v.Kind() == sqlvalue.Int && v.Int() == math.MinInt64 {
				return f.fail(1690, "BIGINT value is out of range")
			}
			return sqlvalue.NewInt(-v.Int())
		}
	case cls == DecimalClass:
		e.lit = a.lit
		e.eval = func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return v
			}
			return sqlvalue.NegExact(v)
		}
	case cls == StringClass || cls == DoubleClass || cls == FloatClass:
		if a.castText && c.d.is(castTextRounds) {
			return expr{}, unsupported("arithmetic on CAST AS CHAR")
		}
		p := c.double(a)
		e.typ, e.arithmetic = computedDouble(a), !e.konst
		e.eval = func(f *frame) sqlvalue.Value {
			v, null := p(f)
			if null {
				return sqlvalue.Value{}
			}
			return sqlvalue.NewDouble(-v)
		}
	default:
		return expr{}, unsupported("arithmetic on a temporal, bit, enum or set")
	}
	return e, nil
}

// negativeConstant returns the value of a constant integer whose negation is a
// decimal: its bits are those of a signed number below zero.
func (c *compiler) negativeConstant(a expr) (sqlvalue.Value, bool) {
	if !a.konst || a.typ.Class != IntClass || a.lit && !c.d.is(negatesLiterals) || !c.d.is(negatesConstants) {
		return sqlvalue.Value{}, false
	}
	f := frame{views: c.views}
	v := a.eval(&f)
	return v, f.err == nil && !v.IsNull() && int64(v.Uint()) < 0
}

func intLiteralOf(i int64, t Type) expr { return konst(t, sqlvalue.NewInt(i)) }

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
		value, beside := c.computed(e.typ), c.afterNull(b, true, asValue(q))
		e.eval = func(f *frame) sqlvalue.Value {
			v, null := p(f)
			if null {
				return beside(f)
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
	beside := c.afterNull(b, false, y)
	e.eval = func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return beside(f)
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
	beside := c.afterNull(b, intOperands, y)
	if members || a.moment || b.moment {
		beside = func(f *frame) sqlvalue.Value { return f.beside(y) }
	}
	return expr{typ: t, konst: konst, eval: func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return beside(f)
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
		value, beside := c.computed(e.typ), c.afterNull(b, true, asValue(q))
		e.eval = func(f *frame) sqlvalue.Value {
			v, null := p(f)
			if null {
				return beside(f)
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
	beside := c.afterNull(b, cls == IntClass, y)
	e.eval = func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return beside(f)
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
