package solve

import (
	"math"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// truncated records that a string was not wholly a number: a warning in a
// query, error 1292 where a row is written in strict mode.
func (f *frame) truncated(what, s string) {
	if f.strictWrite {
		f.fail(1292, "Truncated incorrect %s value: '%s'", what, s)
		return
	}
	f.warnings++
}

func (d Dialect) stringToDouble(f *frame, s string) float64 {
	n := sqlvalue.NumericPrefix(s)
	x, over := n.Double()
	if n.Rest || over || (n.Empty && d.is(emptyStringWarns)) {
		f.truncated("DOUBLE", s)
	}
	return x
}

// double returns an accessor for the expression as a double.
func (c *compiler) double(e expr) func(*frame) (float64, bool) {
	eval, d := e.eval, c.d
	switch e.typ.Class {
	case StringClass:
		return func(f *frame) (float64, bool) {
			v := eval(f)
			if v.IsNull() {
				return 0, true
			}
			return d.stringToDouble(f, v.Str()), false
		}
	default:
		return func(f *frame) (float64, bool) {
			v := eval(f)
			return v.ToDouble(), v.IsNull()
		}
	}
}

// exact returns an accessor for the expression as an Int, Uint or Decimal.
func (c *compiler) exact(e expr) func(*frame) sqlvalue.Value {
	eval := e.eval
	switch e.typ.Class {
	case IntClass, DecimalClass, YearClass, NullClass:
		return eval
	case StringClass:
		d := c.d
		return func(f *frame) sqlvalue.Value {
			v := eval(f)
			if v.IsNull() {
				return v
			}
			n := sqlvalue.NumericPrefix(v.Str())
			if n.Rest || (n.Empty && d.is(emptyStringWarns)) {
				f.truncated("DECIMAL", v.Str())
			}
			x, ok := n.Decimal()
			if !ok {
				return f.refuse("long decimal in a string")
			}
			return x
		}
	default:
		return func(f *frame) sqlvalue.Value {
			v := eval(f)
			if v.IsNull() {
				return v
			}
			x, ok := sqlvalue.NumericPrefix(sqlvalue.FormatDouble(v.ToDouble(), 64)).Decimal()
			if !ok {
				return f.refuse("large double as a decimal")
			}
			return x
		}
	}
}

// refuse stops the evaluation: the result cannot be predicted exactly.
func (f *frame) refuse(what string) sqlvalue.Value {
	if f.err == nil {
		f.err = &Unsupported{what}
	}
	return sqlvalue.Value{}
}

// bits returns an accessor for the expression as the 64 bits that the bit
// operators work on.
func (c *compiler) bits(e expr) func(*frame) (uint64, bool) {
	eval := e.eval
	switch e.typ.Class {
	case IntClass, YearClass, NullClass:
		return func(f *frame) (uint64, bool) {
			v := eval(f)
			return v.Uint(), v.IsNull()
		}
	case DecimalClass:
		return func(f *frame) (uint64, bool) {
			v := eval(f)
			if v.IsNull() {
				return 0, true
			}
			n, over := v.ToInt(false)
			if over > 0 {
				n, over = v.ToInt(true)
			}
			if over != 0 {
				f.refuse("bits of a decimal out of range")
			}
			return n, false
		}
	case StringClass:
		return func(f *frame) (uint64, bool) {
			v := eval(f)
			if v.IsNull() {
				return 0, true
			}
			n := sqlvalue.NumericPrefix(v.Str())
			if !n.Integer {
				f.refuse("bits of a string that is no integer")
				return 0, true
			}
			if n.Rest {
				f.truncated("INTEGER", v.Str())
			}
			x, ok := n.Decimal()
			u, over := x.ToInt(x.Sign() > 0)
			if !ok || over != 0 {
				f.refuse("bits of a string out of range")
			}
			return u, false
		}
	default:
		return func(f *frame) (uint64, bool) {
			v := eval(f)
			if v.IsNull() {
				return 0, true
			}
			x := math.RoundToEven(v.ToDouble())
			if x < math.MinInt64 || x >= math.MaxInt64 {
				f.refuse("bits of a double out of range")
				return 0, true
			}
			return uint64(int64(x)), false
		}
	}
}

// truth returns an accessor for the expression as a condition.
func (c *compiler) truth(e expr) func(*frame) sqlvalue.Truth {
	eval := e.eval
	switch e.typ.Class {
	case StringClass:
		d := c.d
		return func(f *frame) sqlvalue.Truth {
			v := eval(f)
			if v.IsNull() {
				return sqlvalue.Unknown
			}
			return truthOf(d.stringToDouble(f, v.Str()) != 0)
		}
	case DecimalClass, DoubleClass, FloatClass:
		return func(f *frame) sqlvalue.Truth {
			v := eval(f)
			if v.IsNull() {
				return sqlvalue.Unknown
			}
			return truthOf(v.Sign() != 0)
		}
	default:
		return func(f *frame) sqlvalue.Truth {
			v := eval(f)
			if v.IsNull() {
				return sqlvalue.Unknown
			}
			return truthOf(v.Uint() != 0)
		}
	}
}

func truthOf(b bool) sqlvalue.Truth {
	if b {
		return sqlvalue.True
	}
	return sqlvalue.False
}
