package main

import (
	"slices"
	"strconv"

	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// outcome is what became of a pattern in one run.
type outcome int

const (
	notJudged outcome = iota
	// seen: the statements ran in the pattern's order, and every edge arose.
	seen
	// seenLater: a statement waited, so the order was another, with the same edges.
	seenLater
	// waited: an edge did not arise, as one of its statements waited for the other.
	waited
	// failed: the server ended a transaction with an error.
	failed
	// readOther: an edge did not arise although its statements ran in order.
	readOther
)

// look says what became of a pattern, and of a failed one the first error. It asks no
// oracle: that has to agree.
func look(p *pattern.Pattern, h *history.History) (outcome, string) {
	if h.End != history.Complete {
		return notJudged, ""
	}
	v := &sight{p: p, h: h, stmts: make([]*history.Stmt, len(p.Ops))}
	late := false
	for i := range h.Stmts {
		s := &h.Stmts[i]
		if err := s.Result.Err; err != nil {
			if h.Server.DBMS == history.PostgreSQL {
				return failed, err.State
			}
			return failed, strconv.Itoa(int(err.Code))
		}
		late = late || len(s.Waits) > 0
		for op := range p.Ops {
			if p.Line(op) == s.Line {
				v.stmts[op] = s
			}
		}
	}
	if slices.Contains(v.stmts, nil) {
		return notJudged, ""
	}
	out := seen
	if late {
		out = seenLater
	}
	for _, e := range p.Edges() {
		switch arose, inOrder := v.edge(e); {
		case arose:
		case inOrder:
			if out != waited {
				out = readOther
			}
		default:
			out = waited
		}
	}
	return out, ""
}

// sight is one run of one pattern.
type sight struct {
	p     *pattern.Pattern
	h     *history.History
	stmts []*history.Stmt // by operation
}

// edge says whether an edge arose, and whether its statements ran in the pattern's
// order, the second without a wait.
func (v *sight) edge(e pattern.Edge) (arose, inOrder bool) {
	from, to := v.stmts[e.From], v.stmts[e.To]
	inOrder = from.Return < to.Submit && len(to.Waits) == 0
	switch e.Kind {
	case pattern.WR:
		arose = v.shows(e.To, e.From)
	case pattern.RW:
		arose = !v.shows(e.From, e.To)
	case pattern.WW:
		arose = from.Return < to.Return && !v.isFinal(e.From)
	}
	if !v.p.Cyclic() { // then the meeting with an open transaction is all there is
		dirty := to.Return < v.stmts[v.p.End(v.p.Ops[e.From].Txn)].Submit
		if e.Kind == pattern.WW {
			return dirty, inOrder
		}
		return arose && dirty, inOrder
	}
	return arose, inOrder
}

// shows says whether the answer of one operation has the effect of another.
func (v *sight) shows(read, write int) bool {
	effect, r := v.p.Effect(write), &v.stmts[read].Result
	if v.p.Ops[read].Do == pattern.Update {
		want := v.p.Chosen() + 1
		if effect.Gone {
			want = v.p.Chosen() - 1
		}
		got := r.Matched
		if got < 0 { // PostgreSQL tells no other number
			got = r.Affected
		}
		return got == int64(want)
	}
	return showsIn(r.Rows, effect)
}

func showsIn(rows [][]history.Cell, e pattern.Effect) bool {
	at := slices.IndexFunc(rows, func(row []history.Cell) bool { return row[0].Text == strconv.Itoa(e.Key) })
	if e.Gone {
		return at < 0
	}
	return at >= 0 && rows[at][1].Text == strconv.Itoa(e.Value)
}

// isFinal says whether a write's value is in the table at the end.
func (v *sight) isFinal(write int) bool {
	return len(v.h.Final) > 0 && showsIn(v.h.Final[0].Rows, v.p.Effect(write))
}
