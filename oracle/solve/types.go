package solve

import "strings"

// Class groups column and expression types by how they are computed with.
type Class uint8

// The classes of types.
const (
	NullClass Class = iota
	IntClass
	DecimalClass
	DoubleClass
	FloatClass
	StringClass
	DateClass
	DatetimeClass
	TimestampClass
	TimeClass
	YearClass
	EnumClass
	SetClass
	BitClass
	// JSONClass is that of columns which the solver copies and does not compute with.
	JSONClass
)

// Type is the static type of a column or expression.
type Type struct {
	Class    Class
	Unsigned bool
	// Bits is the width of an integer column, 8, 16, 24, 32 or 64, or of a BIT.
	Bits uint8
	// Prec and Scale are the digits of a decimal, and the fraction digits of a
	// temporal type (in Scale).
	Prec, Scale int
	// Digits is the number of digits that a FLOAT is printed with, 0 for as many
	// as tell it apart.
	Digits int
	// Origin is where a computed DOUBLE comes from, as far as its text depends on
	// it.
	Origin doubleOrigin
	// Length is the limit of a string column in characters (bytes if Binary).
	Length int
	// Fixed says CHAR or BINARY: trailing spaces are removed, or zeros padded.
	Fixed bool
	// Blob says TEXT or BLOB: Length counts bytes.
	Blob bool
	// Binary says that the string has no character set.
	Binary bool
	// Explicit says that the collation is a column's own and wins over a
	// literal's.
	Explicit bool
	// Chosen says that a date or time came out of a branch.
	Chosen bool
	// Collation is the collation of a character string.
	Collation Collation
	// Elems holds the members of an ENUM or SET.
	Elems []string
}

// lower maps identifiers as the servers compare them: case-insensitively.
func lower(s string) string { return strings.ToLower(s) }

// Limits returns the least and the greatest value of an integer type.
func (t Type) Limits() (lo int64, hi uint64) { return intBounds(t) }
