package sqlvalue

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// MaxScale is the largest number of digits behind a decimal's point, MaxDigits
// that of all its digits.
// https://dev.mysql.com/doc/refman/9.7/en/precision-math-decimal-characteristics.html
const (
	MaxScale  = 30
	MaxDigits = 65
)

var pow10 = func() (p [19]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

func bigPow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// NewDecimal returns coef / 10^scale. A coefficient that fits into 64 bits is
// held without an allocation; the form is canonical, so equal decimals of
// equal scale are equal Values.
func NewDecimal(coef *big.Int, scale int) Value {
	if coef.IsInt64() {
		return Value{kind: Decimal, scale: uint8(scale), n: uint64(coef.Int64())}
	}
	return Value{kind: Decimal, scale: uint8(scale), text: coef.String()}
}

// NewDecimal64 returns coef / 10^scale.
func NewDecimal64(coef int64, scale int) Value {
	return Value{kind: Decimal, scale: uint8(scale), n: uint64(coef)}
}

// Coef returns the unscaled coefficient of a Decimal, Int or Uint.
func (v Value) Coef() *big.Int {
	switch {
	case v.kind == Uint:
		return new(big.Int).SetUint64(v.n)
	case v.kind == Decimal && v.text != "":
		b, _ := new(big.Int).SetString(v.text, 10)
		return b
	}
	return big.NewInt(int64(v.n))
}

// Small returns the coefficient if the value is an exact number of at most 64
// signed bits.
func (v Value) Small() (int64, bool) {
	if v.kind == Uint && v.n > math.MaxInt64 || v.text != "" {
		return 0, false
	}
	return int64(v.n), true
}

// Sign returns the sign of a Decimal, Int, Uint, Double or Float.
func (v Value) Sign() int {
	switch v.kind {
	case Uint:
		if v.n > 0 {
			return 1
		}
		return 0
	case Double, Float:
		switch f := v.Double(); {
		case f > 0:
			return 1
		case f < 0:
			return -1
		}
		return 0
	case Decimal:
		if v.text != "" {
			if v.text[0] == '-' {
				return -1
			}
			return 1
		}
	}
	switch i := int64(v.n); {
	case i > 0:
		return 1
	case i < 0:
		return -1
	}
	return 0
}

// ToDecimal turns an Int or Uint into a decimal of scale 0.
func (v Value) ToDecimal() Value {
	switch v.kind {
	case Int, Year:
		return Value{kind: Decimal, n: v.n}
	case Uint:
		return NewDecimal(v.Coef(), 0)
	}
	return v
}

// Rescale returns the exact number at another scale, rounding half away from
// zero as the servers' decimals do.
func (v Value) Rescale(scale int) Value {
	from := int(v.scale)
	if from == scale && v.kind == Decimal {
		return v
	}
	c := v.Coef()
	if scale > from {
		return NewDecimal(c.Mul(c, bigPow10(scale-from)), scale)
	}
	return NewDecimal(roundDiv(c, bigPow10(from-scale)), scale)
}

// Truncate returns the decimal at a smaller scale, cutting digits off.
func (v Value) Truncate(scale int) Value {
	if int(v.scale) <= scale {
		return v
	}
	c := v.Coef()
	return NewDecimal(c.Quo(c, bigPow10(int(v.scale)-scale)), scale)
}

// roundDiv divides by a positive d, rounding half away from zero.
func roundDiv(c, d *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(c, d, new(big.Int))
	if r.Abs(r).Lsh(r, 1).Cmp(d) >= 0 {
		if c.Sign() < 0 {
			q.Sub(q, big.NewInt(1))
		} else {
			q.Add(q, big.NewInt(1))
		}
	}
	return q
}

// align brings two exact numbers to one scale as 64-bit coefficients, if they fit.
func align(a, b Value) (x, y int64, scale int, ok bool) {
	x, okA := a.Small()
	y, okB := b.Small()
	if !okA || !okB {
		return 0, 0, 0, false
	}
	switch d := int(a.scale) - int(b.scale); {
	case d == 0:
		return x, y, int(a.scale), true
	case d > 0:
		if d >= len(pow10) {
			return 0, 0, 0, false
		}
		y, ok = mul64(y, pow10[d])
		return x, y, int(a.scale), ok
	default:
		if -d >= len(pow10) {
			return 0, 0, 0, false
		}
		x, ok = mul64(x, pow10[-d])
		return x, y, int(b.scale), ok
	}
}

func mul64(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	p := a * b
	if p/b != a || (a == -1 && b == math.MinInt64) || (b == -1 && a == math.MinInt64) {
		return 0, false
	}
	return p, true
}

func alignBig(a, b Value) (x, y *big.Int, scale int) {
	x, y = a.Coef(), b.Coef()
	if d := int(a.scale) - int(b.scale); d > 0 {
		y.Mul(y, bigPow10(d))
	} else if d < 0 {
		x.Mul(x, bigPow10(-d))
	}
	return x, y, max(int(a.scale), int(b.scale))
}

// CmpExact compares two numbers of kind Int, Uint or Decimal.
func CmpExact(a, b Value) int {
	if x, y, _, ok := align(a, b); ok {
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	x, y, _ := alignBig(a, b)
	return x.Cmp(y)
}

// AddExact returns a + b as a decimal.
func AddExact(a, b Value) Value {
	if x, y, s, ok := align(a, b); ok {
		if z := x + y; (z > x) == (y > 0) {
			return NewDecimal64(z, s)
		}
	}
	x, y, s := alignBig(a, b)
	return NewDecimal(x.Add(x, y), s)
}

// NegExact returns -a as a decimal.
func NegExact(a Value) Value {
	if x, ok := a.Small(); ok && x != math.MinInt64 {
		return NewDecimal64(-x, int(a.scale))
	}
	c := a.Coef()
	return NewDecimal(c.Neg(c), int(a.scale))
}

// MulExact returns a * b as a decimal; its scale is the sum of the scales, at
// most MaxScale.
func MulExact(a, b Value) Value {
	s := int(a.scale) + int(b.scale)
	x, okA := a.Small()
	y, okB := b.Small()
	if okA && okB && s <= MaxScale {
		if z, ok := mul64(x, y); ok {
			return NewDecimal64(z, s)
		}
	}
	c := a.Coef()
	v := c.Mul(c, b.Coef())
	if s > MaxScale {
		v, s = roundDiv(v, bigPow10(s-MaxScale)), MaxScale
	}
	return NewDecimal(v, s)
}

// DivTrunc returns a / b, cut off at the given scale; b is not zero.
func DivTrunc(a, b Value, scale int) Value {
	// a/10^sa / (b/10^sb) * 10^scale = a * 10^(scale+sb-sa) / b
	x, y := a.Coef(), b.Coef()
	if e := scale + int(b.scale) - int(a.scale); e >= 0 {
		x.Mul(x, bigPow10(e))
	} else {
		y.Mul(y, bigPow10(-e))
	}
	return NewDecimal(x.Quo(x, y), scale)
}

// ModExact returns the remainder of a / b with the sign of a; b is not zero.
func ModExact(a, b Value) Value {
	if x, y, s, ok := align(a, b); ok {
		if y == -1 {
			return NewDecimal64(0, s)
		}
		return NewDecimal64(x%y, s)
	}
	x, y, s := alignBig(a, b)
	return NewDecimal(x.Rem(x, y), s)
}

// Digits returns the number of digits of the coefficient without leading zeros.
func (v Value) Digits() int {
	if x, ok := v.Small(); ok {
		u := uint64(x)
		if x < 0 {
			u = -u
		}
		n := 0
		for u > 0 {
			n, u = n+1, u/10
		}
		return n
	}
	return len(strings.TrimPrefix(v.Coef().String(), "-"))
}

// decimalText prints coef / 10^scale with all digits of the scale.
func (v Value) decimalText() string {
	s := v.text
	if s == "" {
		s = strconv.FormatInt(int64(v.n), 10)
	}
	if v.scale == 0 {
		return s
	}
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	if pad := int(v.scale) + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	i := len(s) - int(v.scale)
	return sign + s[:i] + "." + s[i:]
}

// ToInt rounds an exact number to an integer, half away from zero. over is -1
// or 1 where it does not fit into 64 bits, signed or unsigned as asked; the
// result is then the nearest bound.
func (v Value) ToInt(unsigned bool) (n uint64, over int) {
	r := v
	if v.kind == Decimal && v.scale > 0 {
		r = v.Rescale(0)
	}
	if small, ok := r.Small(); ok {
		// Nearly every number; the rest takes memory.
		if unsigned && small < 0 {
			return 0, -1
		}
		return uint64(small), 0
	}
	c := r.Coef()
	if unsigned {
		if c.Sign() < 0 {
			return 0, -1
		}
		if !c.IsUint64() {
			return math.MaxUint64, 1
		}
		return c.Uint64(), 0
	}
	if !c.IsInt64() {
		if c.Sign() < 0 {
			return 1 << 63, -1
		}
		return math.MaxInt64, 1
	}
	return uint64(c.Int64()), 0
}

// Add64 returns a + b for integers and whether it overflows the signed or
// unsigned result; a and b are Int or Uint.
func Add64(a, b Value, unsigned bool) (Value, bool) {
	if a.kind == Int && b.kind == Int && !unsigned {
		z := a.Int() + b.Int()
		return NewInt(z), (z > a.Int()) == (b.Int() > 0)
	}
	if a.kind == Uint && b.kind == Uint && unsigned {
		z, carry := bits.Add64(a.n, b.n, 0)
		return NewUint(z), carry == 0
	}
	return narrow(AddExact(a, b), unsigned)
}

// Sub64 is Add64 for a - b.
func Sub64(a, b Value, unsigned bool) (Value, bool) {
	if a.kind == Int && b.kind == Int && !unsigned {
		z := a.Int() - b.Int()
		return NewInt(z), (z < a.Int()) == (b.Int() > 0)
	}
	return narrow(AddExact(a, NegExact(b)), unsigned)
}

// Mul64 is Add64 for a * b.
func Mul64(a, b Value, unsigned bool) (Value, bool) {
	if a.kind == Int && b.kind == Int && !unsigned {
		z, ok := mul64(a.Int(), b.Int())
		return NewInt(z), ok
	}
	return narrow(MulExact(a, b), unsigned)
}

// narrow turns a decimal of scale 0 into a 64-bit integer.
func narrow(v Value, unsigned bool) (Value, bool) {
	n, over := v.ToInt(unsigned)
	if unsigned {
		return NewUint(n), over == 0
	}
	return NewInt(int64(n)), over == 0
}
