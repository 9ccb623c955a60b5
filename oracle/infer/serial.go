package infer

// serial runs the transactions one after another (with snapshot isolation their
// begins and commits) so that each read finds its version: a version is
// overwritten only when all its readers have read it. It tells whether it got
// through, which proves that there is an order; where it does not, there may
// still be one: what waits first in the given order goes on then, and the order
// that comes of it is a guess for the search. O(nodes + edges) unless many wait
// for one key.
func (s *solver) serial(order []int32) bool {
	r := newRun(s)
	n := int32(s.g.Nodes())
	for v := range n {
		s.eachOut(v, func(w int32) { r.in[w]++ })
	}
	for _, v := range order {
		if r.in[v] == 0 {
			r.ready = append(r.ready, v)
		}
	}
	done := newBits(int(n))
	forced, next := none, 0
	for h := 0; ; h++ {
		if h == len(r.ready) {
			for next < len(order) && (done.has(order[next]) || r.waits[order[next]] == none) {
				next++
			}
			if next == len(order) {
				break
			}
			r.broken = true
			forced = order[next]
			r.ready = append(r.ready, forced)
		}
		v := r.ready[h]
		if done.has(v) {
			continue
		}
		if k := r.blocked(v); k != none && v != forced {
			r.park(v, k)
			continue
		}
		done.set(v)
		r.do(v)
		r.order = append(r.order, v)
		s.eachOut(v, func(w int32) {
			if r.in[w]--; r.in[w] == 0 {
				r.ready = append(r.ready, w)
			}
		})
	}
	s.guess = r.order
	return !r.broken
}

// run is the state of serial.
type run struct {
	s       *solver
	in      []int32 // by node: predecessors that are not done
	ready   []int32
	order   []int32
	current []int32 // by key: its version
	pending []int32 // by key: readers of that version which have not read it
	locked  []int32 // by key: a transaction that has begun and writes it
	parked  []int32 // by key: nodes that wait for it
	behind  []int32 // by node: the next that waits for the same key
	waits   []int32 // by node: the key that it waits for
	broken  bool
}

func newRun(s *solver) *run {
	n, keys := s.g.Nodes(), len(s.bounds)-1
	r := &run{s: s, in: make([]int32, n), current: make([]int32, keys), pending: make([]int32, keys),
		locked: make([]int32, keys), parked: make([]int32, keys), behind: make([]int32, n), waits: make([]int32, n)}
	for k := range r.current {
		v := s.x.first[k]
		r.current[k] = v
		r.pending[k] = int32(len(s.x.readers(v)))
		r.locked[k], r.parked[k] = none, none
	}
	for v := range r.waits {
		r.waits[v] = none
	}
	return r
}

func (r *run) writes(t int32) []int32 { return r.s.writes[r.s.writeOff[t]:r.s.writeOff[t+1]] }
func (r *run) reads(t int32) []int32  { return r.s.reads[r.s.readOff[t]:r.s.readOff[t+1]] }

// mayFollow tells whether version v may stand right behind the current one.
func (r *run) mayFollow(k, v int32) bool {
	c := r.current[k]
	x := r.s.x
	if c+1 < x.first[k+1] && !x.starts(c+1) {
		return v == c+1
	}
	return x.starts(v)
}

// blocked returns a key for which a node has to wait, none if it can go on.
func (r *run) blocked(v int32) int32 {
	s := r.s
	t := s.txn(v)
	if t >= int32(s.d.h.Len()) {
		return none
	}
	begins, commits := !s.two || v&1 == 0, !s.two || v&1 == 1
	for _, w := range r.writes(t) {
		k := s.keyOf[w]
		if s.x.writer[w-1] == t && s.keyOf[w-1] == k {
			continue // a second version of its own
		}
		if begins && (r.locked[k] != none || !r.mayFollow(k, w)) {
			return k
		}
		if commits {
			left := r.pending[k]
			if !s.two {
				for _, u := range r.reads(t) {
					if u == r.current[k] {
						left--
					}
				}
			}
			if left > 0 {
				return k
			}
		}
	}
	return none
}

func (r *run) park(v, k int32) {
	r.waits[v] = k
	r.behind[v] = r.parked[k]
	r.parked[k] = v
}

// wake lets the nodes that wait for a key try again.
func (r *run) wake(k int32) {
	for v := r.parked[k]; v != none; v = r.behind[v] {
		r.ready = append(r.ready, v)
	}
	r.parked[k] = none
}

func (r *run) do(v int32) {
	s := r.s
	t := s.txn(v)
	if t >= int32(s.d.h.Len()) {
		return
	}
	if !s.two || v&1 == 0 {
		for _, u := range r.reads(t) {
			k := s.keyOf[u]
			if r.current[k] != u {
				r.broken = true
				continue
			}
			if r.pending[k]--; r.pending[k] <= 1 {
				r.wake(k)
			}
		}
		if s.two {
			for _, w := range r.writes(t) {
				r.locked[s.keyOf[w]] = t
			}
		}
	}
	if !s.two || v&1 == 1 {
		for _, w := range r.writes(t) {
			k := s.keyOf[w]
			r.current[k] = w
			r.pending[k] = int32(len(s.x.readers(w)))
			r.locked[k] = none
			r.wake(k)
		}
	}
}
