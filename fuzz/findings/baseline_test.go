package findings

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestBaselineReport tells what became of each entry, also where a campaign went on with a baseline that was changed.
func TestBaselineReport(t *testing.T) {
	read := func(text string) *Baseline {
		t.Helper()
		path := filepath.Join(t.TempDir(), "baseline")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := LoadBaseline(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := read("a/RR | why a | https://a | 2999-01-31\nb/RR | why b | https://b | 2999-01-31\nold/RR | why old | https://old | 2020-02-29\n")
	for _, print := range []string{"a/RR", "a/RR", "old/RR", "none/RR"} {
		if got := first.covers(print); got != (print == "a/RR") {
			t.Errorf("%s is covered: %v", print, got)
		}
	}
	want := []BaselineEntry{
		{"a/RR", "why a", "https://a", "2999-01-31", BaselineCovered, 2},
		{"b/RR", "why b", "https://b", "2999-01-31", BaselineUnmatched, 0},
		{"old/RR", "why old", "https://old", "2020-02-29", BaselineExpired, 1},
	}
	r := first.Report()
	if !slices.Equal(r.Entries, want) || r.Covered["a/RR"] != 2 || !slices.Equal(r.Expired, []string{"old/RR"}) || !slices.Equal(r.Unmatched, []string{"b/RR"}) {
		t.Errorf("%+v, want %+v", r, want)
	}
	second := read("b/RR | why b | https://b | 2999-01-31\na/RR | still | https://a | 2999-01-31\nold/RR | renewed | https://old | 2999-02-28\n")
	second.covers("b/RR")
	want = []BaselineEntry{
		{"b/RR", "why b", "https://b", "2999-01-31", BaselineCovered, 1},
		{"a/RR", "still", "https://a", "2999-01-31", BaselineCovered, 2},
		{"old/RR", "renewed", "https://old", "2999-02-28", BaselineCovered, 1},
	}
	if both := r.Merged(second.Report()); !slices.Equal(both.Entries, want) || both.Covered["a/RR"] != 2 || len(both.Expired)+len(both.Unmatched) > 0 {
		t.Errorf("%+v, want %+v", both, want)
	}
	var none *BaselineReport
	if none.Merged(nil) != nil || none.Merged(r) != r || r.Merged(nil) != r {
		t.Error("what one part alone tells is not what both tell")
	}
}
