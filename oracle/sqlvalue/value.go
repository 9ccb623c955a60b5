package sqlvalue

import "math"

// Kind says how a Value is held.
type Kind uint8

// The kinds of values. Null is the zero Value.
const (
	Null Kind = iota
	// Int is a signed 64-bit integer.
	Int
	// Uint is an unsigned 64-bit integer.
	Uint
	// Decimal is an exact number with a scale of 0 to 30 digits.
	Decimal
	// Double is an IEEE double.
	Double
	// Float is an IEEE single, held as a double.
	Float
	// String is text in utf8mb4.
	String
	// Bytes is a binary string.
	Bytes
	// Temporal is a date or time in its canonical text.
	Temporal
	// Year is a number.
	Year
	// Enum is a member of an ENUM, held with its index from 1; 0 is the error
	// value, an empty text.
	Enum
	// Set is a bag of members of a SET, held as a bitmap with its text.
	Set
	// Bit is a BIT(n), held with its width.
	Bit
	// Generated stands for a value that the server generates (AUTO_INCREMENT):
	// whoever keeps the history fills it in.
	Generated
)

// Value is one SQL value. Two Values of one kind are the same stored value
// exactly if they are equal in Go's sense; SQL's equality is Compare's.
type Value struct {
	kind  Kind
	scale uint8
	// n holds the integer, the bits of a double, or a decimal's unscaled
	// coefficient if that fits into 64 bits (text is empty then).
	n uint64
	// text holds a string's bytes, or a large decimal's unscaled coefficient
	// in decimal digits.
	text string
}

// NewInt returns a signed integer.
func NewInt(i int64) Value { return Value{kind: Int, n: uint64(i)} }

// NewUint returns an unsigned integer.
func NewUint(u uint64) Value { return Value{kind: Uint, n: u} }

// NewDouble returns a double; -0 is kept.
func NewDouble(f float64) Value { return Value{kind: Double, n: math.Float64bits(f)} }

// NewFloat returns a single-precision number that is printed with at most so
// many digits, or with as many as tell it apart for 0.
func NewFloat(f float32, digits int) Value {
	return Value{kind: Float, scale: uint8(digits), n: math.Float64bits(float64(f))}
}

// NewEnum returns the i-th member of an ENUM, counted from 1.
func NewEnum(i int, member string) Value { return Value{kind: Enum, n: uint64(i), text: member} }

// NewSet returns a SET's value: bits holds a bit for each member, the first the
// lowest, text the members joined by commas.
func NewSet(bits uint64, text string) Value { return Value{kind: Set, n: bits, text: text} }

// NewBit returns a BIT(width), 1 to 64.
func NewBit(u uint64, width int) Value { return Value{kind: Bit, scale: uint8(width), n: u} }

// NewString returns a character string.
func NewString(s string) Value { return Value{kind: String, text: s} }

// NewBytes returns a binary string.
func NewBytes(s string) Value { return Value{kind: Bytes, text: s} }

// NewYear returns a YEAR: 0 or 1901 to 2155.
func NewYear(y int) Value { return Value{kind: Year, n: uint64(y)} }

// NewTemporal returns a date or time from its canonical text.
func NewTemporal(s string) Value { return Value{kind: Temporal, text: s} }

// NewGenerated returns the stand-in for a value that the server generates.
func NewGenerated() Value { return Value{kind: Generated} }

// NewBool returns 1 or 0.
func NewBool(b bool) Value {
	if b {
		return NewInt(1)
	}
	return NewInt(0)
}

// Kind returns how the value is held.
func (v Value) Kind() Kind { return v.kind }

// IsNull tells whether the value is NULL.
func (v Value) IsNull() bool { return v.kind == Null }

// IsGenerated tells whether the server generates this value.
func (v Value) IsGenerated() bool { return v.kind == Generated }

// Number returns the integer that stands for an Enum, Set, Bit or Year where a
// number is wanted; any other value is returned as it is.
func (v Value) Number() Value {
	switch v.kind {
	case Enum:
		return NewInt(int64(v.n))
	case Set, Bit, Year:
		return NewUint(v.n)
	}
	return v
}

// Int returns the integer of an Int or Year, and a Uint's bits as signed.
func (v Value) Int() int64 { return int64(v.n) }

// Uint returns the integer of a Uint, and an Int's bits as unsigned.
func (v Value) Uint() uint64 { return v.n }

// Double returns the number of a Double or Float.
func (v Value) Double() float64 { return math.Float64frombits(v.n) }

// Str returns the bytes of a String, Bytes, Temporal, Enum or Set.
func (v Value) Str() string { return v.text }

// Scale returns the digits behind a decimal's point.
func (v Value) Scale() int { return int(v.scale) }

// Truth is a value of SQL's three-valued logic.
type Truth uint8

// The three truth values.
const (
	False Truth = iota
	True
	Unknown
)

// String returns TRUE, FALSE or NULL.
func (t Truth) String() string { return [...]string{"FALSE", "TRUE", "NULL"}[t] }
