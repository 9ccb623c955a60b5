package campaign

import (
	"slices"
	"sync"
	"time"
)

// Point is how far a campaign had come at a moment. Its JSON keys are part of the command line's contract.
type Point struct {
	// Seconds counts from the beginning.
	Seconds float64 `json:"seconds"`
	Cases   int     `json:"cases"`
	// Behaviours counts the classes of behaviour that the campaign's corpus knows: at the first moment those that
	// earlier campaigns had seen. Without a corpus it is left out.
	Behaviours int `json:"behaviours,omitempty"`
	// Deviations counts the rules of known deviations that were seen.
	Deviations int `json:"deviations"`
}

// mostPoints bounds a Series.
const mostPoints = 100

// Series is a campaign over time: at most mostPoints, the first at its beginning, the last at its end.
type Series []Point

// thinned leaves out every other point behind the first and before the last, until there are few enough.
func (s Series) thinned() Series {
	for len(s) > mostPoints {
		kept := Series{}
		for i, p := range s {
			if i%2 == 0 || i == len(s)-1 {
				kept = append(kept, p)
			}
		}
		s = kept
	}
	return s
}

// then adds a later part of a campaign. Which deviations of that part the earlier one had seen, too, is not known point
// by point: there the greater number stands, and deviations, that of the whole, at the end.
func (s Series) then(more Series, deviations int) Series {
	if len(s) == 0 || len(more) == 0 {
		return slices.Concat(s, more)
	}
	out := slices.Clone(s)
	last := s[len(s)-1]
	for _, p := range more {
		p.Seconds, p.Cases = p.Seconds+last.Seconds, p.Cases+last.Cases
		p.Behaviours, p.Deviations = max(p.Behaviours, last.Behaviours), max(p.Deviations, last.Deviations)
		out = append(out, p)
	}
	out[len(out)-1].Deviations = deviations
	return out.thinned()
}

// recorder makes the Series of a campaign of any length: a long one is recorded in coarser steps.
type recorder struct {
	mu     sync.Mutex
	points Series
	every  time.Duration
}

// add adds a point, unless the last one is too young.
func (r *recorder) add(p Point) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.points); n > 0 && p.Seconds-r.points[n-1].Seconds < r.every.Seconds() {
		return
	}
	r.points = append(r.points, p)
	if len(r.points) < mostPoints {
		return
	}
	kept := Series{}
	for i, p := range r.points {
		if i%2 == 0 {
			kept = append(kept, p)
		}
	}
	r.points, r.every = kept, 2*max(r.every, keepEvery)
}

// until returns the points up to one that is now.
func (r *recorder) until(now Point) Series {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(slices.Clone(r.points), now)
}

// point is how far the campaign has come.
func (c *campaign) point(counts *Counts) Point {
	p := Point{Seconds: time.Since(c.begun).Seconds(), Cases: counts.Cases, Deviations: len(counts.Known)}
	if c.guide != nil {
		p.Behaviours = c.guide.report().Behaviours
	}
	return p
}
