package campaign

import (
	"slices"
	"testing"
)

// TestSeries: a campaign of any length is recorded in bounded space, evenly, from its beginning to its end.
func TestSeries(t *testing.T) {
	for _, seconds := range []int{0, 1, 98, 99, 100, 1000, 50_000} {
		var r recorder
		for n := range seconds {
			r.add(Point{Seconds: float64(n), Cases: 10 * n, Behaviours: n, Deviations: 1})
		}
		s := r.until(Point{Seconds: float64(seconds), Cases: 10 * seconds, Behaviours: seconds, Deviations: 1})
		if len(s) > mostPoints || len(s) < min(seconds+1, mostPoints/2) {
			t.Errorf("%d seconds: %d points", seconds, len(s))
		}
		if last := s[len(s)-1]; last.Cases != 10*seconds || seconds > 0 && s[0].Seconds != 0 {
			t.Errorf("%d seconds: from %+v to %+v", seconds, s[0], last)
		}
		for i := 2; i < len(s)-1; i++ {
			if s[i].Seconds-s[i-1].Seconds != s[1].Seconds-s[0].Seconds {
				t.Fatalf("%d seconds: point %d is %v behind the one before", seconds, i, s[i].Seconds-s[i-1].Seconds)
			}
		}
	}
}

// TestSeriesGoesOn: a part of a campaign goes on where the part before ended.
func TestSeriesGoesOn(t *testing.T) {
	first := Series{{0, 0, 50, 0}, {10, 100, 80, 3}}
	second := Series{{0, 0, 80, 0}, {5, 70, 90, 2}}
	want := Series{{0, 0, 50, 0}, {10, 100, 80, 3}, {10, 100, 80, 3}, {15, 170, 90, 4}}
	if got := first.then(second, 4); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := first.then(nil, 3); !slices.Equal(got, first) {
		t.Errorf("%v, want %v", got, first)
	}
	if got := (Series)(nil).then(second, 2); !slices.Equal(got, second) {
		t.Errorf("%v, want %v", got, second)
	}
	var long Series
	for n := range mostPoints {
		long = append(long, Point{Seconds: float64(n), Cases: n})
	}
	for range 5 {
		long = long.then(long, 0)
	}
	if last := long[len(long)-1]; len(long) > mostPoints || long[0].Cases != 0 || last.Cases != 32*(mostPoints-1) {
		t.Errorf("%d points, from %+v to %+v", len(long), long[0], last)
	}
}
