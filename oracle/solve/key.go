package solve

import (
	"encoding/binary"

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
				return "", false, unsupported("key on text beyond ASCII")
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
