package infer

import (
	"container/heap"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// hole is a row of versions of a key between others, of which a read chose none: it
// comes before the first of them, by a dependency of kind rw, or depends on what
// followed the last.
type hole struct {
	reader        int32
	before, after int32 // writers of the first of the row, and of what follows the row
	key           int32
	rw            graph.Kinds
}

// place decides the models that depend on where reads stand beside the holes of what
// they chose. The order of transactions that the clock suggests is tried first. If it
// does not fit, sides are excluded through reachability, and the rest is searched for.
func (j *judgement) place(d *dependencies) {
	if len(j.e.holes) == 0 || len(j.e.doubts) > 0 || d.versions != nil {
		return
	}
	known := map[problem]Verdict{}
	for i := len(model.Models) - 1; i >= 0; i-- {
		def := model.Models[i]
		if !j.asks(def.Model) || j.Verdicts[def.Model] != "" || j.impliedByHeld(def.Model) {
			continue
		}
		p := problem{def.Kinds & d.present(), def.Snapshot}
		// Edges that only a hole gives count, too.
		p.kinds |= def.Kinds & graph.Data
		v, ok := known[p]
		if !ok {
			j.o.Progress("looking for the place of reads: " + string(def.Model))
			v = j.placeAll(d, p)
			known[p] = v
		}
		switch v {
		case Undecided:
			j.Verdicts[def.Model] = Undecided
			j.Reasons[def.Model] = fmt.Sprintf(
				"no place of the reads by conditions was found or excluded within %d dead ends", j.conflictLimit())
		case Fails:
			j.Verdicts[def.Model] = Fails
		case Holds:
			if def.Kinds&graph.RealTime == 0 || d.timed {
				j.Verdicts[def.Model] = Holds
			}
			j.held = append(j.held, def.Model)
		}
	}
}

func (j *judgement) placeAll(d *dependencies, p problem) Verdict {
	s := newSolver(d, p)
	for _, h := range j.e.holes {
		// A model without these anti-dependencies lets a read choose what is oldest.
		if p.kinds&h.rw != 0 {
			s.holes = append(s.holes, h)
		}
	}
	order, ok := s.byClock()
	switch {
	case !ok:
		return Fails // already told as a cycle
	case s.fits(order) || s.mend(order):
		return Holds
	}
	switch s.pruneHoles() {
	case Fails:
		j.tellPlaceless(s)
		return Fails
	case Undecided:
		return Undecided
	}
	j.Open = max(j.Open, len(s.open))
	if order, ok = s.byClock(); ok && s.fits(order) {
		return Holds
	}
	s.guess = order
	v := s.search(j.conflictLimit(), maxWork)
	j.Conflicts += s.conflicts
	if v == Fails {
		j.e.report(model.Unorderable, none, say("Wherever the reads by conditions stand beside what they did not show, "+
			"there is a cycle of dependencies; %d dead ends prove it.", s.conflicts))
	}
	return v
}

// side gives the edge that puts a read before its hole, or behind it.
func (s *solver) side(h *hole, behind bool, edge func(from, to int32)) {
	if behind {
		edge(s.commit(h.after), s.begin(h.reader))
		return
	}
	edge(s.begin(h.reader), s.commit(h.before))
}

// inside tells whether an order, by node, puts a read into a hole.
func (s *solver) inside(h *hole, position []int32) bool {
	r := position[s.begin(h.reader)]
	return h.before != h.reader && r > position[s.commit(h.before)] && r < position[s.commit(h.after)]
}

func positions(order []int32) []int32 {
	at := make([]int32, len(order))
	for i, v := range order {
		at[v] = int32(i)
	}
	return at
}

// fits tells whether an order puts no read into a hole.
func (s *solver) fits(order []int32) bool {
	at := positions(order)
	return !slices.ContainsFunc(s.holes, func(h hole) bool { return s.inside(&h, at) })
}

// mend moves reads that stand in a hole to its nearer side, some times over. What that
// leaves behind, if it comes to nothing, is taken back.
func (s *solver) mend(order []int32) bool {
	const rounds = 20
	edges, first := len(s.edges), slices.Clone(s.first)
	for range rounds {
		at := positions(order)
		for i := range s.holes {
			if h := &s.holes[i]; s.inside(h, at) {
				r := at[s.begin(h.reader)]
				s.side(h, at[s.commit(h.after)]-r < r-at[s.commit(h.before)], func(from, to int32) { s.link(from, to, noLit) })
			}
		}
		var ok bool
		if order, ok = s.byClock(); !ok {
			break
		}
		if s.fits(order) {
			return true
		}
	}
	s.edges, s.first = s.edges[:edges], first
	return false
}

// byClock returns the nodes in an order that follows the edges and, as far as these
// let it, the clock: a transaction begins when it was sent, and commits when it had
// returned. False: there is a cycle.
func (s *solver) byClock() ([]int32, bool) {
	n := s.g.Nodes()
	in := make([]int32, n)
	for v := range int32(n) {
		s.eachOut(v, func(w int32) { in[w]++ })
	}
	q := &clockQueue{due: s.due()}
	for v := range int32(n) {
		if in[v] == 0 {
			heap.Push(q, v)
		}
	}
	order := make([]int32, 0, n)
	for len(q.nodes) > 0 {
		v := heap.Pop(q).(int32)
		order = append(order, v)
		s.eachOut(v, func(w int32) {
			if in[w]--; in[w] == 0 {
				heap.Push(q, w)
			}
		})
	}
	return order, len(order) == n
}

// due is when a node would come by the clock.
func (s *solver) due() []int64 {
	out := make([]int64, s.g.Nodes())
	for v := range out {
		t := s.txn(int32(v))
		if t >= int32(s.d.h.Len()) {
			continue // a point of time
		}
		x := s.d.h.Txn(int(t))
		invoke, ret := x.Invoke, x.Return
		switch {
		case invoke == kv.Unknown:
			invoke, ret = int64(t), int64(t)
		case ret == kv.Unknown:
			ret = 1<<62 - 1
		}
		only := !slices.ContainsFunc(s.d.h.Ops(int(t)), func(o kv.Op) bool { return !o.Kind.IsRead() })
		if out[v] = ret; s.two && v&1 == 0 || !s.two && only {
			out[v] = invoke
		}
	}
	return out
}

// clockQueue gives nodes by the time at which they are due.
type clockQueue struct {
	nodes []int32
	due   []int64
}

func (q *clockQueue) Len() int { return len(q.nodes) }
func (q *clockQueue) Less(i, j int) bool {
	a, b := q.nodes[i], q.nodes[j]
	return q.due[a] < q.due[b] || q.due[a] == q.due[b] && a < b
}
func (q *clockQueue) Swap(i, j int) { q.nodes[i], q.nodes[j] = q.nodes[j], q.nodes[i] }
func (q *clockQueue) Push(x any)    { q.nodes = append(q.nodes, x.(int32)) }
func (q *clockQueue) Pop() any {
	v := q.nodes[len(q.nodes)-1]
	q.nodes = q.nodes[:len(q.nodes)-1]
	return v
}

// pruneHoles excludes sides of holes until nothing changes: Fails if a hole has none
// left. What both sides are left of is in open.
func (s *solver) pruneHoles() Verdict {
	rest := make([]int32, len(s.holes))
	for i := range rest {
		rest[i] = int32(i)
	}
	for {
		if !s.update() {
			return Fails
		}
		if s.reach.first == nil {
			return Undecided
		}
		changed := false
		var left []int32
		for _, i := range rest {
			h := &s.holes[i]
			front := h.before == h.reader || !s.reach.reaches(s.commit(h.before), s.begin(h.reader))
			back := h.after != h.reader && !s.reach.reaches(s.begin(h.reader), s.commit(h.after))
			switch {
			case !front && !back:
				s.stuck = &pair{none, i}
				return Fails
			case front && back:
				left = append(left, i)
			default:
				s.side(h, back, func(from, to int32) {
					if from != to && !s.reach.reaches(from, to) {
						s.link(from, to, noLit)
						changed = true
					}
				})
			}
		}
		rest = left
		if !changed {
			break
		}
	}
	for _, i := range rest {
		s.open = append(s.open, pair{none, i})
	}
	return Holds
}

// tellPlaceless reports a read that can stand on no side of a hole. Where the
// dependencies alone show that, it has the name of the lesser of the two cycles.
func (j *judgement) tellPlaceless(s *solver) {
	e := j.e
	if s.stuck == nil {
		e.report(model.Unorderable, none, say("Wherever the reads by conditions stand beside what they did not show, "+
			"there is a cycle of dependencies."))
		return
	}
	h := &s.holes[s.stuck.q]
	front := s.around(s.commit(h.before), s.begin(h.reader), graph.Edge{From: h.reader, To: h.before, Kind: h.rw})
	wr := graph.WR
	if h.rw == graph.PredicateRW {
		wr = graph.PredicateWR
	}
	back := s.around(s.begin(h.reader), s.commit(h.after), graph.Edge{From: h.after, To: h.reader, Kind: wr})
	if front == nil || back == nil {
		e.report(model.Unorderable, h.key, say("T1 read without key %s: neither before T2 changed that nor behind T3, "+
			"which changed it again, because of other reads of that kind.", e.key(h.key)),
			h.reader, h.before, h.after)
		return
	}
	lesser, other, where := front, back, "behind"
	if rank(model.Classify(back)) > rank(model.Classify(front)) {
		lesser, other, where = back, front, "before"
	}
	kind := model.Classify(lesser)
	grp, keep := e.found.add(kind)
	if !keep {
		return
	}
	a := Anomaly{Kind: kind, Cycle: lesser, Steps: e.steps(lesser)}
	for _, c := range lesser {
		a.Txns = append(a.Txns, int(c.From))
	}
	for _, c := range other {
		if !slices.Contains(a.Txns, int(c.From)) {
			a.Txns = append(a.Txns, int(c.From))
		}
	}
	a.Steps = append(a.Steps, fmt.Sprintf("Had the read seen key %s %s the versions that it did not show, "+
		"there would be a cycle as well:", e.key(h.key), where))
	a.Steps = append(a.Steps, e.steps(other)...)
	grp.Examples = append(grp.Examples, a)
}

// rank is the place of the weakest model that forbids an anomaly.
func rank(k model.Kind) int {
	return slices.IndexFunc(model.Models, func(d model.Definition) bool { return model.Forbids(d.Model, k) })
}

// around closes an edge to a cycle over a path of dependencies that are certain, nil
// if other holes are needed for it.
func (s *solver) around(from, to int32, close graph.Edge) []graph.Edge {
	f := graph.NewFinder(s.g)
	path := f.Path(from, to, s.mask)
	if s.two {
		path = graph.Undouble(path)
	}
	n := int32(s.d.h.Len())
	out := []graph.Edge{close}
	for _, e := range path {
		if last := &out[len(out)-1]; last.To >= n {
			last.To = e.To // by way of points of time
			continue
		}
		out = append(out, e)
	}
	if len(path) == 0 || !graph.Simple(out) || out[len(out)-1].To != close.From {
		return nil
	}
	return out
}
