package infer

import (
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// clockConflicts and clockWork bound the search among the orders that the clock
// allows: some seconds. What overlaps is a handful of transactions at a time, so a
// few hundred dead ends are many.
const (
	clockConflicts = 20_000
	clockWork      = 400_000_000
)

// byTheClock looks for an order of the writes in which a transaction that had
// returned before another one was sent stands before it. Such an order proves the
// model even where it does not ask for real time; that there is none proves
// nothing then. Most pairs of writes are decided by two comparisons of times,
// without the tables of reachability, and only those that overlap are searched:
// O(pairs of writes of a key), memory for those that overlap.
//
// It answers for problem p with the orders of sessions and of real time added.
func (j *judgement) byTheClock(d *dependencies, p problem) Verdict {
	p.kinds |= graph.Session | graph.RealTime
	if v, ok := j.clocked[p]; ok {
		return v
	}
	if j.clocked == nil {
		j.clocked = map[problem]Verdict{}
	}
	v := j.orderByTheClock(d, p)
	j.clocked[p] = v
	return v
}

func (j *judgement) orderByTheClock(d *dependencies, p problem) Verdict {
	if !j.e.hasTimes() {
		return Undecided
	}
	if p.kinds&^d.built != 0 {
		if j.timed == nil {
			j.timed = j.e.dependencies(graph.All)
		}
		d = j.timed
	}
	s := newSolver(d, p)
	if s == nil {
		return Undecided
	}
	if v := s.excludeByTime(); v != Holds {
		return v
	}
	order, ok := s.topological()
	if !ok {
		return Fails
	}
	if len(s.open) == 0 || s.serial(order) {
		return Holds
	}
	v := s.search(min(clockConflicts, j.conflictLimit()), clockWork)
	j.Open, j.Conflicts = max(j.Open, len(s.open)), j.Conflicts+s.conflicts
	return v
}

// hasTimes tells whether some transactions were sent after others had returned.
func (e *evidence) hasTimes() bool {
	t := newTimeline(e.h, e.committed)
	return t.points > 0
}

// returnedBefore tells whether transaction a had returned when b was sent: the
// order of the timeline.
func (s *solver) returnedBefore(a, b int32) bool {
	x, y := s.d.h.Txn(int(a)), s.d.h.Txn(int(b))
	return x.Status == kv.OK && x.Return != kv.Unknown && y.Invoke != kv.Unknown && x.Return < y.Invoke
}

// excludeByTime orders the pairs of chains of which the clock allows one order
// only, and leaves the others open. Fails: some pair has no order left.
func (s *solver) excludeByTime() Verdict {
	if s.pairs() > maxPairs {
		return Undecided
	}
	verdict := Holds
	s.allPairs(func(p, q int32) bool {
		switch pq, qp := s.timely(p, q), s.timely(q, p); {
		case !pq && !qp:
			verdict = Fails
			return false
		case !qp:
			s.forceByTime(p, q)
		case !pq:
			s.forceByTime(q, p)
		default:
			s.open = append(s.open, pair{p, q})
		}
		return true
	})
	return verdict
}

// timely tells whether the clock allows chain p before chain q.
func (s *solver) timely(p, q int32) bool {
	tail, head := s.chains[p].tail, s.chains[q].head
	w, next := s.x.writer[tail], s.x.writer[head]
	if w == next || s.returnedBefore(next, w) {
		return false
	}
	for _, r := range s.x.readers(tail) {
		if r != next && s.returnedBefore(next, r) {
			return false
		}
	}
	return true
}

// forceByTime puts chain p before q for good, leaving out what the timeline says.
func (s *solver) forceByTime(p, q int32) {
	s.before(p, q, func(from, to int32) {
		if !s.returnedBefore(s.txn(from), s.txn(to)) {
			s.link(from, to, noLit)
		}
	})
}
