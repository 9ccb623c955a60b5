package solve

import (
	"math"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// doubled makes a DOUBLE of a FLOAT.
func doubled(e expr) expr {
	x := e.eval
	e.typ, e.column = double, false
	e.eval = func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() {
			return v
		}
		return sqlvalue.NewDouble(v.Double())
	}
	return e
}

// plainNumber brings an argument into the form of a number: integer, decimal or
// double.
func (c *compiler) plainNumber(e expr) (expr, error) {
	switch e.typ.Class {
	case IntClass, DecimalClass, DoubleClass:
		return e, nil
	case FloatClass:
		return doubled(e), nil
	}
	return e, unsupported("numeric function of other than an integer, decimal or double")
}

// numeric compiles a function of one number; its eval sees no NULL.
func (c *compiler) numeric(args []expr, t func(Type) Type, compute func(f *frame, v sqlvalue.Value) sqlvalue.Value) (expr, error) {
	a, err := c.plainNumber(args[0])
	if err != nil {
		return expr{}, err
	}
	x := a.eval
	// What is declared with fewer digits than it has is one of several values.
	scale := a.typ.Scale
	typ := t(a.typ)
	return expr{typ: typ, konst: a.konst, computed: true, arithmetic: typ.Class == DoubleClass && !a.konst, eval: func(f *frame) sqlvalue.Value {
		v := x(f)
		if v.IsNull() || f.err != nil {
			return sqlvalue.Value{}
		}
		if v.Kind() == sqlvalue.Decimal && v.Scale() > scale {
			return f.refuse("function of a quotient")
		}
		return compute(f, v)
	}}, nil
}

func same1(t Type) Type { return t }

func (c *compiler) abs(args []expr) (expr, error) {
	return c.numeric(args, same1, func(f *frame, v sqlvalue.Value) sqlvalue.Value {
		switch {
		case v.Kind() == sqlvalue.Double:
			return sqlvalue.NewDouble(math.Abs(v.Double()))
		case v.Kind() == sqlvalue.Int && v.Int() == math.MinInt64:
			return f.fail(1690, "BIGINT value is out of range")
		case v.Kind() == sqlvalue.Int && v.Int() < 0:
			return sqlvalue.NewInt(-v.Int())
		case v.Kind() == sqlvalue.Decimal && v.Sign() < 0:
			return sqlvalue.NegExact(v)
		}
		return v
	})
}

func (c *compiler) sign(args []expr) (expr, error) {
	return c.numeric(args, func(Type) Type { return boolInt }, func(_ *frame, v sqlvalue.Value) sqlvalue.Value {
		return sqlvalue.NewInt(int64(v.Sign()))
	})
}

// whole compiles FLOOR or CEIL: integers stay, decimals become integers.
func (c *compiler) whole(args []expr, up bool) (expr, error) {
	if t := args[0].typ; t.Class == DecimalClass && intDigits(t) > 17 {
		return expr{}, unsupported("FLOOR or CEIL of a wide decimal")
	}
	typ := func(t Type) Type {
		if t.Class == DoubleClass && c.d.is(roundedIsLong) {
			t.Origin = wholeDouble
		}
		if t.Class != DecimalClass {
			return t
		}
		out := bigInt
		if t.Unsigned && c.d.is(branchesKeepUnsigned) {
			out = bigUint
		}
		out.Prec = intDigits(t) + 1
		return out
	}
	unsigned := args[0].typ.Unsigned && c.d.is(branchesKeepUnsigned)
	return c.numeric(args, typ, func(f *frame, v sqlvalue.Value) sqlvalue.Value {
		switch v.Kind() {
		case sqlvalue.Double:
			if up {
				return sqlvalue.NewDouble(math.Ceil(v.Double()))
			}
			return sqlvalue.NewDouble(math.Floor(v.Double()))
		case sqlvalue.Decimal:
			cut := v.Truncate(0)
			n, over := cut.ToInt(false)
			if over != 0 {
				return f.refuse("FLOOR or CEIL of a wide decimal")
			}
			i := int64(n)
			switch d := sqlvalue.CmpExact(v, cut); {
			case up && d > 0:
				i++
			case !up && d < 0:
				i--
			}
			if unsigned {
				return sqlvalue.NewUint(uint64(i))
			}
			return sqlvalue.NewInt(i)
		}
		return v
	})
}

func (c *compiler) floor(args []expr) (expr, error) { return c.whole(args, false) }

func (c *compiler) ceil(args []expr) (expr, error) { return c.whole(args, true) }

// digits reads the literal number of digits behind the point that ROUND and
// TRUNCATE keep, at most so many as there are.
func (c *compiler) digits(args []expr) (int, error) {
	if len(args) == 1 {
		return 0, nil
	}
	if d := args[1]; d.lit && d.typ.Class == IntClass {
		if n := d.eval(nil).Int(); n >= 0 && n <= int64(args[0].typ.Scale) {
			return int(n), nil
		}
	}
	return 0, unsupported("ROUND or TRUNCATE to other than a literal number of the digits that there are")
}

func (c *compiler) atScale(args []expr, byDouble bool, change func(v sqlvalue.Value, scale int) sqlvalue.Value) (expr, error) {
	if t := args[0].typ.Class; t == DoubleClass || t == FloatClass {
		return expr{}, unsupported("ROUND or TRUNCATE of a double")
	}
	n, err := c.digits(args)
	if err != nil {
		return expr{}, err
	}
	typ := func(t Type) Type {
		if t.Class == DecimalClass {
			t.Prec, t.Scale = intDigits(t)+1+n, n
			t.Unsigned = t.Unsigned && c.d.is(branchesKeepUnsigned)
		}
		return t
	}
	byDouble = byDouble && len(args) > 1 && c.d.is(roundsByDouble)
	return c.numeric(args, typ, func(f *frame, v sqlvalue.Value) sqlvalue.Value {
		if v.Kind() == sqlvalue.Decimal {
			return change(v, n)
		}
		if x := v.ToDouble(); byDouble && math.Abs(x) >= 1<<53 {
			switch {
			case v.Kind() == sqlvalue.Uint:
				return f.refuse("ROUND of a large unsigned number")
			case x >= 1<<63:
				return sqlvalue.NewInt(math.MinInt64)
			}
			return sqlvalue.NewInt(int64(x))
		}
		return v
	})
}

// round rounds half away from zero.
func (c *compiler) round(args []expr) (expr, error) {
	return c.atScale(args, true, sqlvalue.Value.Rescale)
}

func (c *compiler) truncate(args []expr) (expr, error) {
	return c.atScale(args, false, sqlvalue.Value.Truncate)
}

func (c *compiler) sqrt(args []expr) (expr, error) {
	return c.numeric(args, func(Type) Type { return double }, func(_ *frame, v sqlvalue.Value) sqlvalue.Value {
		x := v.ToDouble()
		if x < 0 {
			return sqlvalue.Value{}
		}
		return sqlvalue.NewDouble(math.Sqrt(x))
	})
}
