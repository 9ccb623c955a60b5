package infer

import "slices"

// maxWork bounds the steps through edges of one search, about half a minute.
const maxWork = 3_000_000_000

// lit is an open pair in one of its orders: 2i puts p before q, 2i+1 q before p.
type lit = int32

// decider decides the open pairs: it orders one pair after the other so that it
// fits the order of nodes that it has, keeps that order topological as edges
// come (Marchetti-Spaccamela, Nanni, Rohnert, 1996), and learns from each cycle
// which choices do not go together (conflict-driven clause learning with the
// first unique implication point; variables of late conflicts first).
type decider struct {
	*solver
	value   []int8  // by pair: 0 open, 1 literal 2i holds, -1 literal 2i+1
	level   []int32 // by pair
	reason  []int32 // by pair: a clause, none for choices
	trail   []lit
	marks   []int32 // by level: length of the trail before it
	edgesAt []int32 // by place in the trail: edges before it
	done    int     // of the trail: edges are in, clauses looked at
	clauses [][]lit
	watch   [][]int32 // by literal: clauses that watch it
	seen    []bool

	// Pairs as a list, those of late conflicts first.
	prev, next  []int32
	stamp       []int64
	head, from  int32
	now         int64
	position    []int32 // by node, in nodes
	nodes       []int32
	met, parent []int32
	round       int32
	stack       []int32
	viaEdge     []int32 // by node: the extra edge by which it was met, none
}

// search decides the open pairs, within so many conflicts and steps through edges.
func (s *solver) search(limit, work int) Verdict {
	q := newSearch(s)
	for {
		conflict := q.propagate()
		if conflict != nil {
			s.conflicts++
			if len(q.marks) == 0 {
				return Fails
			}
			if s.conflicts >= limit || s.work > work {
				return Undecided
			}
			if !q.learn(conflict) {
				return Fails
			}
			continue
		}
		v := q.choose()
		if v == none {
			return Holds
		}
		if s.work > work {
			return Undecided
		}
		q.marks = append(q.marks, int32(len(q.trail)))
		q.assign(q.phase(v), none)
	}
}

func newSearch(s *solver) *decider {
	n, vars := s.g.Nodes(), len(s.open)
	q := &decider{solver: s, value: make([]int8, vars), level: make([]int32, vars), reason: make([]int32, vars),
		watch: make([][]int32, 2*vars), seen: make([]bool, vars), prev: make([]int32, vars), next: make([]int32, vars),
		stamp: make([]int64, vars), position: make([]int32, n), nodes: slices.Clone(s.guess),
		met: make([]int32, n), parent: make([]int32, n), viaEdge: make([]int32, n), head: none, from: none}
	for i, v := range q.nodes {
		q.position[v] = int32(i)
	}
	at := func(p pair) int32 {
		if p.p == none {
			return q.position[s.begin(s.holes[p.q].reader)]
		}
		return min(q.position[s.begin(s.x.writer[s.chains[p.p].head])], q.position[s.begin(s.x.writer[s.chains[p.q].head])])
	}
	slices.SortStableFunc(s.open, func(a, b pair) int { return int(at(b) - at(a)) })
	for v := range s.open {
		q.front(int32(v))
	}
	q.from = q.head
	return q
}

// front puts a pair at the front of the list.
func (q *decider) front(v int32) {
	q.now++
	q.stamp[v] = q.now
	q.prev[v], q.next[v] = none, q.head
	if q.head != none {
		q.prev[q.head] = v
	}
	q.head = v
}

func (q *decider) bump(v int32) {
	if q.head == v {
		return
	}
	if q.from == v {
		q.from = q.prev[v]
	}
	q.next[q.prev[v]] = q.next[v]
	if q.next[v] != none {
		q.prev[q.next[v]] = q.prev[v]
	}
	q.front(v)
}

func (q *decider) choose() int32 {
	for q.from != none && q.value[q.from] != 0 {
		q.from = q.next[q.from]
	}
	return q.from
}

// phase is the order of a pair that fits the order of nodes best.
func (q *decider) phase(v int32) lit {
	against := func(l lit) (n int) {
		q.orders(l, func(from, to int32) {
			if q.position[from] > q.position[to] {
				n++
			}
		})
		return n
	}
	if against(2*v) <= against(2*v+1) {
		return 2 * v
	}
	return 2*v + 1
}

func (q *decider) holds(l lit) int8 {
	if l&1 == 0 {
		return q.value[l>>1]
	}
	return -q.value[l>>1]
}

func (q *decider) assign(l lit, reason int32) {
	v := l >> 1
	q.value[v] = 1
	if l&1 == 1 {
		q.value[v] = -1
	}
	q.level[v], q.reason[v] = int32(len(q.marks)), reason
	q.trail = append(q.trail, l)
}

// propagate puts in the edges of what was assigned and follows the clauses. It
// returns literals that all hold and cannot.
func (q *decider) propagate() []lit {
	for ; q.done < len(q.trail); q.done++ {
		l := q.trail[q.done]
		q.edgesAt = append(q.edgesAt[:q.done], int32(len(q.edges)))
		if c := q.order(l); c != nil {
			q.done++
			return c
		}
		if c := q.follow(l ^ 1); c != nil {
			q.done++
			return c
		}
	}
	return nil
}

// follow looks at the clauses that watch a literal which no longer can hold.
func (q *decider) follow(gone lit) []lit {
	list := q.watch[gone]
	kept := list[:0]
	for i, ci := range list {
		c := q.clauses[ci]
		if c[0] == gone {
			c[0], c[1] = c[1], c[0]
		}
		if q.holds(c[0]) > 0 {
			kept = append(kept, ci)
			continue
		}
		moved := false
		for k := 2; k < len(c); k++ {
			if q.holds(c[k]) >= 0 {
				c[1], c[k] = c[k], c[1]
				q.watch[c[1]] = append(q.watch[c[1]], ci)
				moved = true
				break
			}
		}
		if moved {
			continue
		}
		kept = append(kept, ci)
		if q.holds(c[0]) < 0 {
			kept = append(kept, list[i+1:]...)
			q.watch[gone] = kept
			out := make([]lit, len(c))
			for k, x := range c {
				out[k] = x ^ 1
			}
			return out
		}
		q.assign(c[0], ci)
	}
	q.watch[gone] = kept
	return nil
}

// order puts in the edges of a literal. It returns the literals of a cycle.
func (q *decider) order(l lit) (cycle []lit) {
	q.orders(l, func(from, to int32) {
		if cycle == nil && from != to {
			if cycle = q.insert(from, to, l); cycle == nil {
				q.link(from, to, l)
			}
		}
	})
	return cycle
}

// orders gives the edges of a literal.
func (q *decider) orders(l lit, edge func(from, to int32)) {
	switch o := q.open[l>>1]; {
	case o.p == none:
		q.side(&q.holes[o.q], l&1 == 1, edge)
	case l&1 == 1:
		q.before(o.q, o.p, edge)
	default:
		q.before(o.p, o.q, edge)
	}
}

// insert makes room for an edge in the order of nodes.
func (q *decider) insert(from, to int32, l lit) []lit {
	low, high := q.position[to], q.position[from]
	if low > high {
		return nil
	}
	q.round++
	q.met[to] = q.round
	q.stack = append(q.stack[:0], to)
	for len(q.stack) > 0 {
		v := q.stack[len(q.stack)-1]
		q.stack = q.stack[:len(q.stack)-1]
		if q.reachFrom(v, from, high) {
			return q.blame(from, to, l)
		}
	}
	// What to reaches moves behind from; all else between keeps its order.
	var moved []int32
	at := low
	for i := low; i <= high; i++ {
		v := q.nodes[i]
		if q.met[v] == q.round {
			moved = append(moved, v)
			continue
		}
		q.nodes[at], q.position[v] = v, at
		at++
	}
	for _, v := range moved {
		q.nodes[at], q.position[v] = v, at
		at++
	}
	q.work += int(high - low)
	return nil
}

// reachFrom visits the successors of a node up to a place in the order, and
// tells whether the one sought is among them.
func (q *decider) reachFrom(v, sought, high int32) bool {
	visit := func(w, edge int32) bool {
		q.work++
		if q.position[w] > high || q.met[w] == q.round {
			return false
		}
		q.met[w], q.parent[w], q.viaEdge[w] = q.round, v, edge
		if w == sought {
			return true
		}
		q.stack = append(q.stack, w)
		return false
	}
	to, kind := q.g.Out(v)
	for i, w := range to {
		if (kind[i]&q.mask != 0 || kind[i] == 0) && visit(w, none) {
			return true
		}
	}
	for e := q.first[v]; e != none; e = q.edges[e].next {
		if visit(q.edges[e].to, e) {
			return true
		}
	}
	return false
}

// blame collects the literals of the path from to to from, and l.
func (q *decider) blame(from, to int32, l lit) []lit {
	out := []lit{l}
	for v := from; v != to; v = q.parent[v] {
		if e := q.viaEdge[v]; e != none {
			if x := q.edges[e].lit; x != noLit && !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	return out
}

// learn turns a conflict, literals that hold and cannot all, into a clause and
// goes back to where it decides something. False: there is no way.
func (q *decider) learn(conflict []lit) bool {
	// The conflict may lie below the level that was reached.
	top := int32(0)
	for _, l := range conflict {
		top = max(top, q.level[l>>1])
	}
	if top == 0 {
		return false
	}
	q.back(top)
	clause := []lit{0}
	var touched []int32
	open, at := 0, len(q.trail)-1
	pull := func(ls []lit, skip lit) {
		for _, l := range ls {
			v := l >> 1
			if l == skip || q.seen[v] || q.level[v] == 0 {
				continue
			}
			q.seen[v] = true
			touched = append(touched, v)
			if q.level[v] == top {
				open++
			} else {
				clause = append(clause, l^1)
			}
		}
	}
	pull(conflict, -1)
	for {
		for !q.seen[q.trail[at]>>1] {
			at--
		}
		l := q.trail[at]
		at--
		open--
		if open == 0 {
			clause[0] = l ^ 1
			break
		}
		because := q.clauses[q.reason[l>>1]]
		opposite := make([]lit, 0, len(because))
		for _, x := range because {
			if x != l {
				opposite = append(opposite, x^1)
			}
		}
		pull(opposite, -1)
	}
	slices.SortFunc(touched, func(a, b int32) int { return int(q.stamp[a] - q.stamp[b]) })
	for _, v := range touched {
		q.seen[v] = false
		q.bump(v)
	}
	second := int32(0)
	for i, l := range clause[1:] {
		if q.level[l>>1] > second {
			second = q.level[l>>1]
			clause[1], clause[i+1] = clause[i+1], clause[1]
		}
	}
	q.back(second)
	reason := none
	if len(clause) > 1 {
		q.clauses = append(q.clauses, clause)
		reason = int32(len(q.clauses) - 1)
		q.watch[clause[0]] = append(q.watch[clause[0]], reason)
		q.watch[clause[1]] = append(q.watch[clause[1]], reason)
	}
	q.assign(clause[0], reason)
	return true
}

// back takes back all above a level.
func (q *decider) back(level int32) {
	if int(level) >= len(q.marks) {
		return
	}
	to := int(q.marks[level])
	if to < len(q.edgesAt) && to < q.done {
		for i := len(q.edges) - 1; i >= int(q.edgesAt[to]); i-- {
			e := q.edges[i]
			q.first[e.from] = e.next
		}
		q.edges = q.edges[:q.edgesAt[to]]
		q.edgesAt = q.edgesAt[:to]
	}
	for _, l := range q.trail[to:] {
		v := l >> 1
		q.value[v] = 0
		if q.from == none || q.stamp[v] > q.stamp[q.from] {
			q.from = v
		}
	}
	q.trail = q.trail[:to]
	q.marks = q.marks[:level]
	q.done = min(q.done, to)
}
