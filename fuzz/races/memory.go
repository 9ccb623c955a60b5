package races

import (
	"math/rand/v2"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// memory holds, by the shape of statements, the places at which outcomes changed. Its JSON is part of
// the file that a search is resumed from.
type memory map[string][]*remembered

type remembered struct {
	Place corpus.Hold `json:"place"`
	// Changed counts the cases whose outcomes changed there.
	Changed int `json:"changed"`
}

// mostRemembered bounds the places of one shape.
const mostRemembered = 64

// changed notes a place at which an outcome changed.
func (m memory) changed(shape string, at *corpus.Hold) {
	for _, r := range m[shape] {
		if r.Place == *at {
			r.Changed++
			return
		}
	}
	m[shape] = append(m[shape], &remembered{Place: *at, Changed: 1})
	if len(m[shape]) > mostRemembered {
		slices.SortStableFunc(m[shape], func(a, b *remembered) int { return b.Changed - a.Changed })
		m[shape] = m[shape][:mostRemembered]
	}
}

// some returns at most n places of a shape, drawn.
func (m memory) some(shape string, n int, random *rand.Rand) []*corpus.Hold {
	all := m[shape]
	var out []*corpus.Hold
	for _, i := range random.Perm(len(all))[:min(n, len(all))] {
		out = append(out, &all[i].Place)
	}
	return out
}
