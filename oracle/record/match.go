package record

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Answer says whether a printed entry is that of a row.
type Answer uint8

// Unsure is where the server cut a field off, or a type's form is not known.
const (
	No Answer = iota
	Unsure
	Yes
)

// HiddenIndex is the clustered index of a table without a key that could be one.
const HiddenIndex = "GEN_CLUST_INDEX"

// Index returns the index of a place in its table: the one of that name, or nil for
// the clustered one. It is false if the table has none such.
func Index(at *history.Place, def *solve.Table, clustered *solve.Key) (*solve.Key, bool) {
	if clustered == nil && at.Index == HiddenIndex {
		return nil, true
	}
	for i := range def.Keys {
		k := &def.Keys[i]
		if k.Primary && at.Index == "PRIMARY" || !k.Primary && strings.EqualFold(k.Name, at.Index) {
			if k == clustered {
				return nil, true
			}
			return k, true
		}
	}
	return nil, false
}

// Match tells whether the fields of a place are those of a row's entry in an index: of
// the clustered one if key is nil. Of a secondary index the columns of the clustered
// key follow behind its own; the number of a row without a key is passed over, so that
// rows which are equal in the key cannot be told apart. Of the hidden index MariaDB
// prints all columns behind that number, the transaction's and a pointer; MySQL the
// number alone, which is never sure.
// https://dev.mysql.com/doc/refman/en/innodb-index-types.html
func Match(at *history.Place, def *solve.Table, clustered, key *solve.Key, row solve.Row) Answer {
	if len(at.Fields) == 0 {
		return Unsure
	}
	if key == nil && clustered == nil {
		return hidden(at, def, row)
	}
	type part struct{ column, prefix int }
	var parts []part
	add := func(k *solve.Key, all bool) {
		for i, c := range k.Columns {
			p := part{column: c}
			if i < len(k.Prefix) {
				p.prefix = k.Prefix[i]
			}
			if all || !slices.Contains(parts, part{column: c}) {
				parts = append(parts, p)
			}
		}
	}
	if key != nil {
		add(key, true)
	}
	if clustered != nil {
		add(clustered, key == nil)
	}
	if len(parts) > len(at.Fields) {
		return Unsure
	}
	out := Yes
	for i, p := range parts {
		out = min(out, field(at.Fields[i], row[p.column], &def.Columns[p.column].Type, p.prefix))
	}
	return out
}

// hidden is Match for the hidden clustered index.
func hidden(at *history.Place, def *solve.Table, row solve.Row) Answer {
	const system = 3
	if len(at.Fields) < system+len(def.Columns) {
		return Unsure
	}
	out := Yes
	for i := range def.Columns {
		out = min(out, field(at.Fields[system+i], row[i], &def.Columns[i].Type, 0))
	}
	return out
}

// field tells whether a printed field is a value.
func field(printed string, v sqlvalue.Value, t *solve.Type, prefix int) Answer {
	if printed == "NULL" || v.IsNull() {
		return is(v.IsNull() && printed == "NULL")
	}
	stored, ok := encode(v, t)
	if !ok {
		return Unsure
	}
	if prefix > 0 {
		stored = firstCharacters(stored, prefix, !t.Binary)
	}
	padded := t.Class == solve.StringClass && t.Fixed && !t.Binary
	if padded {
		stored = bytes.TrimRight(stored, " ")
	}
	switch {
	case strings.HasPrefix(printed, "0x"):
		digits, cut := strings.CutSuffix(printed[2:], "…")
		b, err := hex.DecodeString(digits)
		if err != nil {
			return Unsure
		}
		if cut {
			if bytes.HasPrefix(stored, b) {
				return Unsure
			}
			return No
		}
		if padded {
			b = bytes.TrimRight(b, " ")
		}
		return is(bytes.Equal(b, stored))
	case strings.HasPrefix(printed, "'") && len(printed) > 1:
		s := strings.ReplaceAll(printed[1:len(printed)-1], "''", "'")
		if padded {
			s = strings.TrimRight(s, " ")
		}
		return is(s == string(stored))
	}
	return is(printed == integer(stored, t))
}

func is(equal bool) Answer {
	if equal {
		return Yes
	}
	return No
}

// integer prints stored bytes as MySQL does in LOCK_DATA: an integer by its sign, a
// DATE as if it were one.
func integer(b []byte, t *solve.Type) string {
	if len(b) > 8 {
		return ""
	}
	signed := t.Class == solve.IntClass && !t.Unsigned || t.Class == solve.DateClass
	var u uint64
	for _, x := range b {
		u = u<<8 | uint64(x)
	}
	if !signed {
		return strconv.FormatUint(u, 10)
	}
	shift := 64 - 8*len(b)
	u ^= 1 << (8*len(b) - 1)
	return strconv.FormatInt(int64(u<<shift)>>shift, 10)
}
