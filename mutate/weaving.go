package mutate

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
)

// Weaving says where a case follows a pattern. It is not in the case's header, since a
// case whose statements are changed later, or reduced, would keep it.
type Weaving struct {
	Pattern *pattern.Pattern
	// Lines holds the place, among the case's steps, of each operation.
	Lines []int
}

// weaving returns where a case that was built of the draft follows the draft's pattern; nil
// if it does not, as one that was given another order, or in whose tables no write was
// found that does what the pattern wants.
func (d *draft) weaving(c *corpus.Case) *Weaving {
	if d.woven == nil || d.bent {
		return nil
	}
	places := map[int][]int{} // of the statements of a session
	for i, l := range c.Steps {
		places[l.Session] = append(places[l.Session], i)
	}
	w := &Weaving{Pattern: d.woven}
	last := -1
	for _, r := range d.operations {
		line := places[d.sessions[r.session].number][r.stmt]
		if line <= last {
			return nil
		}
		w.Lines = append(w.Lines, line)
		last = line
	}
	return w
}
