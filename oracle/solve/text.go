package solve

import (
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// text returns an accessor for the expression as a string.
func (c *compiler) text(e expr) func(*frame) (string, bool) {
	d := c.d
	if e.typ.Class == DoubleClass && e.typ.Origin != anyDouble && d.is(roundedIsLong) {
		return func(f *frame) (string, bool) {
			v := e.eval(f)
			if e.typ.Origin == madeOfWhole && !v.IsNull() {
				f.refuse("text of a double made of FLOOR or CEIL")
			}
			return strconv.FormatFloat(v.ToDouble()+0, 'f', -1, 64), v.IsNull()
		}
	}
	if e.typ.Class == BitClass && d.is(branchCasts) {
		return func(f *frame) (string, bool) { f.refuse("BIT as text"); return "", false }
	}
	if e.typ.Class == FloatClass && e.typ.Chosen {
		return func(f *frame) (string, bool) { f.refuse("text of a FLOAT out of a branch"); return "", false }
	}
	return func(f *frame) (string, bool) {
		if e.typ.Class == YearClass && !e.column {
			if v := e.eval(f); !v.IsNull() && v.Uint() == 0 {
				f.refuse("text of a year 0000 that was chosen")
			}
		}
		if e.mixedText {
			f.refuse("text of a double chosen among other types")
		}
		v := e.printed(f)
		if v.Kind() == sqlvalue.Decimal && d.is(branchCasts) {
			v = e.eval(f)
			if v.Scale() > e.typ.Scale {
				f.refuse("text of a quotient")
			}
			if v.Scale() < e.typ.Scale && !e.keepScale {
				v = v.Rescale(e.typ.Scale)
			}
		}
		s := d.textOf(v)
		if longDouble(v, s) {
			f.refuse("text of a long double")
		}
		return s, v.IsNull()
	}
}

// textOf returns a value as a string, as it is stored.
func (d Dialect) textOf(v sqlvalue.Value) string {
	switch v.Kind() {
	case sqlvalue.Double:
		if x := v.Double(); d.is(plainDoubles) {
			return strconv.FormatFloat(x, 'f', -1, 64)
		} else if x == 0 && d.is(noNegativeZero) {
			return "0"
		}
	}
	s, _ := v.Text()
	return s
}

// longDouble tells whether a double's text is beyond the width at which MySQL
// and MariaDB change to an exponent when they turn it into a string.
func longDouble(v sqlvalue.Value, s string) bool { return v.Kind() == sqlvalue.Double && len(s) > 20 }

// textType returns the type of the expression as a string.
func (c *compiler) textType(t Type) Type {
	if t.Class == StringClass || isMember(t) {
		t.Class = StringClass
		return t
	}
	if t.Class == BitClass {
		return Type{Class: StringClass, Binary: true, Collation: Binary, Length: 8}
	}
	return Type{Class: StringClass, Collation: c.d.connection(), Length: 64}
}
