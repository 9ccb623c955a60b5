package solve

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/txnfuzz/txnfuzz/oracle/history"
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
		if c.d.stamps(col) {
			return f.refuse("NULL in a TIMESTAMP that takes none")
		}
		if col.NotNull && f.lenient {
			if isTemporal(col.Type) {
				return f.refuse("implicit default of a date or time")
			}
			if col.Type.Class == EnumClass { // its first member, or none: servers differ by version
				return f.refuse("NULL in an ENUM that takes none")
			}
			return f.lenientValue(col.implicitDefault())
		}
		if col.NotNull && !f.nullsLater {
			return f.fail(1048, "Column '%s' cannot be null", col.Name)
		}
		return v
	}
	if c.d.Mode&Strict == 0 && !f.lenient {
		return f.refuse("write without strict mode")
	}
	if v.Kind() == sqlvalue.Decimal && from.Class == DecimalClass && v.Scale() > from.Scale && !c.d.is(divisionKeepsWords) {
		v = v.Rescale(from.Scale)
	}
	if c.d.is(branchCasts) && v.Kind() == sqlvalue.Decimal && from.Class == DecimalClass && v.Scale() > from.Scale {
		return f.refuse("quotient stored")
	}
	if f.castsFirst {
		defer f.unsureBehindCast(col, v)
	}
	switch to := col.Type.Class; {
	case from.Chosen && from.Class == DateClass && c.d.is(chosenDatesAreText) && (to == IntClass || to == DecimalClass || to == DoubleClass):
		switch {
		case f.lenient || f.castsFirst:
			return f.refuse("date out of a branch stored as a number")
		case to == IntClass:
			return f.fail(1265, "Data truncated for column '%s'", col.Name)
		}
		return f.fail(1366, "Incorrect DECIMAL value: '%s' for column '%s'", v.Str(), col.Name)
	case from.Class == DateClass && (to == IntClass || to == DecimalClass || to == DoubleClass):
		v = temporalNumber(f, v)
	case isTemporal(from) && !isTemporal(col.Type) && to != StringClass:
		return f.refuse("date or time stored as another type")
	case to == StringClass && from.Class == FloatClass && from.Chosen:
		return f.refuse("text of a FLOAT out of a branch")
	case to == StringClass && from.Class == BitClass:
		return f.refuse("BIT stored as text")
	case to == IntClass || to == DecimalClass || to == DoubleClass || to == FloatClass:
		v = v.Number()
	}
	switch col.Type.Class {
	case EnumClass, SetClass:
		return c.storeMember(f, col, v)
	case BitClass:
		return c.storeBit(f, col, v)
	case YearClass:
		return c.storeYear(f, col, v)
	case IntClass:
		return c.storeInt(f, col, v)
	case DecimalClass:
		return c.storeDecimal(f, col, v)
	case DoubleClass, FloatClass:
		return c.storeDouble(f, col, v)
	case DateClass, DatetimeClass, TimestampClass, TimeClass:
		return c.storeTemporal(f, col, v, from)
	case StringClass:
		return c.storeString(f, col, v, from)
	}
	return f.refuse("write to a column of this type")
}

// unsureBehindCast makes it uncertain that the value v does not fit a column, if
// a CAST before may have changed it: one of an integer keeps the bits and loses
// the sign, others round first or have an error of their own.
func (f *frame) unsureBehindCast(col *Column, v sqlvalue.Value) {
	if e, ok := f.err.(*SQLError); !ok || e.Code != 1264 {
		return
	}
	signed := v.Kind() == sqlvalue.Int || v.Kind() == sqlvalue.Uint && v.Int() >= 0
	if !signed || col.Type.Class != IntClass || col.Type.Unsigned {
		f.err = &Unsupported{"value out of range behind a CAST"}
	}
}

// lenientValue stores v instead of a value that does not fit.
func (f *frame) lenientValue(v sqlvalue.Value) sqlvalue.Value {
	if f.castsStored {
		return f.refuse("value that does not fit under UPDATE IGNORE")
	}
	f.warnings++
	return v
}

// implicitDefault is what a NOT NULL column gets for want of a value.
// https://dev.mysql.com/doc/refman/9.7/en/data-type-defaults.html
func (col *Column) implicitDefault() sqlvalue.Value {
	switch t := col.Type; t.Class {
	case StringClass:
		return t.str("")
	case DecimalClass:
		return sqlvalue.NewDecimal64(0, t.Scale)
	case DoubleClass:
		return sqlvalue.NewDouble(0)
	case FloatClass:
		return sqlvalue.NewFloat(0, t.Digits)
	case EnumClass:
		return t.enum(1)
	case SetClass:
		return t.set(0)
	case BitClass:
		return sqlvalue.NewBit(0, int(t.Bits))
	case YearClass:
		return sqlvalue.NewYear(0)
	default:
		return t.integer(0)
	}
}

// integer returns the bits u as a value of an integer type.
func (t Type) integer(u uint64) sqlvalue.Value {
	if t.Unsigned {
		return sqlvalue.NewUint(u)
	}
	return sqlvalue.NewInt(int64(u))
}

// clip fails for a value out of a column's range, or gives the nearest bound;
// above says on which side it is.
func (f *frame) clip(col *Column, above bool) sqlvalue.Value {
	if !f.lenient {
		return f.outOfRange(col)
	}
	t := col.Type
	if t.Class == DecimalClass {
		limit := decimalLimit(t.Prec, t.Scale)
		switch {
		case above:
			return f.lenientValue(limit)
		case t.Unsigned:
			return f.lenientValue(sqlvalue.NewDecimal64(0, t.Scale))
		}
		return f.lenientValue(sqlvalue.NegExact(limit))
	}
	lo, hi := intBounds(t)
	if above {
		return f.lenientValue(t.integer(hi))
	}
	return f.lenientValue(t.integer(uint64(lo)))
}

func (f *frame) outOfRange(col *Column) sqlvalue.Value {
	if f.overflows {
		return f.fail(1690, "value for column '%s' overflows", col.Name)
	}
	return f.fail(1264, "Out of range value for column '%s' at row 1", col.Name)
}

// badNumber fails for a string that is no number, or not only a number.
func (c *compiler) badNumber(f *frame, col *Column, n sqlvalue.Numeric, what, s string) {
	switch {
	case strings.IndexByte(s, 0) >= 0:
		f.refuse("number before a zero byte")
	case f.lenient:
		f.lenientValue(sqlvalue.Value{})
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

// excludes tells whether an exact number is beyond an integer type's range.
func (t Type) excludes(d sqlvalue.Value) bool {
	u, over := d.ToInt(t.Unsigned)
	lo, hi := intBounds(t)
	if t.Unsigned {
		return over != 0 || u > hi
	}
	return over != 0 || int64(u) < lo || int64(u) > int64(hi)
}

func (c *compiler) storeInt(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	exact := v.Kind() == sqlvalue.Decimal
	switch v.Kind() {
	case sqlvalue.String, sqlvalue.Bytes:
		n := sqlvalue.NumericPrefix(v.Str())
		if n.Rest || n.Empty {
			if col.Type.Bits < 32 && strings.Count(v.Str(), ".") > 1 {
				// MariaDB calls it out of range or truncated.
				return f.refuse("number with two points into a small integer")
			}
			d, ok := n.Decimal()
			x, _ := n.Double()
			if !n.Empty && !f.lenient && (ok && col.Type.excludes(d) || !ok && math.Abs(x) >= 1<<64) {
				if f.castsStored || !ok && c.d.is(updateCasts) {
					return f.refuse("number out of range before other text")
				}
				return f.outOfRange(col)
			}
			if c.badNumber(f, col, n, "integer", v.Str()); !f.lenient || !n.Integer {
				if f.err == nil {
					return f.refuse("fraction with a rest into an integer column")
				}
				return v
			}
		}
		d, ok := n.Decimal()
		if !ok {
			return f.refuse("long number in a string")
		}
		if f.castsFirst && !n.Integer {
			// It rounds, or fails where the row is looked up by its whole key.
			return f.refuse("fraction in a text for an integer column of an UPDATE")
		}
		v = d
	case sqlvalue.Double, sqlvalue.Float:
		x := math.RoundToEven(v.Double())
		if x == 1<<63 || x == 1<<64 {
			// The largest BIGINT rounds to this double: what is stored depends on
			// whether it was read as an integer.
			return f.refuse("double at the limit of BIGINT")
		}
		if math.Abs(x) >= 1<<64 {
			return f.clip(col, x > 0)
		}
		if x >= -1<<63 && x < 1<<63 {
			v = sqlvalue.NewDecimal64(int64(x), 0)
		} else if x < 0 {
			return f.clip(col, false)
		} else {
			v = sqlvalue.NewUint(uint64(x))
		}
	}
	u, over := v.ToInt(col.Type.Unsigned)
	if col.Type.Unsigned && exact && v.Sign() < 0 {
		// Already a fraction below zero is out of range; as text or as a double it is
		// rounded before that.
		over = -1
	}
	if over != 0 {
		return f.clip(col, over > 0)
	}
	lo, hi := intBounds(col.Type)
	if col.Type.Unsigned && u > hi {
		return f.clip(col, true)
	}
	if i := int64(u); !col.Type.Unsigned && (i < lo || i > int64(hi)) {
		return f.clip(col, i > 0)
	}
	return col.Type.integer(u)
}

func (c *compiler) storeDecimal(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	switch v.Kind() {
	case sqlvalue.String, sqlvalue.Bytes:
		n := sqlvalue.NumericPrefix(v.Str())
		if n.Rest || n.Empty {
			if c.badNumber(f, col, n, "decimal", v.Str()); !f.lenient {
				return v
			}
		}
		d, ok := n.Decimal()
		if !ok {
			return f.refuse("long number in a string")
		}
		v = d
	case sqlvalue.Double, sqlvalue.Float:
		d, ok := sqlvalue.NumericPrefix(sqlvalue.FormatDouble(v.Double(), 64)).Decimal()
		if !ok {
			return f.clip(col, v.Sign() > 0)
		}
		v = d
	}
	d := v.ToDecimal()
	if col.Type.Unsigned && d.Sign() < 0 && c.d.DBMS != history.TiDB {
		// What rounds to zero is out of range, too.
		return f.clip(col, false)
	}
	r := d.Rescale(col.Type.Scale)
	if r.Digits() > col.Type.Prec || col.Type.Unsigned && r.Sign() < 0 {
		return f.clip(col, r.Sign() > 0)
	}
	return r
}

func (c *compiler) storeDouble(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	if k := v.Kind(); k == sqlvalue.String || k == sqlvalue.Bytes {
		n := sqlvalue.NumericPrefix(v.Str())
		if n.Rest || n.Empty {
			if c.badNumber(f, col, n, "double", v.Str()); !f.lenient {
				return v
			}
		}
		x, over := n.Double()
		if over {
			if c.d.DBMS == history.TiDB {
				return f.refuse("text of a number beyond DOUBLE") // it calls that incorrect, not out of range
			}
			return f.outOfRange(col)
		}
		v = sqlvalue.NewDouble(x)
	}
	x := v.ToDouble()
	if x == 0 && c.d.is(noNegativeZero) {
		x = 0
	}
	if col.Type.Unsigned && x < 0 {
		if f.lenient {
			return f.lenientValue(sqlvalue.NewDouble(0))
		}
		return f.outOfRange(col)
	}
	if col.Type.Class == FloatClass {
		if math.IsInf(float64(float32(x)), 0) {
			if f.lenient {
				return f.refuse("FLOAT out of range under IGNORE")
			}
			return f.outOfRange(col)
		}
		return sqlvalue.NewFloat(float32(x), col.Type.Digits)
	}
	return sqlvalue.NewDouble(x)
}

func (c *compiler) storeString(f *frame, col *Column, v sqlvalue.Value, from Type) sqlvalue.Value {
	if v.Kind() == sqlvalue.Decimal && v.Sign() == 0 && v.Scale() > 0 && c.d.is(zeroProduct) {
		return f.refuse("text of a decimal zero")
	}
	switch v.Kind() {
	case sqlvalue.Float:
		if c.d.is(floatsGrow) && !col.Type.Blob {
			v = sqlvalue.NewDouble(v.Double())
		}
	case sqlvalue.Year:
		if v.Uint() == 0 {
			if v = sqlvalue.NewInt(0); col.Type.Blob {
				return f.refuse("year 0000 stored as TEXT or BLOB")
			}
		}
	}
	s := c.d.textOf(v)
	if longDouble(v, s) || (v.Kind() == sqlvalue.Double || v.Kind() == sqlvalue.Float) && len(s) > col.Type.Length {
		return f.refuse("double longer than its text column")
	}
	bytewise := col.Type.Collation.bytewise()
	if !col.Type.Binary && (from.Binary || bytewise) && strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if bytewise {
			return f.refuse("text beyond ASCII in a character set of one byte")
		}
		// They need not be characters of the column's.
		return f.refuse("bytes beyond ASCII stored as text")
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
			if f.lenient {
				return f.lenientValue(col.Type.str(cut))
			}
			return f.fail(1406, "Data too long for column '%s' at row 1", col.Name)
		}
		s = cut
	}
	return col.Type.str(s)
}

// str returns s as a value of a string type.
func (t Type) str(s string) sqlvalue.Value {
	if t.Fixed && !t.Binary {
		s = strings.TrimRight(s, " ")
	}
	if t.Fixed && t.Binary && len(s) < t.Length {
		s += strings.Repeat("\x00", t.Length-len(s))
	}
	if t.Binary {
		return sqlvalue.NewBytes(s)
	}
	return sqlvalue.NewString(s)
}
