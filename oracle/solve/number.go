package solve

import (
	"math"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// truncated records that a string was not wholly a number: a warning in a
// query, error 1292 where a row is written in strict mode.
func (f *frame) truncated(what, s string) { f.lossy(loud, 1292, what, s) }

func (f *frame) lossy(r reading, code uint16, what, s string) {
	switch {
	case r == silent:
	case f.emptied && s == "":
		f.refuse("number in a TEXT or BLOB that was emptied before")
	case f.strictUnsure || r == vague && f.strictWrite:
		f.refuse("conversion in the WHERE of an UPDATE")
	case f.strictWrite:
		f.fail(code, "Truncated incorrect %s value: '%s'", what, s)
	default:
		f.warnings++
	}
}

func endsInSpace(s string) bool { return s != "" && s[len(s)-1] == ' ' }

func (d Dialect) stringToDouble(f *frame, s string, r reading) float64 {
	n := sqlvalue.NumericPrefix(s)
	x, over := n.Double()
	if n.Rest && d.is(zeroByteEnds) && !n.Empty {
		if i := strings.IndexByte(s, 0); i >= 0 && strings.HasSuffix(s[:i], n.Text) {
			return x
		}
	}
	if d.is(spacesWarn) && endsInSpace(s) {
		f.warnings++
	}
	if n.Rest || over || (n.Empty && d.is(emptyStringWarns)) {
		f.lossy(r, 1292, "DOUBLE", s)
	}
	return x
}

// double returns an accessor for the expression as a double.
func (c *compiler) double(e expr) func(*frame) (float64, bool) {
	c.noteText(e)
	if e.castDecimal && c.d.is(castOverflowUnsure) {
		return func(f *frame) (float64, bool) { f.refuse("double of a CAST AS DECIMAL"); return 0, true }
	}
	if c.inWhere && e.konst && !e.lit && e.typ.Class == IntClass && e.typ.Unsigned && c.d.is(bitsAreSigned) {
		x := e.eval
		return func(f *frame) (float64, bool) {
			v := x(f)
			if huge(v) {
				f.refuse("large computed constant as a double in a condition")
			}
			return v.ToDouble(), v.IsNull()
		}
	}
	if (e.typ.Class == BitClass || e.bits) && c.d.is(bitsAreSigned) {
		x := e.eval
		return func(f *frame) (float64, bool) {
			v := x(f)
			return float64(v.Int()), v.IsNull()
		}
	}
	if e.notNumber {
		return func(f *frame) (float64, bool) { f.refuse("number of a branch between text and others"); return 0, true }
	}
	e = c.numbered(e)
	eval, d, reading := e.eval, c.d, e.reading
	switch e.typ.Class {
	case StringClass:
		return func(f *frame) (float64, bool) {
			v := eval(f)
			if v.IsNull() {
				return 0, true
			}
			return d.stringToDouble(f, v.Str(), reading), false
		}
	default:
		return func(f *frame) (float64, bool) {
			v := eval(f)
			return v.ToDouble(), v.IsNull()
		}
	}
}

// exact returns an accessor for the expression as an Int, Uint or Decimal.
func (c *compiler) exact(e expr) func(*frame) sqlvalue.Value { return c.exactOr(e, 1292) }

// exactOr is exact with the error code that a bad string has.
func (c *compiler) exactOr(e expr, code uint16) func(*frame) sqlvalue.Value {
	if e.notNumber {
		return func(f *frame) sqlvalue.Value { return f.refuse("number of a branch between text and others") }
	}
	e = c.numbered(e)
	eval, reading, literal, mixed := e.eval, e.reading, e.lit, e.mixedText
	restUnseen := (e.computed || e.castText || e.column && e.reading == silent) && c.d.is(computedRestUnseen)
	if reading == silent {
		if reading = vague; e.column {
			reading = loud
		}
	}
	switch e.typ.Class {
	case IntClass, DecimalClass, YearClass, NullClass:
		return eval
	case StringClass:
		return func(f *frame) sqlvalue.Value {
			v := eval(f)
			if v.IsNull() {
				return v
			}
			n := sqlvalue.NumericPrefix(v.Str())
			if n.Empty || n.Rest && !restUnseen {
				code := code
				if !n.Empty || literal {
					code = 1292
				}
				if code != 1292 && !e.column && f.strictWrite {
					return f.refuse("text of a branch or function that is no decimal, in a write")
				}
				f.lossy(reading, code, "DECIMAL", v.Str())
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
			if d := v.ToDouble(); mixed || e.mixedLarge && (math.Abs(d) >= 1<<53 || d != math.Trunc(d)) {
				return f.refuse("decimal of a double chosen among other types")
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

// noteText records a constant text that is read as a number and is none: it may
// be folded, with its error, before a row is read.
func (c *compiler) noteText(e expr) {
	if !e.konst || e.typ.Class != StringClass || e.number != nil || c.badLiteral {
		return
	}
	f := frame{views: c.views}
	v := e.eval(&f)
	if n := sqlvalue.NumericPrefix(v.Str()); f.err == nil && !v.IsNull() && (n.Rest || n.Empty) {
		c.badLiteral = true
	}
}

// truth returns an accessor for the expression as a condition.
func (c *compiler) truth(e expr) func(*frame) sqlvalue.Truth {
	if e.number != nil {
		return c.truth(*e.number)
	}
	c.noteText(e)
	if e.notNumber {
		return func(f *frame) sqlvalue.Truth {
			f.refuse("number of a branch between text and others")
			return sqlvalue.Unknown
		}
	}
	e = c.numbered(e)
	eval, reading := e.eval, e.reading
	if plain := eval; e.greatest && c.d.is(conditionByInt) {
		eval = func(f *frame) sqlvalue.Value {
			v := plain(f)
			if v.IsNull() {
				f.refuse("GREATEST or LEAST of NULL as a condition")
			}
			return v
		}
	}
	if e.ofBits {
		// As a condition it may be computed in another type.
		plain := eval
		eval = func(f *frame) sqlvalue.Value {
			v := plain(f)
			if isSQL(f.err) {
				f.err = &Unsupported{"overflow of a condition on a BIT, date or time"}
			}
			return v
		}
	}
	switch e.typ.Class {
	case StringClass:
		d := c.d
		return func(f *frame) sqlvalue.Truth {
			v := eval(f)
			if v.IsNull() {
				return sqlvalue.Unknown
			}
			return truthOf(d.stringToDouble(f, v.Str(), reading) != 0)
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
