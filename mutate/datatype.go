package mutate

import (
	"math"

	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
)

// family says which operators a column takes part in.
type family uint8

const (
	// opaque columns are copied, tested for NULL and never computed with.
	opaque family = iota
	integers
	texts
)

// dataType is a column type: how it is declared, and its values.
type dataType struct {
	family   family
	tp       byte
	unsigned bool
	// length is the declared length, types.UnspecifiedLength for none.
	length int
	// wide says that adding to a value at the limit is error 1690 and not
	// merely out of the column's range.
	wide bool
	// pool holds the common values, the simplest first; collisions come from
	// its being small. limits holds the ends of the type's range.
	pool, limits []value
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
	{15, &dataType{family: texts, tp: mysql.TypeVarchar, length: 10, pool: textPool, limits: []value{text("abcdefghij")}}},
}

func intType(tp byte, bits uint) *dataType {
	end := int64(math.MaxInt64) >> (64 - bits)
	return &dataType{
		family: integers, tp: tp, length: types.UnspecifiedLength, wide: bits == 64,
		pool: signedPool, limits: []value{integer(end), integer(-end - 1)},
	}
}

func uintType(tp byte, bits uint) *dataType {
	return &dataType{
		family: integers, tp: tp, unsigned: true, length: types.UnspecifiedLength, wide: bits == 64,
		pool: unsignedPool, limits: []value{natural(math.MaxUint64 >> (64 - bits))},
	}
}

// fieldType returns the declaration as the parser represents it.
func (d *dataType) fieldType() *types.FieldType {
	t := types.NewFieldType(d.tp)
	t.SetFlen(d.length)
	if d.unsigned {
		t.AddFlag(mysql.UnsignedFlag)
	}
	return t
}

// holds says whether a value is in the type's range.
func (d *dataType) holds(v value) bool {
	switch {
	case v.kind == nullValue:
		return true
	case d.family == texts:
		return v.kind == textValue && len(v.text) <= d.length
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

var opaqueType = &dataType{family: opaque}

// dataTypeOf finds the type of a declared column. Types that the table does
// not list behave like their nearest relative, or are opaque.
func dataTypeOf(t *types.FieldType) *dataType {
	unsigned := mysql.HasUnsignedFlag(t.GetFlag())
	for _, w := range dataTypes {
		if d := w.value; d.tp == t.GetType() && d.unsigned == unsigned {
			if d.family == texts && t.GetFlen() != d.length {
				return declaredLength(d, t.GetFlen())
			}
			return d
		}
	}
	if t.GetType() == mysql.TypeString && !mysql.HasBinaryFlag(t.GetFlag()) {
		return declaredLength(dataTypes[len(dataTypes)-1].value, t.GetFlen())
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
	e.length, e.limits, e.pool = length, nil, nil
	for _, v := range d.pool {
		if len(v.text) <= length {
			e.pool = append(e.pool, v)
		}
	}
	return &e
}
