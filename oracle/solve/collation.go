package solve

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Collation names how strings compare.
type Collation uint8

// The collations that can be computed exactly; all but Binary and BinPad only
// for ASCII text.
const (
	// Binary compares bytes and does not pad.
	Binary Collation = iota
	// BinPad is utf8mb4_bin: code points, PAD SPACE.
	BinPad
	// GeneralCI is utf8mb4_general_ci: case-insensitive, PAD SPACE.
	GeneralCI
	// AI0900 is utf8mb4_0900_ai_ci: case-insensitive, NO PAD.
	AI0900
	// UCA1400 is utf8mb4_uca1400_ai_ci: case-insensitive, PAD SPACE.
	UCA1400
	// Bin0900 is utf8mb4_0900_bin: code points, NO PAD.
	Bin0900
	// UCA400 is utf8mb4_unicode_ci and utf8mb4_unicode_520_ci, which agree on ASCII: case-insensitive, PAD SPACE.
	UCA400
	// ByteCI and ByteBin are those of character sets of one byte, latin1 and ascii: as GeneralCI and BinPad. Their columns
	// hold other text than ASCII in other bytes, or not at all.
	ByteCI
	ByteBin
	unknownCollation
)

var collationNames = map[string]Collation{
	"binary":                Binary,
	"utf8mb4_bin":           BinPad,
	"utf8_bin":              BinPad,
	"utf8mb3_bin":           BinPad,
	"utf8mb4_general_ci":    GeneralCI,
	"utf8_general_ci":       GeneralCI,
	"utf8mb3_general_ci":    GeneralCI,
	"utf8mb4_0900_ai_ci":    AI0900,
	"utf8mb4_uca1400_ai_ci": UCA1400,
	"uca1400_ai_ci":         UCA1400,
	"utf8mb3_uca1400_ai_ci": UCA1400,
	"utf8mb4_0900_bin":      Bin0900,

	"utf8mb4_unicode_ci":     UCA400,
	"utf8_unicode_ci":        UCA400,
	"utf8mb3_unicode_ci":     UCA400,
	"utf8mb4_unicode_520_ci": UCA400,
	"utf8_unicode_520_ci":    UCA400,
	"utf8mb3_unicode_520_ci": UCA400,

	"latin1_swedish_ci": ByteCI,
	"latin1_general_ci": ByteCI,
	"ascii_general_ci":  ByteCI,
	"latin1_bin":        ByteBin,
	"ascii_bin":         ByteBin,
}

// charsetCollation returns what text of a character set gets by default; unknownCollation for one that is not known.
func charsetCollation(charset string, d Dialect) Collation {
	switch charset {
	case "binary":
		return Binary
	case "utf8mb4":
		return defaultCollation(d)
	case "utf8", "utf8mb3":
		if d.DBMS == history.MySQL {
			return GeneralCI
		}
		return defaultCollation(d)
	case "latin1", "ascii":
		if d.DBMS == history.TiDB {
			return ByteBin
		}
		return ByteCI
	}
	return unknownCollation
}

// defaultCollation returns what utf8mb4 columns get by default.
// https://docs.pingcap.com/tidb/stable/character-set-and-collation/
// https://dev.mysql.com/doc/refman/9.7/en/charset-mysql.html
// https://mariadb.com/docs/server/reference/data-types/string-data-types/character-sets/supported-character-sets-and-collations
func defaultCollation(d Dialect) Collation {
	switch {
	case d.DBMS == history.TiDB:
		return BinPad
	case d.DBMS == history.MySQL:
		return AI0900
	case d.Version >= 110500:
		return UCA1400
	}
	return GeneralCI
}

// weights maps an ASCII byte to its place in a collation's order; equal bytes
// are equal letters.
type weights [128]uint8

var foldUpper = func() (w weights) {
	for i := range w {
		w[i] = uint8(i)
		if i >= 'a' && i <= 'z' {
			w[i] = uint8(i) - 'a' + 'A'
		}
	}
	return w
}()

// ducetOrder is the order of printable ASCII in the Unicode collation table
// (UCA 9 and 14 agree on it), variable elements not ignored.
// https://www.unicode.org/Public/UCA/9.0.0/allkeys.txt
const ducetOrder = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"

// ignorable marks bytes without weight in the Unicode collations.
const ignorable = 0xff

// uca4Order is that of UCA 4.0, and of 5.2, which has ` and ^ elsewhere.
// https://www.unicode.org/Public/UCA/4.0.0/allkeys-4.0.0.txt
const uca4Order = "\t\n\v\f\r `^_-,;:!?.'\"()[]{}@*/\\&#%+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"

var ducet, uca4 = weightsOf(ducetOrder), weightsOf(uca4Order)

func weightsOf(order string) (w weights) {
	for i := range w {
		w[i] = ignorable
	}
	rank := uint8(0)
	for i := 0; i < len(order); i++ {
		c := order[i]
		if c >= 'A' && c <= 'Z' {
			w[c] = w[c+'a'-'A']
			continue
		}
		w[c] = rank
		rank++
	}
	return w
}

func (c Collation) table() *weights {
	switch c {
	case GeneralCI, ByteCI:
		return &foldUpper
	case AI0900, UCA1400:
		return &ducet
	case UCA400:
		return &uca4
	}
	return nil
}

func (c Collation) pads() bool {
	return c == BinPad || c == GeneralCI || c == UCA1400 || c == UCA400 || c.bytewise()
}

// bytewise tells whether a collation is of a character set of one byte.
func (c Collation) bytewise() bool { return c == ByteCI || c == ByteBin }

// exact tells whether s can be compared exactly in the collation.
func (c Collation) exact(s string) bool {
	if c == unknownCollation {
		return false
	}
	w := c.table()
	if w == nil && !c.bytewise() {
		return true
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || w != nil && w[s[i]] == ignorable {
			return false
		}
	}
	return true
}

// compare orders two strings; both must be exact in the collation.
func (c Collation) compare(a, b string) int {
	w := c.table()
	n := min(len(a), len(b))
	for i := 0; i < n; i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if w != nil {
			x, y = w[x], w[y]
		}
		if x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	if len(a) == len(b) {
		return 0
	}
	rest, sign := a[n:], 1
	if len(b) > n {
		rest, sign = b[n:], -1
	}
	if !c.pads() {
		return sign
	}
	space := byte(' ')
	if w != nil {
		space = w[' ']
	}
	for i := 0; i < len(rest); i++ {
		x := rest[i]
		if w != nil {
			x = w[x]
		}
		if x != space {
			if x < space {
				return -sign
			}
			return sign
		}
	}
	return 0
}

// compareTrimmed is compare for a server that cuts trailing spaces off first.
func (c Collation) compareTrimmed(f *frame, a, b string) int {
	if !c.exact(a) || !c.exact(b) {
		f.refuse("comparison of text beyond ASCII")
		return 0
	}
	a, b = strings.TrimRight(a, " "), strings.TrimRight(b, " ")
	w := c.table()
	for i := 0; i < min(len(a), len(b)); i++ {
		x, y := a[i], b[i]
		if w != nil {
			x, y = w[x], w[y]
		}
		if x != y {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}

// identity maps equal strings, and only those, to one string.
func (c Collation) identity(s string) string {
	if c.pads() {
		s = strings.TrimRight(s, " ")
	}
	w := c.table()
	if w == nil {
		return s
	}
	b := make([]byte, len(s))
	for i := range b {
		b[i] = w[s[i]]
	}
	return string(b)
}

// combine returns the collation in which two strings compare: a literal takes
// that of the other side.
// https://dev.mysql.com/doc/refman/9.7/en/charset-collation-coercibility.html
func combine(a, b Type) (Type, error) {
	switch {
	case a.Collation == b.Collation:
		if a.Explicit {
			return a, nil
		}
		return b, nil
	case a.Binary:
		return a, nil
	case b.Binary:
		return b, nil
	case a.Explicit && !b.Explicit:
		return a, nil
	case b.Explicit && !a.Explicit:
		return b, nil
	}
	return a, unsupported("mix of collations")
}
