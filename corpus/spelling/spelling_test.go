package spelling

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"level", "reported", "replay", "reduce", "run", "verdict (TARGET, LEVELS)", "RC"}
	for word, want := range map[string]string{
		"levl": "level", "lveel": "level", "LEVEL": "level", "levels": "level", "repotred": "reported", "relpay": "replay", "rnu": "run",
		"rc": "RC", "x": "", "ru": "run", "Copyright": "", "frobnicate": "", "": "", "lèvel": "level",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Hint("levl", known); got != ` (did you mean "level"?)` {
		t.Error(got)
	}
	if got := Hint("Copyright", known); got != "" {
		t.Error(got)
	}
	if got := Nearest("ab", nil); got != "" {
		t.Error(got)
	}
}

func TestDistance(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"ab", "ba", 1}, {"level", "levl", 1}, {"kitten", "sitting", 3}, {"abc", "abc", 0},
	} {
		if got := distance(x.a, x.b); got != x.want {
			t.Errorf("%q, %q: %d, want %d", x.a, x.b, got, x.want)
		}
		if got := distance(x.b, x.a); got != x.want {
			t.Errorf("%q, %q: %d, want %d", x.b, x.a, got, x.want)
		}
	}
}
