package web

import "time"

// sample is the figures of a Board at a moment.
type sample struct {
	at     time.Time
	values map[string]float64
}

// mostSamples bounds what is remembered; a long run is remembered in coarser steps.
const mostSamples = 720

// memory keeps samples of a run of any length.
type memory struct {
	samples []sample
	every   time.Duration
}

// add takes the figures of a Board, unless the last ones are too young.
func (m *memory) add(b *Board, now time.Time) {
	if m.every == 0 {
		m.every = time.Second
	}
	if n := len(m.samples); n > 0 && now.Sub(m.samples[n-1].at) < m.every {
		return
	}
	values := make(map[string]float64, len(b.Figures))
	for _, f := range b.Figures {
		values[f.Name] = f.Value
	}
	m.samples = append(m.samples, sample{now, values})
	if len(m.samples) < mostSamples {
		return
	}
	kept := m.samples[:0]
	for i, s := range m.samples {
		if i%2 == 0 {
			kept = append(kept, s)
		}
	}
	m.samples, m.every = kept, 2*m.every
}

// point is a value at so many seconds from the beginning.
type point struct{ x, y float64 }

// line is a figure over time; of one that grows it is the rate a second.
func (m *memory) line(f *Figure, begun time.Time) []point {
	var out []point
	for i, s := range m.samples {
		y, ok := s.values[f.Name]
		if !ok {
			continue
		}
		if f.Grows {
			if i == 0 {
				continue
			}
			before := m.samples[i-1]
			y = max(0, y-before.values[f.Name]) / max(s.at.Sub(before.at).Seconds(), 1e-3)
		}
		out = append(out, point{s.at.Sub(begun).Seconds(), y})
	}
	return out
}
