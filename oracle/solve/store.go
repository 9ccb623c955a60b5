package solve

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// store converts a value of type from to what the column keeps; in strict mode
// a loss is an error.
// https://dev.mysql.com/doc/refman/9.7/en/out-of-range-and-overflow.html
func (c *compiler) store(f *frame, col *Column, v sqlvalue.Value, from Type) sqlvalue.Value {
	if f.err != nil {
		return v
	}
	if v.IsNull() {
		if col.NotNull && !f.nullsLater {
			return f.fail(1048, "Column '%s' cannot be null", col.Name)
		}
		return v
	}
	if c.d.Mode&Strict == 0 {
		return f.refuse("write without strict mode")
	}
	if v.Kind() == sqlvalue.Decimal && from.Class == DecimalClass && v.Scale() > from.Scale && !c.d.is(divisionKeepsWords) {
		v = v.Rescale(from.Scale)
	}
	switch col.Type.Class {
	case IntClass:
		return c.storeInt(f, col, v)
	case DecimalClass:
		return c.storeDecimal(f, col, v)
	case DoubleClass, FloatClass:
		return c.storeDouble(f, col, v)
	case StringClass:
		return c.storeString(f, col, v, from)
	}
	return f.refuse("write to a column of this type")
}

func (f *frame) outOfRange(col *Column) sqlvalue.Value {
	return f.fail(1264, "Out of range value for column '%s' at row 1", col.Name)
}

// badNumber fails for a string that is no number, or not only a number.
func (c *compiler) badNumber(f *frame, col *Column, n sqlvalue.Numeric, what, s string) {
	switch {
	case f.castsStored:
		f.fail(1292, "Truncated incorrect %s value: '%s'", what, s)
	case n.Empty || c.d.is(badNumbersAlike) && (what != "integer" || c.d.is(updateCasts)):
		if c.d.is(updateCasts) && what == "integer" && !n.Integer {
			f.refuse("fraction with a rest into an integer column")
			return
		}
		f.fail(1366, "Incorrect %s value: '%s' for column '%s' at row 1", what, s, col.Name)
	default:
		f.fail(1265, "Data truncated for column '%s' at row 1", col.Name)
	}
}

func intBounds(t Type) (lo int64, hi uint64) {
	if t.Unsigned {
		return 0, math.MaxUint64 >> (64 - t.Bits)
	}
	return math.MinInt64 >> (64 - t.Bits), math.MaxInt64 >> (64 - t.Bits)
}

func (c *compiler) storeInt(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	switch v.Kind() {
	case sqlvalue.String, sqlvalue.Bytes:
		n := sqlvalue.NumericPrefix(v.Str())
		if n.Rest || n.Empty {
			c.badNumber(f, col, n, "integer", v.Str())
			return v
		}
		d, ok := n.Decimal()
		if !ok {
			return f.outOfRange(col)
		}
		v = d
	case sqlvalue.Double, sqlvalue.Float:
		x := math.RoundToEven(v.Double())
		if limit, out := doubleLimit(col.Type); x == limit {
			if c.d.is(plainDoubles) {
				return f.refuse("double at the limit of BIGINT")
			}
			return out
		}
		if math.Abs(x) >= 1<<64 {
			return f.outOfRange(col)
		}
		d, _ := sqlvalue.NumericPrefix(sqlvalue.FormatDouble(x, 64)).Decimal()
		v = d
	}
	u, over := v.ToInt(col.Type.Unsigned)
	if col.Type.Unsigned && v.Kind() == sqlvalue.Decimal && v.Sign() < 0 {
		// Already a fraction below zero is out of range.
		over = -1
	}
	if over != 0 {
		return f.outOfRange(col)
	}
	lo, hi := intBounds(col.Type)
	if col.Type.Unsigned {
		if u > hi {
			return f.outOfRange(col)
		}
		return sqlvalue.NewUint(u)
	}
	if i := int64(u); i < lo || i > int64(hi) {
		return f.outOfRange(col)
	}
	return sqlvalue.NewInt(int64(u))
}

// doubleLimit returns the double that the largest BIGINT is rounded to: it is
// stored as that BIGINT although it is greater.
func doubleLimit(t Type) (float64, sqlvalue.Value) {
	switch {
	case t.Bits < 64:
		return math.NaN(), sqlvalue.Value{}
	case t.Unsigned:
		return 1 << 64, sqlvalue.NewUint(math.MaxUint64)
	}
	return 1 << 63, sqlvalue.NewInt(math.MaxInt64)
}

func (c *compiler) storeDecimal(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	switch v.Kind() {
	case sqlvalue.String, sqlvalue.Bytes:
		n := sqlvalue.NumericPrefix(v.Str())
		if n.Rest || n.Empty {
			c.badNumber(f, col, n, "decimal", v.Str())
			return v
		}
		d, ok := n.Decimal()
		if !ok {
			return f.outOfRange(col)
		}
		v = d
	case sqlvalue.Double, sqlvalue.Float:
		d, ok := sqlvalue.NumericPrefix(sqlvalue.FormatDouble(v.Double(), 64)).Decimal()
		if !ok {
			return f.outOfRange(col)
		}
		v = d
	}
	r := v.ToDecimal().Rescale(col.Type.Scale)
	if f.castsStored && r.Digits() > col.Type.Prec {
		return f.refuse("decimal beyond its column in an UPDATE")
	}
	if r.Digits() > col.Type.Prec || col.Type.Unsigned && r.Sign() < 0 {
		return f.outOfRange(col)
	}
	return r
}

func (c *compiler) storeDouble(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	if k := v.Kind(); k == sqlvalue.String || k == sqlvalue.Bytes {
		n := sqlvalue.NumericPrefix(v.Str())
		if n.Rest || n.Empty {
			c.badNumber(f, col, n, "double", v.Str())
			return v
		}
		x, over := n.Double()
		if over {
			return f.outOfRange(col)
		}
		v = sqlvalue.NewDouble(x)
	}
	x := v.ToDouble()
	if x == 0 && c.d.is(noNegativeZero) {
		x = 0
	}
	if col.Type.Unsigned && x < 0 {
		return f.outOfRange(col)
	}
	if col.Type.Class == FloatClass {
		if math.Abs(x) > math.MaxFloat32 {
			return f.outOfRange(col)
		}
		return sqlvalue.NewFloat(float32(x))
	}
	return sqlvalue.NewDouble(x)
}

func (c *compiler) storeString(f *frame, col *Column, v sqlvalue.Value, from Type) sqlvalue.Value {
	if v.Kind() == sqlvalue.Decimal && c.d.is(branchCasts) && v.Scale() > from.Scale {
		return f.refuse("text of a quotient")
	}
	s := c.d.textOf(v)
	if longDouble(v, s) || v.Kind() == sqlvalue.Double && len(s) > col.Type.Length {
		return f.refuse("double longer than its text column")
	}
	n := len(s)
	byBytes := col.Type.Binary || col.Type.Blob
	if !byBytes {
		n = utf8.RuneCountInString(s)
	}
	if n > col.Type.Length {
		cut := s
		if byBytes {
			cut = s[:col.Type.Length]
		} else {
			cut = firstRunes(s, col.Type.Length)
		}
		// Spaces beyond the limit of a character column go without an error.
		if col.Type.Binary || strings.TrimRight(s[len(cut):], " ") != "" {
			return f.fail(1406, "Data too long for column '%s' at row 1", col.Name)
		}
		s = cut
	}
	if col.Type.Fixed && !col.Type.Binary {
		s = strings.TrimRight(s, " ")
	}
	if col.Type.Binary {
		return sqlvalue.NewBytes(s)
	}
	return sqlvalue.NewString(s)
}
