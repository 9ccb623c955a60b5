package sqlvalue

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Numeric is what the servers find at the start of a string that they read as
// a number.
type Numeric struct {
	// Text is the numeric prefix, without leading space.
	Text string
	// Integer says that Text has neither point nor exponent.
	Integer bool
	// Rest says that something other than spaces follows (or nothing numeric
	// was found in a string that is not empty): the server warns.
	Rest bool
	// Empty says that nothing numeric was found.
	Empty bool
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// NumericPrefix finds the longest prefix that reads as a number:
// spaces, sign, digits, point, digits, exponent.
func NumericPrefix(s string) Numeric {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	from, digits, point, exp := i, 0, false, false
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
			continue
		case c == '.' && !point:
			point = true
			continue
		}
		break
	}
	if digits == 0 {
		return Numeric{Text: "0", Integer: true, Empty: true, Rest: strings.TrimLeft(s, " \t\n\v\f\r") != ""}
	}
	end := i
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		k := j
		for k < len(s) && s[k] >= '0' && s[k] <= '9' {
			k++
		}
		if k > j {
			end, exp = k, true
		}
	}
	rest := false
	for j := end; j < len(s); j++ {
		if !isSpace(s[j]) {
			rest = true
			break
		}
	}
	return Numeric{Text: s[from:end], Integer: !point && !exp, Rest: rest}
}

// IntegerPrefix finds the longest prefix that reads as an integer: spaces,
// sign, digits. CAST AS SIGNED reads strings so.
func IntegerPrefix(s string) Numeric {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	from := i
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	digits := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == digits {
		return Numeric{Text: "0", Integer: true, Empty: true, Rest: true}
	}
	n := Numeric{Text: s[from:i], Integer: true}
	for ; i < len(s); i++ {
		if !isSpace(s[i]) {
			n.Rest = true
		}
	}
	return n
}

// Double returns the number as a double; over says that it is beyond the range.
func (n Numeric) Double() (f float64, over bool) {
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil && math.IsInf(f, 0) {
		return math.Copysign(math.MaxFloat64, f), true
	}
	return f, false
}

// Decimal returns the number as an exact decimal with as many digits behind
// the point as it is written with, at most MaxScale (rounded). ok is false
// where it has more digits than the servers keep.
func (n Numeric) Decimal() (v Value, ok bool) {
	mant, exp := n.Text, 0
	if i := strings.IndexAny(mant, "eE"); i >= 0 {
		e, err := strconv.Atoi(mant[i+1:])
		if err != nil || e > 200 || e < -200 {
			return Value{}, false
		}
		mant, exp = mant[:i], e
	}
	scale := 0
	if i := strings.IndexByte(mant, '.'); i >= 0 {
		scale = len(mant) - i - 1
		mant = mant[:i] + mant[i+1:]
	}
	c, good := new(big.Int).SetString(strings.TrimPrefix(mant, "+"), 10)
	if !good {
		return Value{}, false
	}
	scale -= exp
	if scale < 0 {
		c.Mul(c, bigPow10(-scale))
		scale = 0
	}
	if scale > MaxScale {
		c, scale = roundDiv(c, bigPow10(scale-MaxScale)), MaxScale
	}
	v = NewDecimal(c, scale)
	return v, v.Digits() <= MaxDigits
}

// ToDouble returns a number of any numeric kind as a double.
func (v Value) ToDouble() float64 {
	switch v.kind {
	case Double, Float:
		return v.Double()
	case Uint, Year, Enum, Set, Bit:
		return float64(v.n)
	case Int:
		return float64(int64(v.n))
	case Decimal:
		if v.scale == 0 && v.text == "" {
			return float64(int64(v.n))
		}
		f, _ := strconv.ParseFloat(v.decimalText(), 64)
		return f
	}
	return 0
}

// FormatDouble prints a double as MySQL and MariaDB do: the shortest digits
// that read back as the same number, in plain notation from 1e-15 on, up to
// 1e15 or as long as there are digits behind the point. TiDB differs for
// fractions above 1e15.
func FormatDouble(f float64, bits int) string {
	if f == 0 {
		if math.Signbit(f) {
			return "-0"
		}
		return "0"
	}
	if a := math.Abs(f); a < 1e-15 || a > 999999999999999.9 && f == math.Trunc(f) {
		s := strconv.FormatFloat(f, 'e', -1, bits)
		i := strings.IndexByte(s, 'e')
		exp := strings.TrimPrefix(s[i+1:], "+")
		neg := strings.HasPrefix(exp, "-")
		exp = strings.TrimLeft(strings.TrimPrefix(exp, "-"), "0")
		if neg {
			exp = "-" + exp
		}
		return s[:i] + "e" + exp
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

// floatText prints a single: MySQL and MariaDB round it to six digits, TiDB
// where it is written with an exponent.
// https://dev.mysql.com/doc/refman/9.7/en/problems-with-float.html
func (v Value) floatText() string {
	f, digits := v.Double(), int(v.scale)
	if a := math.Abs(f); digits == 0 && (a == 0 || a < 1e15 && a >= 1e-15) {
		return FormatDouble(f, 32)
	}
	if digits == 0 {
		digits = 6
	}
	x, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'e', digits-1, 64), 64)
	return FormatDouble(x, 64)
}

// Text returns exactly what the server's text protocol prints for the value,
// and whether it is NULL. A Generated value has no text yet.
func (v Value) Text() (text string, null bool) {
	switch v.kind {
	case Null:
		return "", true
	case Int:
		return strconv.FormatInt(int64(v.n), 10), false
	case Uint:
		return strconv.FormatUint(v.n, 10), false
	case Decimal:
		return v.decimalText(), false
	case Double:
		return FormatDouble(v.Double(), 64), false
	case Float:
		return v.floatText(), false
	case Bit:
		n := (int(v.scale) + 7) / 8
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], v.n)
		return string(b[8-n:]), false
	case Year:
		s := strconv.FormatUint(v.n, 10)
		return "0000"[:4-len(s)] + s, false
	}
	return v.text, false
}
