package spelling

import "testing"

func TestCount(t *testing.T) {
	for n, want := range []string{"0 cases", "1 case", "2 cases"} {
		if got := Count(n, "case"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
