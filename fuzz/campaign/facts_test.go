package campaign

import (
	"slices"
	"testing"
	"time"
)

// TestSampler: of each kind the 1st, 2nd, 4th and so on, as long as asking takes its share
// of the time at most; what was due then is asked about as soon as there is time.
func TestSampler(t *testing.T) {
	var s sampler
	chosen := func(n int, worked time.Duration) (out []int) {
		for i := range n {
			if s.choose("k", worked) {
				out = append(out, i+1)
			}
		}
		return out
	}
	if got := chosen(9, time.Second); !slices.Equal(got, []int{1, 2, 4, 8}) {
		t.Errorf("chose %v of nine", got)
	}
	s.took(time.Second)
	if got := chosen(20, 99*time.Second); got != nil {
		t.Errorf("chose %v, though the time for it is spent", got)
	}
	if got := chosen(1, 100*time.Second); len(got) != 1 || !s.choose("other", 100*time.Second) {
		t.Error("chose neither what was due nor another kind when there was time again")
	}
}
