package record

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// encode returns the bytes in which InnoDB stores a value that is not NULL. It is
// false for what has no form known here.
// https://dev.mysql.com/doc/refman/en/storage-requirements.html
// https://dev.mysql.com/doc/dev/mysql-server/latest/my__time_8h.html
func encode(v sqlvalue.Value, t *solve.Type) ([]byte, bool) {
	switch t.Class {
	case solve.IntClass:
		b := bigEndian(v.Uint(), int(t.Bits)/8)
		if !t.Unsigned {
			b[0] ^= 0x80
		}
		return b, true
	case solve.YearClass:
		if v.Uint() == 0 {
			return []byte{0}, true
		}
		return []byte{byte(v.Uint() - 1900)}, true
	case solve.EnumClass:
		return bigEndian(v.Uint(), 1+len(t.Elems)>>8), true
	case solve.SetClass:
		return bigEndian(v.Uint(), setBytes(len(t.Elems))), true
	case solve.BitClass:
		return bigEndian(v.Uint(), (int(t.Bits)+7)/8), true
	case solve.FloatClass:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v.Double()))), true
	case solve.DoubleClass:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v.Double())), true
	case solve.DecimalClass:
		return decimal(v, t.Prec, t.Scale)
	case solve.DateClass, solve.DatetimeClass, solve.TimestampClass, solve.TimeClass:
		return temporal(v.Str(), t)
	case solve.StringClass:
		s := v.Str()
		if t.Binary && t.Fixed {
			s += strings.Repeat("\x00", max(0, t.Length-len(s)))
		}
		return []byte(s), true
	}
	return nil, false
}

// bigEndian returns the lowest n bytes of a number.
func bigEndian(u uint64, n int) []byte { return binary.BigEndian.AppendUint64(nil, u)[8-n:] }

// setBytes returns the size of a SET of n members: 1, 2, 3, 4 or 8.
func setBytes(n int) int {
	if n > 32 {
		return 8
	}
	return (n + 7) / 8
}

// decimalBytes holds the size of up to nine digits.
var decimalBytes = [10]int{0, 1, 1, 2, 2, 3, 3, 4, 4, 4}

// decimal packs nine digits into four bytes, from the point on to either side; the
// first bit is flipped, and of a negative number all bits.
// https://dev.mysql.com/doc/refman/en/precision-math-decimal-characteristics.html
func decimal(v sqlvalue.Value, prec, scale int) ([]byte, bool) {
	v = v.ToDecimal()
	if v.Scale() > scale {
		return nil, false
	}
	coef := new(big.Int).Abs(v.Coef())
	digits := coef.String() + strings.Repeat("0", scale-v.Scale())
	if len(digits) > prec {
		return nil, false
	}
	digits = strings.Repeat("0", prec-len(digits)) + digits
	whole, fraction := digits[:prec-scale], digits[prec-scale:]
	var b []byte
	pack := func(d string) {
		if d != "" {
			n, _ := strconv.ParseUint(d, 10, 32)
			b = append(b, bigEndian(n, decimalBytes[len(d)])...)
		}
	}
	for head := len(whole) % 9; whole != ""; head = 9 {
		if head == 0 {
			head = 9
		}
		pack(whole[:head])
		whole = whole[head:]
	}
	for fraction != "" {
		n := min(9, len(fraction))
		pack(fraction[:n])
		fraction = fraction[n:]
	}
	if len(b) == 0 {
		return nil, false
	}
	b[0] ^= 0x80
	if v.Sign() < 0 {
		for i := range b {
			b[i] ^= 0xff
		}
	}
	return b, true
}

// temporal packs a date or time.
func temporal(text string, t *solve.Type) ([]byte, bool) {
	negative := strings.HasPrefix(text, "-")
	date, clock, both := strings.Cut(strings.TrimPrefix(text, "-"), " ")
	switch {
	case both:
	case t.Class == solve.TimeClass:
		date, clock = "", date
	default:
		clock = "00:00:00"
	}
	clock, fraction, _ := strings.Cut(clock, ".")
	var year, month, day, hour, minute, second uint64
	if !numbers(date, "-", &year, &month, &day) && date != "" || !numbers(clock, ":", &hour, &minute, &second) {
		return nil, false
	}
	time3 := hour<<12 | minute<<6 | second
	var b []byte
	switch t.Class {
	case solve.DateClass:
		b = bigEndian(year<<9|month<<5|day, 3)
		b[0] ^= 0x80
		return b, true
	case solve.TimeClass:
		if negative && strings.Trim(fraction, "0") != "" {
			return nil, false // borrows from the whole seconds
		}
		if negative {
			time3 = -time3
		}
		b = bigEndian(0x800000+time3, 3)
	case solve.DatetimeClass:
		b = bigEndian(1<<39|((year*13+month)<<5|day)<<17|time3, 5)
	case solve.TimestampClass:
		// The session's time zone is UTC.
		at, err := time.Parse(time.DateTime, date+" "+clock)
		if err != nil || at.Unix() < 0 {
			return nil, false
		}
		b = bigEndian(uint64(at.Unix()), 4)
	}
	if n := (t.Scale + 1) / 2; n > 0 {
		digits := (fraction + "000000")[:2*n]
		f, err := strconv.ParseUint(digits, 10, 32)
		if err != nil {
			return nil, false
		}
		b = append(b, bigEndian(f, n)...)
	}
	return b, true
}

// numbers reads three numbers.
func numbers(s, between string, out ...*uint64) bool {
	parts := strings.Split(s, between)
	if len(parts) != len(out) {
		return false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 32)
		if err != nil {
			return false
		}
		*out[i] = n
	}
	return true
}

// firstCharacters cuts a text to what a key indexes of it: n characters, or bytes
// where it has none.
func firstCharacters(b []byte, n int, characters bool) []byte {
	if !characters {
		return b[:min(n, len(b))]
	}
	end := 0
	for ; n > 0 && end < len(b); n-- {
		_, size := utf8.DecodeRune(b[end:])
		end += size
	}
	return b[:end]
}
