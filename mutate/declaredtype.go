package mutate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
)

// declaredType is the type of a column that somebody else has declared, with values that it holds. One without a pool is of
// a type that nobody here knows values of.
func declaredType(t *types.FieldType) *dataType {
	if mysql.HasZerofillFlag(t.GetFlag()) {
		return opaqueType // it is shown with zeros that no literal has
	}
	d := dataTypeOf(t)
	if d.family == opaque {
		if of := declaredTypes[t.GetType()]; of != nil {
			d = of(t)
		}
	}
	if len(d.pool) > 0 && len(d.limits) == 0 {
		e := *d
		e.limits = d.pool[:1]
		d = &e
	}
	return d
}

// declaredTypes make the types that dataTypeOf does not know.
var declaredTypes = map[byte]func(*types.FieldType) *dataType{
	mysql.TypeNewDecimal: declaredDecimal,
	mysql.TypeFloat:      declaredFloat,
	mysql.TypeDouble:     declaredFloat,
	mysql.TypeEnum:       declaredMembers,
	mysql.TypeSet:        declaredMembers,
	mysql.TypeBit:        declaredBits,
	mysql.TypeString:     declaredBytes,
	mysql.TypeTinyBlob:   declaredText,
	mysql.TypeMediumBlob: declaredText,
	mysql.TypeLongBlob:   declaredText,
	mysql.TypeDatetime:   declaredTime,
	mysql.TypeTimestamp:  declaredTime,
	mysql.TypeDuration:   declaredTime,
	mysql.TypeJSON:       declaredJSON,
}

// declaredDecimal has a precision and a scale of its own.
func declaredDecimal(t *types.FieldType) *dataType {
	const precision = 10 // where none is declared, with a scale of 0
	length, scale := t.GetFlen(), max(0, t.GetDecimal())
	if length < 1 {
		length = precision
	}
	if length == scale { // no digit is before the point
		return opaqueType
	}
	fraction := ""
	if scale > 0 {
		fraction = "." + strings.Repeat("0", scale)
	}
	d := &dataType{family: decimals, tp: mysql.TypeNewDecimal, length: length, scale: scale,
		nth: func(n int) value { return decimal(fmt.Sprint(n+1) + fraction) }}
	for _, whole := range []string{"1", "2", "0", "3", "5", "-1"} {
		if whole != "-1" || !mysql.HasUnsignedFlag(t.GetFlag()) {
			d.pool = append(d.pool, decimal(whole+fraction))
		}
	}
	d.limits = []value{decimal(strings.Repeat("9", length-scale) + strings.ReplaceAll(fraction, "0", "9"))}
	if scale == 0 {
		d.pool, d.limits = integersOf(d.pool), integersOf(d.limits)
		d.nth = nthInteger
		if length > len("999999999") {
			d.limits = d.pool[:1]
		}
		d.family = opaque // its literals are no decimals, by which the generator computes
	}
	return d
}

// integersOf are whole decimals as integers.
func integersOf(list []value) (out []value) {
	for _, v := range list {
		n := int64(0)
		if _, err := fmt.Sscan(v.text, &n); err == nil {
			out = append(out, integer(n))
		}
	}
	return out
}

func declaredFloat(t *types.FieldType) *dataType {
	d := *floatType(t.GetType())
	if mysql.HasUnsignedFlag(t.GetFlag()) {
		d.pool = slices.DeleteFunc(slices.Clone(d.pool), func(v value) bool { return strings.HasPrefix(v.text, "-") })
		d.limits = d.limits[:1]
	}
	if t.GetDecimal() >= 0 { // FLOAT(7,4) rounds, and holds less
		d.pool, d.limits = d.pool[:3], d.pool[:1]
	}
	return &d
}

// declaredMembers are those of an ENUM, or each of a SET alone.
func declaredMembers(t *types.FieldType) *dataType {
	return memberType(t.GetType(), t.GetElems(), t.GetElems()[:min(len(t.GetElems()), 6)]...)
}

func declaredBits(t *types.FieldType) *dataType {
	bits := max(1, t.GetFlen())
	pool := slices.DeleteFunc(slices.Clone(unsignedPool[:6]), func(v value) bool { return v.mag >= 1<<min(bits, 10) })
	return &dataType{family: opaque, tp: mysql.TypeBit, length: bits, scale: types.UnspecifiedLength, unsigned: true,
		pool: pool, limits: pool[:1], nth: func(n int) value { return natural(uint64(n) % (1 << min(bits, 10))) }}
}

// declaredBytes is BINARY of a length, whose values are as long: shorter ones are padded.
func declaredBytes(t *types.FieldType) *dataType {
	const most = 64
	n := max(1, t.GetFlen())
	if n > most || n < 2 {
		return opaqueType
	}
	of := func(i int) value { return text(fmt.Sprintf("%0*d", n, i)) }
	return &dataType{family: texts, tp: mysql.TypeString, length: n, scale: types.UnspecifiedLength, binary: true, nth: of,
		pool: []value{of(1), of(2), of(0), of(3)}, limits: []value{of(9)}}
}

func declaredText(t *types.FieldType) *dataType {
	return stringType(t.GetType(), types.UnspecifiedLength, mysql.HasBinaryFlag(t.GetFlag()))
}

// declaredTime has fractions of a second, none of which is used.
func declaredTime(t *types.FieldType) *dataType {
	for _, w := range allDataTypes {
		if w.value.tp == t.GetType() {
			return w.value
		}
	}
	return opaqueType
}

func declaredJSON(*types.FieldType) *dataType {
	pool := []value{text(`{"a": 1}`), text(`{"a": 2}`), text(`[]`), text(`[1, 2]`), text(`"x"`)}
	return &dataType{family: opaque, tp: mysql.TypeJSON, pool: pool, limits: pool[:1], unkeyed: true}
}
