package axis

import "testing"

// TestNumbers prints numbers and the tops of charts.
func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 1234567: "1,234,567", -1234: "-1,234", 0.25: "0.250", 3.14159: "3.1", 345.6: "346", 100: "100"} {
		if got := Number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]float64{0: 1, 0.3: 0.3, 1: 1, 346: 400, 999: 1000, 1001: 2000} {
		if got := RoundUp(v); got-want > 1e-9 || want-got > 1e-9 {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}
