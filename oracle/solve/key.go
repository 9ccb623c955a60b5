package solve

import (
	"cmp"
	"encoding/binary"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// KeyOf returns a string that two rows share exactly if the server holds them
// equal in the key, and whether a part is NULL (then a unique key admits any
// number of them).
func (s *Solver) KeyOf(t *Table, k *Key, row Row) (tuple string, hasNull bool, err error) {
	buf := make([]byte, 0, 64)
	for n, i := range k.Columns {
		v, typ := row[i], t.Columns[i].Type
		if v.IsNull() {
			hasNull = true
			buf = append(buf, 0)
			continue
		}
		buf = append(buf, 1)
		switch v.Kind() {
		case sqlvalue.String, sqlvalue.Bytes:
			text := v.Str()
			if !typ.Collation.exact(text) {
				s.unkeyed = unsupported("key on text beyond ASCII")
				return "", false, s.unkeyed
			}
			if p := k.Prefix[n]; p > 0 {
				text = firstRunes(text, p)
			}
			text = typ.Collation.identity(text)
			buf = binary.AppendUvarint(buf, uint64(len(text)))
			buf = append(buf, text...)
		case sqlvalue.Double, sqlvalue.Float:
			x := v.Double()
			if x == 0 {
				x = 0 // -0 and 0 are one key
			}
			buf = append(buf, sqlvalue.FormatDouble(x, 64)...)
			buf = append(buf, 0)
		default:
			text, _ := v.Text()
			buf = append(buf, text...)
			buf = append(buf, 0)
		}
	}
	return string(buf), hasNull, nil
}

// CompareStored orders two values of one column as an index does: NULL first,
// numbers by value, ENUM and SET by their number, text by its bytes.
func CompareStored(a, b sqlvalue.Value) int {
	if a.IsNull() || b.IsNull() {
		switch {
		case a.IsNull() && b.IsNull():
			return 0
		case a.IsNull():
			return -1
		}
		return 1
	}
	switch a.Kind() {
	case sqlvalue.Int, sqlvalue.Uint, sqlvalue.Decimal:
		return sqlvalue.CmpExact(a, b)
	case sqlvalue.Enum, sqlvalue.Set, sqlvalue.Bit, sqlvalue.Year:
		return cmp.Compare(a.Uint(), b.Uint())
	case sqlvalue.Double, sqlvalue.Float:
		return cmp.Compare(a.Double(), b.Double())
	case sqlvalue.Temporal:
		if p, ok := span(a.Str()); ok {
			if q, ok := span(b.Str()); ok {
				return cmp.Compare(p, q)
			}
		}
	}
	return strings.Compare(a.Str(), b.Str())
}

// Compare orders two rows as the key does.
func (k *Key) Compare(a, b Row) int {
	for n, c := range k.Columns {
		d := CompareStored(a[c], b[c])
		if d != 0 && k.Desc[n] {
			d = -d
		}
		if d != 0 {
			return d
		}
	}
	return 0
}
