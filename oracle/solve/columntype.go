package solve

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
)

func collationOf(name string) Collation {
	if c, ok := collationNames[lower(name)]; ok {
		return c
	}
	return unknownCollation
}

// textCollation finds the collation of a column's text, and the reason if it is not known; table is that of columns that
// name neither a character set nor a collation.
// https://dev.mysql.com/doc/refman/9.7/en/charset-column.html
func textCollation(def *ast.ColumnDef, table Collation, d Dialect) (Collation, error) {
	charset, name := def.Tp.GetCharset(), def.Tp.GetCollate()
	for _, o := range def.Options {
		if o.Tp == ast.ColumnOptionCollate {
			name = o.StrValue
		}
	}
	switch {
	case charset == "binary":
		return Binary, nil
	case name != "":
		if c := collationOf(name); c != unknownCollation {
			return c, nil
		}
		return unknownCollation, unsupported("collation %s", name)
	case charset != "":
		if c := charsetCollation(charset, d); c != unknownCollation {
			return c, nil
		}
		return unknownCollation, unsupported("character set %s", charset)
	case table == unknownCollation:
		return table, unsupported("text in the table's character set or collation")
	}
	return table, nil
}

// columnType turns a declared type into a computed one. collation is that of its text; unknown, if not nil, says why it is
// not known, which types without text do not need.
func columnType(ft *types.FieldType, collation Collation, unknown error) (Type, error) {
	unsigned := mysql.HasUnsignedFlag(ft.GetFlag())
	if mysql.HasZerofillFlag(ft.GetFlag()) {
		return Type{}, unsupported("ZEROFILL")
	}
	integer := func(bits uint8, signed, uns int) (Type, error) {
		t := Type{Class: IntClass, Bits: bits, Unsigned: unsigned, Prec: signed}
		if unsigned {
			t.Prec = uns
		}
		return t, nil
	}
	switch ft.GetType() {
	case mysql.TypeTiny:
		return integer(8, 3, 3)
	case mysql.TypeShort:
		return integer(16, 5, 5)
	case mysql.TypeInt24:
		return integer(24, 7, 8)
	case mysql.TypeLong:
		return integer(32, 10, 10)
	case mysql.TypeLonglong:
		return integer(64, 19, 20)
	case mysql.TypeNewDecimal:
		p, s := ft.GetFlen(), ft.GetDecimal()
		if p <= 0 {
			p = 10
		}
		return Type{Class: DecimalClass, Prec: p, Scale: max(s, 0), Unsigned: unsigned}, nil
	case mysql.TypeDouble, mysql.TypeFloat:
		if ft.GetDecimal() >= 0 {
			return Type{}, unsupported("FLOAT or DOUBLE with digits")
		}
		if ft.GetType() == mysql.TypeFloat && ft.GetFlen() <= 24 {
			return Type{Class: FloatClass, Unsigned: unsigned}, nil
		}
		return Type{Class: DoubleClass, Unsigned: unsigned}, nil
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeDuration, mysql.TypeTimestamp:
		return Type{Class: temporalClasses[ft.GetType()], Scale: max(ft.GetDecimal(), 0)}, nil
	case mysql.TypeYear:
		return Type{Class: YearClass, Prec: 4}, nil
	case mysql.TypeBit:
		return Type{Class: BitClass, Bits: uint8(max(ft.GetFlen(), 1)), Unsigned: true, Prec: 20}, nil
	case mysql.TypeEnum, mysql.TypeSet:
		return memberType(ft, collation, unknown)
	case mysql.TypeJSON:
		return Type{Class: JSONClass}, nil
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString,
		mysql.TypeTinyBlob, mysql.TypeBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob:
		return stringType(ft, collation, unknown)
	}
	return Type{}, unsupported("type %s", ft.CompactStr())
}

var temporalClasses = map[byte]Class{
	mysql.TypeDate: DateClass, mysql.TypeDatetime: DatetimeClass, mysql.TypeDuration: TimeClass, mysql.TypeTimestamp: TimestampClass,
}

// textLimits holds the limits of TEXT and BLOB types in bytes.
var textLimits = map[byte]int{
	mysql.TypeTinyBlob: 255, mysql.TypeBlob: 65535, mysql.TypeMediumBlob: 1<<24 - 1, mysql.TypeLongBlob: 1<<32 - 1,
}

func stringType(ft *types.FieldType, collation Collation, unknown error) (Type, error) {
	if unknown != nil {
		return Type{}, unknown
	}
	t := Type{
		Class: StringClass, Length: ft.GetFlen(), Collation: collation, Binary: ft.GetCharset() == "binary", Explicit: true,
	}
	t.Fixed = ft.GetType() == mysql.TypeString
	if limit, ok := textLimits[ft.GetType()]; ok {
		t.Length, t.Blob = limit, true
	} else if t.Length < 0 {
		t.Length = 1
	}
	return t, nil
}
