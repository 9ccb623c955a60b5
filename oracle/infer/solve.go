package infer

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// DefaultConflicts is how many dead ends the search for an order of blind
// writes may meet before a model is left undecided.
const DefaultConflicts = 200_000

// maxPairs bounds the pairs of writes that are compared, 12 bytes each of those
// that stay open.
const maxPairs = 200_000_000

// solve decides the models that depend on the order of writes which nothing
// shows: first by running the transactions one after another so that no read is
// broken, which finds an order if it gets through; then among the orders that the
// clock allows; then by excluding orders through reachability; then by search. Read committed and weaker need no order:
// one that follows read dependencies is always good.
func (j *judgement) solve(d *dependencies) {
	if d.versions == nil || !d.versions.open() || len(j.e.doubts) > 0 {
		return
	}
	known := map[problem]Verdict{}
	// The strongest first: where it holds, the others do.
	for i := len(model.Models) - 1; i >= 0; i-- {
		def := model.Models[i]
		m := def.Model
		if !j.asks(m) || j.Verdicts[m] != "" || def.Kinds&graph.RW == 0 {
			continue
		}
		if j.impliedByHeld(m) {
			continue
		}
		p := problem{def.Kinds & d.present(), def.Snapshot}
		v, ok := known[p]
		if !ok && !p.snapshot && !j.o.searchOnly && d.versions.loose() {
			v, ok = Holds, true
		}
		if !ok {
			j.o.Progress("looking for an order of blind writes: " + string(m))
			v = j.order(d, p)
			known[p] = v
		}
		switch v {
		case Undecided:
			j.Verdicts[m] = Undecided
			j.Reasons[m] = fmt.Sprintf("no order of the blind writes was found or excluded within %d dead ends", j.conflictLimit())
		case Fails:
			j.Verdicts[m] = Fails
		case Holds:
			if def.Kinds&graph.RealTime == 0 || d.timed {
				j.Verdicts[m] = Holds
			}
			j.held = append(j.held, m)
		}
	}
}

// problem is a model as far as the order of writes depends on it.
type problem struct {
	kinds    graph.Kinds
	snapshot bool
}

// present are the kinds of edges that the graph has.
func (d *dependencies) present() graph.Kinds {
	var k graph.Kinds
	for v := range int32(d.g.Nodes()) {
		_, kind := d.g.Out(v)
		for _, x := range kind {
			k |= x
		}
	}
	return k | graph.Item
}

func (j *judgement) asks(m model.Model) bool {
	for _, a := range j.asked {
		if a == m {
			return true
		}
	}
	return false
}

func (j *judgement) impliedByHeld(m model.Model) bool {
	for _, h := range j.held {
		if model.Implies(h, m) {
			return true
		}
	}
	return false
}

func (j *judgement) conflictLimit() int {
	if j.o.Conflicts > 0 {
		return j.o.Conflicts
	}
	return DefaultConflicts
}

func (j *judgement) order(d *dependencies, p problem) Verdict {
	s := newSolver(d, p)
	if s == nil {
		return Undecided
	}
	order, ok := s.topological()
	if !ok {
		return Fails // already told as a cycle
	}
	if j.o.searchOnly {
		s.guess = order
		s.allPairs(func(p, q int32) bool {
			s.open = append(s.open, pair{p, q})
			return true
		})
		return s.search(j.conflictLimit(), maxWork)
	}
	if !j.o.clockFirst && s.serial(order) {
		return Holds
	}
	if j.byTheClock(d, p) == Holds {
		return Holds
	}
	switch s.prune() {
	case Fails:
		j.tellUnorderable(s)
		return Fails
	case Undecided:
		return Undecided
	}
	j.Open = max(j.Open, len(s.open))
	if len(s.open) == 0 {
		return Holds
	}
	order, _ = s.topological()
	if s.serial(order) {
		return Holds
	}
	v := s.search(j.conflictLimit(), maxWork)
	j.Conflicts += s.conflicts
	if v == Fails {
		j.tellUnorderable(s)
	}
	return v
}

// chain is a row of versions of one key, from head to tail.
type chain struct{ head, tail int32 }

// pair is two chains of one key whose order is open.
type pair struct{ p, q int32 }

// solver looks for an order of the chains of all keys.
type solver struct {
	d    *dependencies
	x    *versions
	g    *graph.Graph // doubled for snapshot isolation
	mask graph.Kinds
	two  bool

	// Edges found or tried on top of g: a list for each node.
	first []int32 // by node, into edges
	edges []orderEdge

	// holes are more pairs of orders: one with p none has its hole's number as q.
	holes  []hole
	chains []chain
	bounds []int32 // chains of key k are chains[bounds[k]:bounds[k+1]], without the first
	open   []pair
	keyOf  []int32 // by version

	// What each transaction writes and reads, as versions.
	writeOff, writes []int32
	readOff, reads   []int32

	// guess is an order of nodes, as far as serial got.
	guess     []int32
	reach     *reachability
	conflicts int
	work      int
	// stuck is a pair of which neither order is possible.
	stuck *pair
}

type orderEdge struct {
	from, to, next int32
	lit            int32 // the literal that it is there for, noLit if it holds always
}

const noLit = int32(-1)

func newSolver(d *dependencies, p problem) *solver {
	s := &solver{d: d, x: d.versions, mask: p.kinds, two: p.snapshot, g: d.g}
	if s.x == nil {
		s.x = &versions{first: make([]int32, 1)}
	}
	if p.snapshot {
		s.g = d.g.Doubled()
	}
	x := s.x
	n := int32(d.h.Len())
	s.first = make([]int32, s.g.Nodes())
	for i := range s.first {
		s.first[i] = none
	}
	s.keyOf = make([]int32, len(x.writer))
	s.writeOff = make([]int32, n+1)
	s.readOff = make([]int32, n+1)
	for k := range int32(len(x.first) - 1) {
		s.bounds = append(s.bounds, int32(len(s.chains)))
		inFirst := true
		for v := x.first[k]; v < x.first[k+1]; v++ {
			s.keyOf[v] = k
			switch {
			case v == x.first[k]:
			case x.writer[v] == none:
				return nil // a writer that is not known
			case x.starts(v):
				s.chains = append(s.chains, chain{v, v})
				inFirst = false
			case !inFirst:
				s.chains[len(s.chains)-1].tail = v
			}
			if w := x.writer[v]; w != none {
				s.writeOff[w+1]++
			}
			for _, r := range x.readers(v) {
				s.readOff[r+1]++
			}
		}
	}
	s.bounds = append(s.bounds, int32(len(s.chains)))
	for t := range n {
		s.writeOff[t+1] += s.writeOff[t]
		s.readOff[t+1] += s.readOff[t]
	}
	s.writes = make([]int32, s.writeOff[n])
	s.reads = make([]int32, s.readOff[n])
	for v := range int32(len(x.writer)) {
		if w := x.writer[v]; w != none {
			s.writes[s.writeOff[w]] = v
			s.writeOff[w]++
		}
		for _, r := range x.readers(v) {
			s.reads[s.readOff[r]] = v
			s.readOff[r]++
		}
	}
	copy(s.writeOff[1:], s.writeOff[:n])
	copy(s.readOff[1:], s.readOff[:n])
	s.writeOff[0], s.readOff[0] = 0, 0
	return s
}

// begin and commit are a transaction's nodes.
func (s *solver) begin(t int32) int32 {
	if s.two {
		return 2 * t
	}
	return t
}

func (s *solver) commit(t int32) int32 {
	if s.two {
		return 2*t + 1
	}
	return t
}

func (s *solver) txn(v int32) int32 {
	if s.two {
		return v / 2
	}
	return v
}

// allPairs calls f for each two chains of a key without a known order, until
// it returns false.
func (s *solver) allPairs(f func(p, q int32) bool) {
	for k := range len(s.bounds) - 1 {
		for p := s.bounds[k]; p < s.bounds[k+1]; p++ {
			for q := p + 1; q < s.bounds[k+1]; q++ {
				if !f(p, q) {
					return
				}
			}
		}
	}
}

// pairs counts them.
func (s *solver) pairs() int {
	total := 0
	for k := range len(s.bounds) - 1 {
		n := int(s.bounds[k+1] - s.bounds[k])
		total += n * (n - 1) / 2
	}
	return total
}

// eachOut calls f for each successor of a node.
func (s *solver) eachOut(v int32, f func(w int32)) {
	to, kind := s.g.Out(v)
	for i, w := range to {
		if kind[i]&s.mask != 0 || kind[i] == 0 {
			f(w)
		}
	}
	for e := s.first[v]; e != none; e = s.edges[e].next {
		f(s.edges[e].to)
	}
}

func (s *solver) link(from, to, lit int32) {
	if from == to {
		return
	}
	s.edges = append(s.edges, orderEdge{from, to, s.first[from], lit})
	s.first[from] = int32(len(s.edges) - 1)
}

// topological returns the nodes in an order that follows the edges, false if
// there is a cycle.
func (s *solver) topological() ([]int32, bool) {
	n := s.g.Nodes()
	in := make([]int32, n)
	for v := range int32(n) {
		s.eachOut(v, func(w int32) { in[w]++ })
	}
	order := make([]int32, 0, n)
	for v := range int32(n) {
		if in[v] == 0 {
			order = append(order, v)
		}
	}
	for i := 0; i < len(order); i++ {
		s.eachOut(order[i], func(w int32) {
			if in[w]--; in[w] == 0 {
				order = append(order, w)
			}
		})
	}
	return order, len(order) == n
}

// before gives the edges that put one chain before another.
func (s *solver) before(p, q int32, edge func(from, to int32)) {
	tail, head := s.chains[p].tail, s.chains[q].head
	w, next := s.x.writer[tail], s.x.writer[head]
	edge(s.commit(w), s.begin(next))
	for _, r := range s.x.readers(tail) {
		if r != next {
			edge(s.begin(r), s.commit(next))
		}
	}
}
