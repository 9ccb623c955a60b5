package solve

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// ENUM and SET are text where text is compared with them, and the index or
// bitmap where a number is wanted; they are ordered and kept in indexes by that
// number.
// https://dev.mysql.com/doc/refman/9.7/en/enum.html
// https://dev.mysql.com/doc/refman/9.7/en/set.html

// memberType reads the declaration of an ENUM or SET.
func memberType(ft *types.FieldType, collation Collation, unknown error) (Type, error) {
	t, err := stringType(ft, collation, unknown)
	if err != nil {
		return t, err
	}
	t.Fixed, t.Blob, t.Class = false, false, EnumClass
	if ft.GetType() == mysql.TypeSet {
		t.Class = SetClass
	}
	t.Length = 0
	for _, e := range ft.GetElems() {
		e = strings.TrimRight(e, " ")
		if !t.Collation.exact(e) {
			return t, unsupported("ENUM or SET beyond ASCII")
		}
		t.Elems = append(t.Elems, e)
		t.Length += len(e) + 1
	}
	return t, nil
}

func isMember(t Type) bool { return t.Class == EnumClass || t.Class == SetClass }

// indexOf finds a member by its text, 0 for none.
func (t Type) indexOf(s string) int {
	s = strings.TrimRight(s, " ")
	if !t.Collation.exact(s) {
		return 0
	}
	for i, m := range t.Elems {
		if t.Collation.compare(s, m) == 0 {
			return i + 1
		}
	}
	return 0
}

func (t Type) enum(i int) sqlvalue.Value {
	if i == 0 {
		return sqlvalue.NewEnum(0, "")
	}
	return sqlvalue.NewEnum(i, t.Elems[i-1])
}

// set returns a bitmap as a value, its members in the order of the definition.
func (t Type) set(bits uint64) sqlvalue.Value {
	var out []string
	for i, m := range t.Elems {
		if bits&(1<<i) != 0 {
			out = append(out, m)
		}
	}
	return sqlvalue.NewSet(bits, strings.Join(out, ","))
}

// bitsOf reads members joined by commas; ok is false where one is unknown.
func (t Type) bitsOf(s string) (bits uint64, ok bool) {
	if s == "" {
		return 0, true
	}
	for _, m := range strings.Split(s, ",") {
		i := t.indexOf(m)
		if i == 0 {
			return 0, false
		}
		bits |= 1 << (i - 1)
	}
	return bits, true
}

// storeMember converts a value to an ENUM or SET: text by name, a number as
// index or bitmap. What is neither is error 1265 in strict mode.
func (c *compiler) storeMember(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	t := col.Type
	bad := func() sqlvalue.Value {
		if f.lenient {
			return f.refuse("value that is no member under IGNORE")
		}
		return f.fail(1265, "Data truncated for column '%s' at row 1", col.Name)
	}
	switch v.Kind() {
	case sqlvalue.Bytes:
		return f.refuse("binary string for an ENUM or SET")
	case sqlvalue.String, sqlvalue.Enum, sqlvalue.Set:
		s := v.Str()
		if t.Class == EnumClass {
			if i := t.indexOf(s); i > 0 {
				return t.enum(i)
			}
			if n := sqlvalue.NumericPrefix(s); !n.Empty {
				return f.refuse("number in a text for an ENUM")
			}
			return bad()
		}
		if bits, ok := t.bitsOf(s); ok {
			return t.set(bits)
		}
		if n := sqlvalue.NumericPrefix(s); !n.Empty {
			return f.refuse("number in a text for a SET")
		}
		return bad()
	}
	n, ok := v.Number().Small()
	if k := v.Kind(); k == sqlvalue.Double || k == sqlvalue.Float {
		n, ok = int64(v.Double()), v.Double() == float64(int64(v.Double()))
	} else if ok && v.Kind() == sqlvalue.Decimal && v.Scale() > 0 {
		ok = false
	}
	if !ok || v.Kind() == sqlvalue.Temporal {
		return f.refuse("value of another form for an ENUM or SET")
	}
	limit := int64(len(t.Elems))
	if t.Class == SetClass {
		if limit = 1<<limit - 1; n < 0 || n > limit {
			return bad()
		}
		return t.set(uint64(n))
	}
	if n < 1 || n > limit {
		return bad()
	}
	return t.enum(int(n))
}

// storeBit converts a value to a BIT; what does not fit is error 1406.
// https://dev.mysql.com/doc/refman/9.7/en/bit-type.html
func (c *compiler) storeBit(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	v = v.Number()
	var u uint64
	switch k := v.Kind(); {
	case k == sqlvalue.Int, k == sqlvalue.Uint:
		u = v.Uint()
	case c.d.is(updateCasts):
		return f.refuse("value of another form for a BIT")
	case k == sqlvalue.Decimal:
		n, over := v.ToInt(true)
		if over != 0 && !f.lenient {
			return f.outOfRange(col)
		} else if over != 0 || n == 0 && v.Sign() < 0 {
			return f.refuse("value of another form for a BIT")
		}
		u = n
	case k == sqlvalue.String, k == sqlvalue.Bytes:
		// A text is stored as the bytes that it consists of.
		s := strings.TrimLeft(v.Str(), "\x00")
		if len(s) > 8 {
			return f.refuse("value of another form for a BIT")
		}
		for i := 0; i < len(s); i++ {
			u = u<<8 | uint64(s[i])
		}
	default:
		return f.refuse("value of another form for a BIT")
	}
	if col.Type.Bits < 64 && u>>col.Type.Bits != 0 {
		if f.lenient {
			return f.refuse("value too long for a BIT under IGNORE")
		}
		return f.fail(1406, "Data too long for column '%s' at row 1", col.Name)
	}
	return sqlvalue.NewBit(u, int(col.Type.Bits))
}

// storeYear converts a value to a YEAR; two digits mean 1970 to 2069.
// https://dev.mysql.com/doc/refman/9.7/en/year.html
func (c *compiler) storeYear(f *frame, col *Column, v sqlvalue.Value) sqlvalue.Value {
	switch v.Kind() {
	case sqlvalue.Year:
		return v
	case sqlvalue.Int, sqlvalue.Uint:
		if _, ok := v.Small(); !ok {
			return f.refuse("large number for a YEAR")
		}
	case sqlvalue.String:
		n := sqlvalue.NumericPrefix(v.Str())
		if len(v.Str()) != 4 || !n.Integer || n.Rest || n.Empty || len(n.Text) != 4 {
			return f.refuse("text of another form for a YEAR")
		}
		v, _ = n.Decimal()
	default:
		return f.refuse("value of another form for a YEAR")
	}
	y, ok := v.Small()
	switch {
	case ok && y >= 1 && y <= 69:
		y += 2000
	case ok && y >= 70 && y <= 99:
		y += 1900
	}
	if !ok || y != 0 && (y < 1901 || y > 2155) {
		if f.lenient {
			return f.refuse("year out of range under IGNORE")
		}
		return f.outOfRange(col)
	}
	return sqlvalue.NewYear(int(y))
}
