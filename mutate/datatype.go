package mutate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
)

// family says which operators a column takes part in.
type family uint8

const (
	// opaque columns are copied, tested for NULL and never computed with.
	opaque family = iota
	integers
	decimals
	texts
	// times and clocks are written as texts; clocks have no date.
	times
	clocks
	// members are those of ENUM and SET.
	members
	years
	floats
)

// dataType is a column type: how it is declared, and its values.
type dataType struct {
	family   family
	tp       byte
	unsigned bool
	// length and scale are as declared, types.UnspecifiedLength for none.
	length, scale int
	// wide says that adding to a value at the limit is error 1690 and not
	// merely out of the column's range.
	wide bool
	// pool holds the common values, the simplest first; collisions come from
	// its being small. limits holds the ends of the type's range.
	pool, limits []value
	// misfit is a value that the type cannot hold, null for none: error 1264,
	// 1265, 1292 or 1406.
	misfit value
	// elems are the members of an ENUM or SET.
	elems []string
	// binary says that a string has no character set.
	binary bool
	// unkeyed types have no default and take part in keys only by a prefix.
	unkeyed bool
	// nullable types must not be declared NOT NULL.
	nullable bool
	// nth is a sequence without repetition, for columns of unique keys.
	nth func(n int) value
}

var (
	signedPool   = []value{integer(1), integer(2), integer(0), integer(3), integer(-1), integer(10), integer(5), integer(20)}
	unsignedPool = []value{natural(1), natural(2), natural(0), natural(3), natural(10), natural(5), natural(20), natural(7)}
	// No two of these are equal under a case-insensitive or padding collation.
	textPool = []value{text("a"), text("b"), text("c"), text("ab"), text(""), text("1"), text("0"), text("d"), text("-1")}
)

// dataTypes are the types that generated tables use, weighted in percent.
var dataTypes = []weighted[*dataType]{
	{40, intType(mysql.TypeLong, 32)},
	{8, intType(mysql.TypeTiny, 8)},
	{6, intType(mysql.TypeShort, 16)},
	{4, intType(mysql.TypeInt24, 24)},
	{10, intType(mysql.TypeLonglong, 64)},
	{6, uintType(mysql.TypeLong, 32)},
	{3, uintType(mysql.TypeTiny, 8)},
	{2, uintType(mysql.TypeShort, 16)},
	{2, uintType(mysql.TypeInt24, 24)},
	{4, uintType(mysql.TypeLonglong, 64)},
	{15, varchar},
}

// postgresDataTypes are those whose values PostgreSQL compares and computes with as MySQL does: integers that it has,
// too, strings and DECIMAL.
var postgresDataTypes = slices.DeleteFunc(slices.Clone(allDataTypes), func(w weighted[*dataType]) bool {
	d := w.value
	return d.unsigned || d.binary || d.family != integers && d.family != decimals && d.tp != mysql.TypeVarchar
})

// allDataTypes adds the types that some schemas have, or all if
// Options.AllTypes asks for it.
var allDataTypes = append(dataTypes[:len(dataTypes):len(dataTypes)], []weighted[*dataType]{
	{12, &dataType{
		family: decimals, tp: mysql.TypeNewDecimal, length: 6, scale: 2, nth: nthDecimal,
		pool:   []value{decimal("1.00"), decimal("2.00"), decimal("0.00"), decimal("1.50"), decimal("-1.00"), decimal("0.01")},
		limits: []value{decimal("9999.99"), decimal("-9999.99")}, misfit: decimal("10000.00"),
	}},
	{6, floatType(mysql.TypeFloat)},
	{6, floatType(mysql.TypeDouble)},
	{4, &dataType{
		family: integers, tp: mysql.TypeTiny, length: 1, scale: types.UnspecifiedLength, nth: nthInteger,
		pool: []value{integer(1), integer(0)}, limits: []value{integer(127), integer(-128)},
	}},
	{7, &dataType{
		family: integers, tp: mysql.TypeBit, length: 5, scale: types.UnspecifiedLength, unsigned: true, nth: nthInteger,
		pool: unsignedPool[:6], limits: []value{natural(31)}, misfit: natural(32),
	}},
	{7, &dataType{
		family: years, tp: mysql.TypeYear, length: types.UnspecifiedLength, scale: types.UnspecifiedLength,
		nth:    func(n int) value { return integer(int64(2001 + n)) },
		pool:   []value{integer(2024), integer(2025), integer(2000), integer(1999), integer(2023)},
		limits: []value{integer(1901), integer(2155)}, misfit: integer(2156),
	}},
	{9, memberType(mysql.TypeEnum, []string{"b", "a", "d", "c"}, "b", "a", "d", "c")},
	{7, memberType(mysql.TypeSet, []string{"a", "b", "c"}, "a", "b", "a,b", "", "c", "a,c")},
	{7, &dataType{
		family: clocks, tp: mysql.TypeDuration, length: types.UnspecifiedLength, scale: types.UnspecifiedLength,
		nth:    func(n int) value { return text(fmt.Sprintf("00:01:%02d", n%60)) },
		pool:   []value{text("00:00:01"), text("00:00:00"), text("12:00:00"), text("100:00:00"), text("-01:00:00")},
		limits: []value{text("838:59:59"), text("-838:59:59")},
	}},
	{6, &dataType{
		family: times, tp: mysql.TypeTimestamp, length: types.UnspecifiedLength, scale: types.UnspecifiedLength, nth: nthDatetime, nullable: true,
		pool:   []value{text("2024-01-01 00:00:00"), text("2024-01-01 00:00:01"), text("2024-01-02 12:00:00"), text("1999-12-31 23:59:59")},
		limits: []value{text("2037-12-31 23:59:59"), text("1971-01-01 00:00:00")}, misfit: text("x"),
	}},
	{5, stringType(mysql.TypeBlob, types.UnspecifiedLength, false)},
	{4, stringType(mysql.TypeBlob, types.UnspecifiedLength, true)},
	{5, stringType(mysql.TypeVarchar, 10, true)},
	{4, &dataType{
		family: texts, tp: mysql.TypeString, length: 2, scale: types.UnspecifiedLength, binary: true,
		nth:  func(n int) value { return text(fmt.Sprintf("%02d", n%100)) },
		pool: []value{text("aa"), text("ab"), text("b1"), text("00"), text("01")}, limits: []value{text("zz")},
	}},
	{8, &dataType{
		family: texts, tp: mysql.TypeString, length: 5, scale: types.UnspecifiedLength, nth: nthText,
		pool: textPool, limits: []value{text("abcde")}, misfit: text("abcdef"),
	}},
	{8, &dataType{
		family: times, tp: mysql.TypeDate, length: types.UnspecifiedLength, scale: types.UnspecifiedLength, nth: nthDate,
		misfit: text("x"),
		pool:   []value{text("2024-01-01"), text("2024-01-02"), text("2024-02-29"), text("1999-12-31"), text("2024-12-31")},
		limits: []value{text("9999-12-31"), text("1000-01-01")},
	}},
	{8, &dataType{
		family: times, tp: mysql.TypeDatetime, length: types.UnspecifiedLength, scale: types.UnspecifiedLength, nth: nthDatetime,
		pool:   []value{text("2024-01-01 00:00:00"), text("2024-01-01 00:00:01"), text("2024-01-02 12:00:00"), text("1999-12-31 23:59:59")},
		limits: []value{text("9999-12-31 23:59:59")}, misfit: text("x"),
	}},
}...)

var varchar = &dataType{
	family: texts, tp: mysql.TypeVarchar, length: 10, scale: types.UnspecifiedLength, nth: nthText,
	pool: textPool, limits: []value{text("abcdefghij")}, misfit: text("abcdefghijk"),
}

// stringType returns TEXT, BLOB or VARBINARY.
func stringType(tp byte, length int, binary bool) *dataType {
	return &dataType{
		family: texts, tp: tp, length: length, scale: types.UnspecifiedLength, binary: binary, unkeyed: tp == mysql.TypeBlob, nth: nthText,
		pool: textPool, limits: []value{text("abcd")},
	}
}

// floatType returns FLOAT or DOUBLE; its values are sums of powers of two, so
// that a comparison with a literal is exact.
func floatType(tp byte) *dataType {
	return &dataType{
		family: floats, tp: tp, length: types.UnspecifiedLength, scale: types.UnspecifiedLength,
		nth:    func(n int) value { return decimal(strconv.Itoa(n+1) + ".0") },
		pool:   []value{decimal("1.0"), decimal("2.0"), decimal("0.0"), decimal("1.5"), decimal("-1.0"), decimal("0.25")},
		limits: []value{decimal("65536.0"), decimal("-0.125")},
	}
}

// memberType returns ENUM or SET with the values of a pool.
func memberType(tp byte, elems []string, values ...string) *dataType {
	d := &dataType{family: members, tp: tp, length: types.UnspecifiedLength, scale: types.UnspecifiedLength, elems: elems}
	for _, v := range values {
		d.pool = append(d.pool, text(v))
	}
	d.limits = d.pool[:1]
	// The sequence repeats: a unique key admits no more rows than there are members.
	d.nth = func(n int) value { return d.pool[n%len(d.pool)] }
	d.misfit = text("z")
	return d
}

func nthInteger(n int) value { return natural(uint64(n + 1)) }

func nthDecimal(n int) value { return decimal(strconv.Itoa(n+1) + ".00") }

func nthText(n int) value {
	if n < len(textPool) {
		return textPool[n]
	}
	return text("k" + strconv.Itoa(n))
}

// nthDate and nthDatetime repeat after 28 days, which is beyond any table here.
func nthDate(n int) value { return text(fmt.Sprintf("2024-01-%02d", n%28+1)) }

func nthDatetime(n int) value { return text(fmt.Sprintf("2024-01-%02d 00:00:00", n%28+1)) }

func intType(tp byte, bits uint) *dataType {
	end := int64(math.MaxInt64) >> (64 - bits)
	return &dataType{
		family: integers, tp: tp, length: types.UnspecifiedLength, scale: types.UnspecifiedLength, wide: bits == 64, nth: nthInteger,
		pool: signedPool, limits: []value{integer(end), integer(-end - 1)},
		misfit: natural(uint64(end) + 1),
	}
}

func uintType(tp byte, bits uint) *dataType {
	return &dataType{
		family: integers, tp: tp, unsigned: true, length: types.UnspecifiedLength, scale: types.UnspecifiedLength, wide: bits == 64, nth: nthInteger,
		pool: unsignedPool, limits: []value{natural(math.MaxUint64 >> (64 - bits))},
	}
}

// fieldType returns the declaration as the parser represents it.
func (d *dataType) fieldType() *types.FieldType {
	t := types.NewFieldType(d.tp)
	t.SetFlen(d.length)
	t.SetDecimal(d.scale)
	if d.unsigned {
		t.AddFlag(mysql.UnsignedFlag)
	}
	if d.tp == mysql.TypeBit {
		t.SetFlag(0)
	}
	if d.elems != nil {
		t.SetElems(d.elems)
	}
	if d.binary {
		t.SetCharset(charset.CharsetBin)
		t.SetCollate(charset.CollationBin)
		t.AddFlag(mysql.BinaryFlag)
	}
	return t
}

// holds says whether a value is in the type's range.
func (d *dataType) holds(v value) bool {
	switch {
	case v.kind == nullValue:
		return true
	case d.family == texts:
		return v.kind == textValue && (d.unkeyed || len(v.text) <= d.length)
	case d.family == members:
		return slices.Contains(d.pool, v)
	case d.family == years:
		return v.kind == integerValue && !v.neg && v.mag >= 1901 && v.mag <= 2155
	case d.family == floats:
		return v.kind == decimalValue
	case d.family == times || d.family == clocks:
		return v.kind == textValue
	case d.family == decimals:
		// Fewer characters than the declared digits, sign and point included.
		return v.kind == decimalValue && len(v.text) <= d.length+2
	case d.family == integers:
		if v.kind != integerValue {
			return false
		}
		for _, l := range d.limits {
			if l.neg == v.neg {
				return v.mag <= l.mag
			}
		}
	}
	return false
}

// family returns the family of columns that a value was probably written for.
func (v value) family() family {
	switch {
	case v.kind == decimalValue:
		return decimals
	case v.kind == textValue && len(v.text) >= len("2024-01-01") && v.text[4] == '-':
		return times
	case v.kind == textValue:
		return texts
	}
	return integers
}

var opaqueType = &dataType{family: opaque}

// dataTypeOf finds the type of a declared column. Types that the table does
// not list behave like their nearest relative, or are opaque.
func dataTypeOf(t *types.FieldType) *dataType {
	unsigned := mysql.HasUnsignedFlag(t.GetFlag())
	for _, w := range allDataTypes {
		d := w.value
		switch {
		case d.tp != t.GetType() || d.unsigned != unsigned && d.tp != mysql.TypeBit:
		case d.family == texts && d.binary != (t.GetCharset() == charset.CharsetBin):
		case d.family == members && !slices.Equal(d.elems, t.GetElems()), d.tp == mysql.TypeBit && t.GetFlen() != d.length:
		case d.family == texts && d.binary && d.tp == mysql.TypeString && t.GetFlen() != d.length:
			// Values of another length are padded with zero bytes.
		case d.family == texts && !d.unkeyed && t.GetFlen() != d.length:
			return declaredLength(d, t.GetFlen())
		case (d.family == times || d.family == clocks) && t.GetDecimal() > 0, d.family == floats && t.GetDecimal() >= 0:
		case d.family == decimals && (t.GetFlen() != d.length || t.GetDecimal() != d.scale):
		default:
			return d
		}
	}
	return opaqueType
}

// declaredLength returns a string type with another length and the values that
// fit into it.
func declaredLength(d *dataType, length int) *dataType {
	if length < 0 {
		length = 1
	}
	e := *d
	e.length, e.limits, e.pool, e.misfit = length, nil, nil, null
	for _, v := range d.pool {
		if len(v.text) <= length {
			e.pool = append(e.pool, v)
		}
	}
	return &e
}
