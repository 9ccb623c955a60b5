package main

import (
	"cmp"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// attempts is how often a case is run in another order because something waited.
const attempts = 4

// unwaited returns the case with its statements in the order in which they returned: one
// that waited comes behind the end of the transaction that it waited for. Nil: a statement
// never returned, or was refused in the wait.
func unwaited(c *corpus.Case, p *plan, h *history.History) *corpus.Case {
	type place struct {
		line int
		at   history.Tick
	}
	var order []place
	own := p.ownLines()
	for i := range h.Stmts {
		s := &h.Stmts[i]
		if s.Return == 0 || len(s.Waits) > 0 && s.Result.Err != nil && s.Result.Err.Code != errDuplicate {
			return nil
		}
		if k := slices.Index(own, s.Line); k >= 0 {
			order = append(order, place{k, s.Return})
		}
	}
	if len(order) != len(own) {
		return nil
	}
	slices.SortStableFunc(order, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	out := c.Clone()
	for i, o := range order {
		out.Steps[i] = c.Steps[o.line]
	}
	return out
}

// ownLines returns the lines of the case's own statements, in their order.
func (p *plan) ownLines() []int {
	var out []int
	for i := range p.steps {
		if p.steps[i].role == own {
			out = append(out, i)
		}
	}
	return out
}
