package infer

// reachability tells which nodes a node reaches: nodes are laid into rows along
// paths, and for each node and row the first node of the row that it reaches
// is kept, 4 bytes each.
type reachability struct {
	rows  int32
	row   []int32
	place []int32
	first []int32
}

// maxReach bounds the memory of reachability, in entries.
const maxReach = 400_000_000

// paths lays the nodes into rows, each node behind a predecessor if one is the
// last of its row. Sessions become rows where their order counts.
func (s *solver) paths(order []int32) *reachability {
	n := s.g.Nodes()
	r := &reachability{row: make([]int32, n), place: make([]int32, n)}
	pred := make([]int32, n) // a predecessor that is the last of its row
	for v := range pred {
		pred[v] = none
		r.row[v] = none
	}
	taken := newBits(n)
	for _, v := range order {
		if p := pred[v]; p != none && !taken.has(p) {
			taken.set(p)
			r.row[v], r.place[v] = r.row[p], r.place[p]+1
		} else {
			r.row[v] = r.rows
			r.rows++
		}
		// The next node in the order behind v takes its place in the row: the
		// next of its session, which comes first among the edges of g that are
		// laid last.
		to, kind := s.g.Out(v)
		for i, w := range to {
			if kind[i]&s.mask != 0 || kind[i] == 0 {
				if pred[w] == none || taken.has(pred[w]) || s.txn(w) == s.txn(v) || s.sameSession(v, w) {
					pred[w] = v
				}
			}
		}
	}
	return r
}

func (s *solver) sameSession(v, w int32) bool {
	a, b := s.txn(v), s.txn(w)
	n := int32(s.d.h.Len())
	return a < n && b < n && s.d.h.Txn(int(a)).Session == s.d.h.Txn(int(b)).Session
}

// update computes which nodes are reached; false if there is a cycle, and an
// error of memory as nil first.
func (s *solver) update() bool {
	order, ok := s.topological()
	if !ok {
		return false
	}
	if s.reach == nil {
		s.reach = s.paths(order)
	}
	r := s.reach
	if int(r.rows)*len(order) > maxReach {
		r.first = nil
		return true
	}
	if r.first == nil {
		r.first = make([]int32, int(r.rows)*len(order))
	}
	const never = 1<<31 - 1
	rows := int(r.rows)
	for i := len(order) - 1; i >= 0; i-- {
		v := order[i]
		own := r.first[int(v)*rows : int(v)*rows+rows]
		for k := range own {
			own[k] = never
		}
		s.eachOut(v, func(w int32) {
			if own[r.row[w]] <= r.place[w] {
				return // reached already by way of another
			}
			other := r.first[int(w)*rows : int(w)*rows+rows]
			for k, p := range other {
				own[k] = min(own[k], p)
			}
		})
		// Last: the next node of its own row is to be looked at, too.
		own[r.row[v]] = r.place[v]
	}
	return true
}

func (r *reachability) reaches(a, b int32) bool {
	return r.first[int(a)*int(r.rows)+int(r.row[b])] <= r.place[b]
}

// possible tells whether chain p may come before chain q.
func (s *solver) possible(p, q int32) bool {
	tail, head := s.chains[p].tail, s.chains[q].head
	w, next := s.x.writer[tail], s.x.writer[head]
	if w == next || s.reach.reaches(s.begin(next), s.commit(w)) {
		return false
	}
	for _, r := range s.x.readers(tail) {
		if r != next && s.reach.reaches(s.commit(next), s.begin(r)) {
			return false
		}
	}
	return true
}

// force puts chain p before q for good, leaving out edges that are implied.
func (s *solver) force(p, q int32) {
	s.before(p, q, func(from, to int32) {
		if from != to && !s.reach.reaches(from, to) {
			s.link(from, to, noLit)
		}
	})
}

// prune excludes orders until nothing changes: Fails if some pair has none
// left, Holds if it went through; what is left is in open.
func (s *solver) prune() Verdict {
	if s.pairs() > maxPairs {
		return Undecided
	}
	for round := 0; ; round++ {
		if !s.update() {
			return Fails
		}
		if s.reach.first == nil {
			return Undecided
		}
		changed := false
		var rest []pair
		look := func(p, q int32) bool {
			pq, qp := s.possible(p, q), s.possible(q, p)
			switch {
			case !pq && !qp:
				s.stuck = &pair{p, q}
				return false
			case !qp:
				s.force(p, q)
				changed = true
			case !pq:
				s.force(q, p)
				changed = true
			default:
				rest = append(rest, pair{p, q})
			}
			return true
		}
		if round == 0 {
			if s.allPairs(look); s.stuck != nil {
				return Fails
			}
		} else {
			rest = s.open[:0]
			for _, o := range s.open {
				if !look(o.p, o.q) {
					return Fails
				}
			}
		}
		s.open = rest
		if !changed || len(rest) == 0 {
			if changed && !s.update() {
				return Fails
			}
			return Holds
		}
	}
}
