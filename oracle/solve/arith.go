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
	wraps := c.d.is(zeroMinusLeast)
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
			if v.IsNull() {
				return f.beside(y)
			}
			w := y(f)
			if w.IsNull() || f.err != nil {
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
		e.eval = func(f *frame) sqlvalue.Value {
			v := x(f)
			if v.IsNull() {
				return f.beside(y)
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
			if null {
				return f.beside(asValue(q))
			}
			w, null := q(f)
			if null || f.err != nil {
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

// beside evaluates the operand beside a NULL. The value is NULL, but whether an error in
// the other operand shows depends on the operator, the types, the server, and what it
// has computed before.
func (f *frame) beside(y func(*frame) sqlvalue.Value) sqlvalue.Value {
	if f.err == nil {
		warnings := f.warnings
		if y(f); f.err != nil {
			f.err = &Unsupported{"error in an operand beside NULL"}
		}
		f.warnings = warnings
	}
	return sqlvalue.Value{}
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
