package export

import (
	"cmp"
	"slices"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
)

// inOrder returns a run of a case whose steps stand in the order in which they were
// sent. In the case itself a line of a session that waits comes late: a reader who
// counts steps would take it for a missing one.
func inOrder(r timeline.Run) timeline.Run {
	stmts := r.History.Stmts
	sent := make([]int, len(stmts))
	for i := range sent {
		sent[i] = i
	}
	slices.SortStableFunc(sent, func(a, b int) int { return cmp.Compare(stmts[a].Submit, stmts[b].Submit) })
	if slices.IsSortedFunc(sent, func(a, b int) int { return cmp.Compare(stmts[a].Line, stmts[b].Line) }) {
		return r
	}
	h, c := *r.History, *r.Case
	h.Stmts = slices.Clone(stmts)
	c.Steps = nil
	taken := make([]bool, len(r.Case.Steps))
	for _, i := range sent {
		line := stmts[i].Line
		taken[line] = true
		h.Stmts[i].Line, h.Stmts[i].Parked = len(c.Steps), false
		c.Steps = append(c.Steps, r.Case.Steps[line])
	}
	for line, sent := range taken {
		if !sent { // the run ended before
			c.Steps = append(c.Steps, r.Case.Steps[line])
		}
	}
	r.History, r.Case = &h, &c
	return r
}
