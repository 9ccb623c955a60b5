// Package axis labels charts: it takes numbers, and gives the ends of axes and text for people.
package axis

import (
	"fmt"
	"math"
	"strings"
)

// RoundUp is the next number above with one digit that is not zero, or 1 for none.
func RoundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	return math.Ceil(v/unit) * unit
}

// Number prints a value in at most three places behind those of a whole number.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case v == math.Trunc(v):
		return grouped(fmt.Sprintf("%.0f", v))
	case a >= 100:
		return grouped(fmt.Sprintf("%.0f", v))
	case a >= 1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// grouped puts commas between thousands.
func grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
