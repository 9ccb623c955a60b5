package solve

import (
	"math"
	"math/bits"

	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// The bit operators work on 64 bits, and on MySQL on binary strings too.
// https://dev.mysql.com/doc/refman/9.7/en/bit-functions.html

// clipped returns what happens where the bits of an exact number or, on MariaDB,
// of a double are those of the nearest number in range: a warning, or an error
// in a strict write.
func (c *compiler) clipped(e expr) func(f *frame, what string) {
	code := uint16(1916)
	if c.d.is(computedDoublesFail) {
		code = 1292
	}
	known := c.d.is(bitsClip)
	// A constant may be folded before errors count; elsewhere the number may be
	// read several times, or in another type.
	sure := e.column || e.arithmetic
	// A branch gives its integers as such to what wants one.
	chosen := !sure && !e.lit && c.d.is(branchKeepsInt)
	return func(f *frame, what string) {
		switch {
		case !known, chosen:
			f.refuse("bits of a number out of range")
		case f.strictWrite && !sure:
			f.refuse("bits of a number out of range in a write")
		default:
			f.lossy(loud, code, what, "")
		}
	}
}

// wholeOf returns how a rounded double becomes a BIGINT where an integer is
// wanted: one that was computed fails beyond the range, or is the end of it, and
// a column's is the end with a warning.
func (c *compiler) wholeOf(e expr) func(f *frame, x float64) int64 {
	const end = 1 << 63
	fails, known := c.d.is(computedDoublesFail), c.d.is(bitsClip)
	stored := e.column && e.typ.Class == DoubleClass
	top := float64(end)
	if fails && stored {
		top = math.Nextafter(end, 0)
	}
	clip := c.clipped(e)
	return func(f *frame, x float64) int64 {
		if x > -end && x < top || x == -end && !(fails && stored) {
			return int64(x)
		}
		switch {
		case !known, fails && !stored && !e.lit && !e.arithmetic:
			f.refuse("bits of a double out of range")
		case fails && e.arithmetic:
			f.fail(1690, "BIGINT value is out of range")
		case stored:
			clip(f, "INTEGER")
		case !e.lit && !e.arithmetic && (f.strictWrite || f.strictUnsure):
			f.refuse("bits of a double out of range")
		}
		if x > 0 {
			return math.MaxInt64
		}
		return math.MinInt64
	}
}

// bits returns an accessor for the expression as the 64 bits that the bit
// operators work on.
func (c *compiler) bits(e expr) func(*frame) (uint64, bool) {
	if e.notNumber {
		return func(f *frame) (uint64, bool) { f.refuse("number of a branch between text and others"); return 0, true }
	}
	e = c.numbered(e)
	if e.mixedInt {
		return func(f *frame) (uint64, bool) {
			f.refuse("integer of a text chosen among other types")
			return 0, true
		}
	}
	branch, mixed := !e.column && !e.lit, e.mixedText && c.d.is(branchKeepsInt)
	eval, reading, decimal := e.eval, e.reading, c.d.is(bitsOfDecimal)
	if reading == silent {
		reading = vague
	}
	clip, whole := c.clipped(e), c.wholeOf(e)
	switch e.typ.Class {
	case IntClass, YearClass, NullClass:
		return func(f *frame) (uint64, bool) {
			v := eval(f)
			return v.Uint(), v.IsNull()
		}
	case DecimalClass:
		return func(f *frame) (uint64, bool) {
			v := eval(f)
			if v.IsNull() {
				return 0, true
			}
			n, over := v.ToInt(decimal && v.Sign() > 0)
			if over != 0 && e.mixedLarge {
				f.refuse("bits of a decimal out of range")
			} else if over != 0 {
				clip(f, "DECIMAL")
			}
			return n, false
		}
	case StringClass:
		return func(f *frame) (uint64, bool) {
			v := eval(f)
			if v.IsNull() {
				return 0, true
			}
			n := sqlvalue.NumericPrefix(v.Str())
			if decimal {
				if n.Rest || n.Empty {
					f.lossy(reading, 1292, "DECIMAL", v.Str())
				}
			} else {
				n = sqlvalue.IntegerPrefix(v.Str())
				if n.Rest || n.Empty {
					f.lossy(reading, 1292, "INTEGER", v.Str())
				}
			}
			x, ok := n.Decimal()
			u, over := x.ToInt(x.Sign() > 0)
			if !ok || over != 0 {
				f.refuse("bits of a string out of range")
			}
			return u, false
		}
	default:
		return func(f *frame) (uint64, bool) {
			v := eval(f)
			if v.IsNull() {
				return 0, true
			}
			x := v.ToDouble()
			if branch && x-math.Floor(x) == 0.5 {
				f.refuse("bits of a branch between integers")
			}
			if (mixed || e.mixedLarge) && math.Abs(x) >= 1<<53 {
				f.refuse("bits of a large double chosen among other types")
			}
			if !decimal {
				return uint64(whole(f, math.RoundToEven(x))), false
			}
			if x = math.Round(x); math.Abs(x) < 1<<53 {
				return uint64(int64(x)), false
			}
			// It is the decimal that the double is printed as.
			u, over := uint64(1<<63), -1
			if x > 0 {
				u, over = math.MaxUint64, 1
			}
			if n, ok := sqlvalue.NumericPrefix(sqlvalue.FormatDouble(x, 64)).Decimal(); ok {
				u, over = n.ToInt(x > 0)
			}
			if over != 0 {
				clip(f, "INTEGER")
			}
			return u, false
		}
	}
}

// shiftCount reads a shift's count from a string or double: it is an integer
// there already where other bit operands are decimals.
func (c *compiler) shiftCount(e expr) func(*frame) (uint64, bool) {
	d := *c
	d.d.quirks = d.d.quirks.without(bitsOfDecimal)
	return d.bits(e)
}

// withinSigned refuses decimals and doubles beyond the signed range: they may be
// read as signed numbers.
func withinSigned(e expr) expr {
	if e.typ.Class != DecimalClass && e.typ.Class != DoubleClass && e.typ.Class != FloatClass {
		return e
	}
	return e.each(func(f *frame, v sqlvalue.Value) sqlvalue.Value {
		if v.Kind() == sqlvalue.Decimal && beyondSigned(v) || v.Kind() != sqlvalue.Decimal && math.Abs(v.ToDouble()) >= 1<<63 {
			return f.refuse("bits of a number out of range")
		}
		return v
	})
}

// computedBits tells whether an operand is a bit string that was computed.
func (c *compiler) computedBits(e expr) bool { return !e.column && !e.lit && c.bitString(e) }

// bitString tells whether an operand is, or may be, one on whose bytes the bit
// operators work: AND, OR and XOR only where both are, shifts for the left one.
// https://dev.mysql.com/doc/refman/9.7/en/bit-functions.html
func (c *compiler) bitString(e expr) bool {
	return c.d.is(bitStrings) && (e.typ.Binary || e.typ.Class == StringClass && e.typ.Collation == unknownCollation)
}

func (c *compiler) bitwise(op opcode.Op, a, b expr) (expr, error) {
	shift := op == opcode.LeftShift || op == opcode.RightShift
	left, right := c.bitString(a), c.bitString(b)
	switch {
	case left && shift:
		return c.shiftString(op, a, b)
	case left && (right || b.typ.Class == NullClass), right && a.typ.Class == NullClass && !shift:
		return c.bitStrings(op, a, b)
	}
	p, q := c.bits(a), c.bits(b)
	switch {
	case shift && c.d.is(shiftBy32) && !isExact(b.typ):
		q = c.shiftCount(b)
	case shift && c.d.is(shiftBy32):
		q = c.bits(withinSigned(b))
	}
	short := c.d.is(shiftBy32)
	return expr{typ: bigUint, konst: a.konst && b.konst, eval: func(f *frame) sqlvalue.Value {
		v, null := p(f)
		if null {
			return f.beside(asValue(q))
		}
		w, null := q(f)
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		switch op {
		case opcode.And:
			v &= w
		case opcode.Or:
			v |= w
		case opcode.Xor:
			v ^= w
		case opcode.LeftShift:
			if short {
				w = uint64(uint32(w))
			}
			v <<= w
		default:
			if short {
				w = uint64(uint32(w))
			}
			v >>= w
		}
		return sqlvalue.NewUint(v)
	}}, nil
}

// bitNot compiles the inversion of all bits.
func (c *compiler) bitNot(e expr) (expr, error) {
	if c.bitString(e) {
		return c.byteFunction(e, func(_ *frame, s []byte) {
			for i := range s {
				s[i] = ^s[i]
			}
		})
	}
	bits := c.bits(e)
	return expr{typ: bigUint, konst: e.konst, eval: func(f *frame) sqlvalue.Value {
		u, null := bits(f)
		if null {
			return sqlvalue.Value{}
		}
		return sqlvalue.NewUint(^u)
	}}, nil
}

// bitCount compiles BIT_COUNT.
func (c *compiler) bitCount(args []expr) (expr, error) {
	e := args[0]
	if e.typ.Class != IntClass && !c.d.is(bitsClip) {
		return expr{}, unsupported("BIT_COUNT of other than an integer")
	}
	if c.bitString(e) {
		b, err := c.bytesOf(e)
		return expr{typ: boolInt, konst: e.konst, computed: true, eval: func(f *frame) sqlvalue.Value {
			s, null := b(f)
			if null {
				return sqlvalue.Value{}
			}
			n := 0
			for i := range len(s) {
				n += bits.OnesCount8(s[i])
			}
			return sqlvalue.NewInt(int64(n))
		}}, err
	}
	x := c.bits(e)
	return expr{typ: boolInt, konst: e.konst, computed: true, eval: func(f *frame) sqlvalue.Value {
		u, null := x(f)
		if null {
			return sqlvalue.Value{}
		}
		return sqlvalue.NewInt(int64(bits.OnesCount64(u)))
	}}, nil
}

// bytesOf returns an accessor for the bytes of a binary string, or NULL.
func (c *compiler) bytesOf(e expr) (func(*frame) (string, bool), error) {
	if !e.typ.Binary && e.typ.Class != NullClass {
		return nil, unsupported("bit operator on a text of unknown collation")
	}
	x := e.eval
	if e.print != nil {
		x = e.print
	}
	return func(f *frame) (string, bool) {
		v := x(f)
		return v.Str(), v.IsNull()
	}, nil
}

// bytes makes the expression of a bit operator on binary strings. It is read as a
// number without a warning; bytes that are no ASCII are only printed, and handed
// to other bit operators.
func (c *compiler) bytes(konst bool, eval func(f *frame) sqlvalue.Value) expr {
	return expr{typ: byteString, konst: konst, computed: true, reading: silent, print: eval, eval: func(f *frame) sqlvalue.Value {
		v := eval(f)
		for i := range len(v.Str()) {
			if v.Str()[i] >= 0x80 {
				return f.refuse("bits of a binary string beyond ASCII")
			}
		}
		return v
	}}
}

// byteString is the type of what the bit operators make of binary strings.
var byteString = Type{Class: StringClass, Binary: true, Collation: Binary, Length: 1 << 16}

// byteFunction compiles a function that changes the bytes of a binary string.
func (c *compiler) byteFunction(e expr, change func(f *frame, s []byte)) (expr, error) {
	x, err := c.bytesOf(e)
	return c.bytes(e.konst, func(f *frame) sqlvalue.Value {
		s, null := x(f)
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		b := []byte(s)
		change(f, b)
		return sqlvalue.NewBytes(string(b))
	}), err
}

// bitStrings compiles AND, OR and XOR of binary strings, which must be of one
// length.
func (c *compiler) bitStrings(op opcode.Op, a, b expr) (expr, error) {
	y, err := c.bytesOf(b)
	if err != nil {
		return expr{}, err
	}
	x, err := c.bytesOf(a)
	return c.bytes(a.konst && b.konst, func(f *frame) sqlvalue.Value {
		s, null := x(f)
		if null {
			return f.beside(asValue(y))
		}
		t, null := y(f)
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		if len(s) != len(t) {
			return f.fail(3513, "Binary operands of bitwise operators must be of equal length")
		}
		r := []byte(s)
		for i := range r {
			switch op {
			case opcode.And:
				r[i] &= t[i]
			case opcode.Or:
				r[i] |= t[i]
			default:
				r[i] ^= t[i]
			}
		}
		return sqlvalue.NewBytes(string(r))
	}), err
}

// shiftString compiles the shift of a binary string, which keeps its length.
func (c *compiler) shiftString(op opcode.Op, a, b expr) (expr, error) {
	x, err := c.bytesOf(a)
	count := c.bits(b)
	return c.bytes(a.konst && b.konst, func(f *frame) sqlvalue.Value {
		s, null := x(f)
		if null {
			return f.beside(asValue(count))
		}
		n, null := count(f)
		if null || f.err != nil {
			return sqlvalue.Value{}
		}
		return sqlvalue.NewBytes(shifted(s, n, op == opcode.LeftShift))
	}), err
}

// shifted moves the bits of s by n; what comes in is zero.
func shifted(s string, n uint64, left bool) string {
	r := make([]byte, len(s))
	if n >= uint64(len(s))*8 {
		return string(r)
	}
	whole, part := int(n/8), n%8
	for i := range r {
		from, next := i-whole, i-whole-1
		if left {
			from, next = i+whole, i+whole+1
		}
		var v byte
		if from >= 0 && from < len(s) {
			if v = s[from] >> part; left {
				v = s[from] << part
			}
		}
		if next >= 0 && next < len(s) && part > 0 {
			if left {
				v |= s[next] >> (8 - part)
			} else {
				v |= s[next] << (8 - part)
			}
		}
		r[i] = v
	}
	return string(r)
}
