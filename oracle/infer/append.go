package infer

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// lists infers the versions of lists. A read shows the order of all appends
// before it; the longest read of a key is the order of its versions, and
// appends that nobody saw come after it in an order that is open.
type lists struct {
	*evidence
	order [][]kv.Value // by key: the longest list read
	hint  []int32      // by key: where the next append likely stands
	index map[int32]map[kv.Value]int32
	// twice are keys in whose order an element stands twice.
	twice map[int32]bool
	// failed tells who wrote an element that only failed transactions wrote.
	failed map[int32]int32
	// doubled versions have several writers.
	doubled map[int32]bool
	// midway versions were overwritten by their own writer.
	midway bits
	rmw    []int32 // by version: a transaction that read it and appended
	// lastAppend is the last append to a key by the transaction looked at, if that
	// has more than fewOperations.
	lastAppend *perKey[int32]
	// hidden are appends that nobody saw: transaction and key.
	hidden []hiddenAppend
}

type hiddenAppend struct{ txn, key int32 }

type bits []uint64

func newBits(n int) bits             { return make(bits, (n+63)/64) }
func (b bits) set(i int32)           { b[i>>6] |= 1 << (i & 63) }
func (b bits) has(i int32) bool      { return b[i>>6]&(1<<(i&63)) != 0 }
func (l *lists) at(k, p int32) int32 { return l.versions.first[k] + 1 + p }

func inferLists(h *kv.History, found *anomalies) *evidence {
	x := &versions{first: make([]int32, h.Keys()+1), order: graph.WW}
	l := &lists{evidence: &evidence{h: h, versions: x, found: found, committed: make([]bool, h.Len())},
		order: make([][]kv.Value, h.Keys()), hint: make([]int32, h.Keys()),
		twice: map[int32]bool{}, failed: map[int32]int32{}, doubled: map[int32]bool{}}
	l.longest()
	n := int32(0)
	for k := range l.order {
		x.first[k] = n
		n += 1 + int32(len(l.order[k]))
	}
	x.first[len(l.order)] = n
	x.writer = make([]int32, n)
	for v := range x.writer {
		x.writer[v] = none
	}
	l.midway = newBits(int(n))
	l.writers()
	l.unwritten()
	l.reads()
	l.insertHidden()
	l.shows = func(o kv.Op, v int32) bool {
		return o.Kind == kv.ReadList && int32(len(h.List(o))) == v-x.first[o.Key]
	}
	l.nameVersion = func(k, v int32) string {
		if p := v - x.first[k] - 1; p >= 0 && int(p) < len(l.order[k]) {
			return h.Spell(l.order[k][p])
		}
		return ""
	}
	return l.evidence
}

func (l *lists) longest() {
	for k := range l.order {
		l.order[k] = l.h.Spine(int32(k))
	}
	odd := l.h.Odd()
	l.eachOddRead(func(t int32, o kv.Op) {
		if list := l.h.List(o); len(list) > len(l.order[o.Key]) {
			l.order[o.Key] = list
		}
	})
	changed := map[int32]bool{}
	for k := range l.order {
		if !l.isSpine(int32(k)) {
			changed[int32(k)] = true
		}
	}
	for t := range l.h.Len() {
		if !odd {
			break
		}
		for _, o := range l.h.Ops(t) {
			if o.Kind != kv.ReadList || l.h.InSpine(o) && (len(changed) == 0 || !changed[o.Key]) {
				continue
			}
			if list := l.h.List(o); !slices.Equal(list, l.order[o.Key][:len(list)]) {
				l.incompatible(int32(t), o)
			}
		}
	}
	for k, order := range l.order {
		// Long lists are looked up by a map, which tells doubled elements, too.
		if len(order) > 64 {
			m := make(map[kv.Value]int32, len(order))
			for i := len(order) - 1; i >= 0; i-- {
				m[order[i]] = int32(i)
			}
			if l.index == nil {
				l.index = map[int32]map[kv.Value]int32{}
			}
			l.index[int32(k)] = m
		}
		if ascending(order) {
			continue // nothing twice
		}
		for i, v := range order {
			if l.search(int32(k), v) != int32(i) {
				l.duplicate(int32(k), v)
				l.twice[int32(k)] = true
			}
		}
	}
}

func ascending(order []kv.Value) bool {
	for i := 1; i < len(order); i++ {
		if order[i-1] >= order[i] {
			return false
		}
	}
	return true
}

// eachOddRead calls f for reads that are no prefix of their key's spine.
func (l *lists) eachOddRead(f func(t int32, o kv.Op)) {
	if !l.h.Odd() {
		return
	}
	for t := range l.h.Len() {
		for _, o := range l.h.Ops(t) {
			if o.Kind == kv.ReadList && !l.h.InSpine(o) {
				f(int32(t), o)
			}
		}
	}
}

// position is where an element stands in its key's order, none if nowhere. Where
// it stands twice, the first time.
func (l *lists) position(k int32, v kv.Value) int32 {
	order := l.order[k]
	if h := l.hint[k]; int(h) < len(order) && order[h] == v && (len(l.twice) == 0 || !l.twice[k]) {
		l.hint[k] = h + 1
		return h
	}
	p := l.search(k, v)
	if p != none {
		l.hint[k] = p + 1
	}
	return p
}

func (l *lists) search(k int32, v kv.Value) int32 {
	if m := l.index[k]; m != nil {
		if p, ok := m[v]; ok {
			return p
		}
		return none
	}
	return int32(slices.Index(l.order[k], v))
}

func (l *lists) writers() {
	clear(l.hint)
	x := l.versions
	last := newPerKey[int32](l.h.Keys()) // the version that the transaction appended last
	for i := range l.h.Len() {
		t := int32(i)
		status := l.h.Status(i)
		l.committed[i] = status == kv.OK
		for _, o := range l.h.Ops(i) {
			if o.Kind != kv.Append {
				continue
			}
			p := l.position(o.Key, o.Val)
			if p == none {
				if status != kv.Fail {
					l.hidden = append(l.hidden, hiddenAppend{t, o.Key})
				}
				if v, ok := last.get(t, o.Key); ok && v >= 0 {
					l.midway.set(v)
				}
				last.set(t, o.Key, none)
				continue
			}
			v := l.at(o.Key, p)
			if u, ok := last.get(t, o.Key); ok {
				if u >= 0 {
					l.midway.set(u)
				}
				if (u < 0 || u > v) && status == kv.OK {
					l.turned(t, o)
				}
			}
			last.set(t, o.Key, v)
			switch {
			case status == kv.Fail:
				if x.writer[v] == none && !l.doubled[v] {
					l.failed[v] = t
				}
				continue
			case x.writer[v] != none || l.doubled[v]:
				l.doubled[v] = true
				x.writer[v] = none
				l.doubt("a value that was read was written more than once: which write it was cannot be told")
			default:
				x.writer[v] = t
				delete(l.failed, v)
			}
			l.committed[i] = true
		}
	}
}

// unwritten reports elements without a writer, and writes that rest on failed
// ones.
func (l *lists) unwritten() {
	for k, order := range l.order {
		dirty := none
		for p, val := range order {
			v := l.at(int32(k), int32(p))
			if w := l.versions.writer[v]; w != none {
				if dirty != none && l.h.Status(int(w)) == kv.OK {
					l.dirtyUpdate(int32(k), dirty, v)
					dirty = none
				}
				continue
			}
			if _, ok := l.failed[v]; ok {
				dirty = v
			} else if !l.doubled[v] && (!l.twice[int32(k)] || l.search(int32(k), val) == int32(p)) {
				l.neverWritten(int32(k), val)
			}
		}
	}
}

// keyState is what a transaction knows of a list before its next operation.
type keyState struct {
	op     int32 // the read before, none
	prefix int32 // its length in the key's order, none if it is no prefix
	owned  int32 // how many elements it appended since
	first  int32 // its first operation on the key
	wrote  bool
}

func (l *lists) reads() {
	x := l.versions
	n := len(x.writer)
	x.readOff = make([]int32, n+1)
	l.rmw = make([]int32, n)
	for v := range l.rmw {
		l.rmw[v] = none
	}
	l.lastAppend = newPerKey[int32](l.h.Keys())
	seen := l.external()
	for v := range n {
		x.readOff[v+1] += x.readOff[v]
	}
	x.readBy = make([]int32, x.readOff[n])
	for i, piece := range seen {
		for _, s := range piece {
			x.readBy[x.readOff[s.version]] = s.reader
			x.readOff[s.version]++
		}
		seen[i] = nil
	}
	copy(x.readOff[1:], x.readOff[:n])
	x.readOff[0] = 0
}

// sighting is a version that a transaction read of others.
type sighting struct{ version, reader int32 }

// fewOperations are looked through again for each read; of longer transactions
// it is remembered where they last append to each key.
const fewOperations = 16

// sightings is how many stand in one piece of a long list of them.
const sightings = 1 << 15

// external collects the versions that each transaction read of others, counts
// them in readOff, and looks at what single reads show.
func (l *lists) external() [][]sighting {
	var seen [][]sighting
	var piece []sighting
	states := newPerKey[keyState](l.h.Keys())
	for i := range l.h.Len() {
		t := int32(i)
		if l.h.Status(i) != kv.OK {
			continue
		}
		ops := l.h.Ops(i)
		for j := 0; len(ops) > fewOperations && j < len(ops); j++ {
			if ops[j].Kind == kv.Append {
				l.lastAppend.set(t, ops[j].Key, int32(j))
			}
		}
		for j, o := range ops {
			if o.Kind != kv.Append && o.Kind != kv.ReadList {
				continue
			}
			s := &states.val[o.Key]
			if states.txn[o.Key] != t+1 {
				states.txn[o.Key] = t + 1
				*s = keyState{op: none, first: int32(j)}
			}
			if o.Kind == kv.Append {
				if !s.wrote && s.op != none && s.prefix != none {
					l.readModifyWrite(l.versions.first[o.Key]+s.prefix, t, o.Key)
				}
				s.wrote = true
				s.owned++
				continue
			}
			list := l.h.List(o)
			p := l.prefix(o, list)
			l.judge(t, int32(j), o, list, p, *s)
			// A second read that shows something else read it of others, too.
			if p != none && !s.wrote && (s.op == none || s.prefix != p) {
				if len(piece) == cap(piece) {
					seen = append(seen, piece)
					piece = make([]sighting, 0, min(sightings, max(16, 2*cap(piece))))
				}
				v := l.versions.first[o.Key] + p
				piece = append(piece, sighting{v, t})
				l.versions.readOff[v+1]++
			}
			s.op, s.prefix, s.owned = int32(j), p, 0
		}
	}
	return append(seen, piece)
}

// isSpine tells whether a key's order is its spine, which holds for almost all.
func (l *lists) isSpine(k int32) bool {
	order, spine := l.order[k], l.h.Spine(k)
	return len(order) == 0 || len(spine) == len(order) && &spine[0] == &order[0]
}

// prefix is the length of a list that is a prefix of its key's order, else none.
func (l *lists) prefix(o kv.Op, list []kv.Value) int32 {
	order := l.order[o.Key]
	if l.h.InSpine(o) && l.isSpine(o.Key) || len(list) <= len(order) && slices.Equal(list, order[:len(list)]) {
		return int32(len(list))
	}
	return none
}

func (l *lists) readModifyWrite(v, t, k int32) {
	switch other := l.rmw[v]; other {
	case none:
		l.rmw[v] = t
	case t:
	default:
		l.lostUpdate(other, t, k)
	}
}

// judge looks at what one read shows by itself.
func (l *lists) judge(t, j int32, o kv.Op, list []kv.Value, p int32, s keyState) {
	if p == none {
		for i, v := range list {
			if slices.Contains(list[:i], v) {
				l.duplicate(o.Key, v)
				break
			}
		}
	}
	l.judgeInside(t, j, o, list, s)
	if p == none || p == 0 {
		return
	}
	first := l.versions.first[o.Key]
	if len(l.failed) > 0 {
		for q := int32(1); q <= p; q++ {
			if w, ok := l.failed[first+q]; ok {
				l.abortedRead(t, w, o, list[q-1])
				break
			}
		}
	}
	last := first + p
	if w := l.versions.writer[last]; w != none && w != t && l.midway.has(last) {
		l.intermediateRead(t, w, o, list[p-1])
	}
}

// judgeInside compares a read with what its transaction did before.
func (l *lists) judgeInside(t, j int32, o kv.Op, list []kv.Value, s keyState) {
	if s.op == none && s.owned == 0 {
		l.ownLater(t, j, o, list)
		return
	}
	ops := l.h.Ops(int(t))
	n := len(list) - int(s.owned)
	ok := n >= 0
	if ok && s.op != none {
		before := l.h.List(ops[s.op])
		ok = n == len(before) && slices.Equal(before, list[:n])
	}
	if ok && s.owned > 0 {
		at := len(list)
		for i := j - 1; i >= 0 && at > n; i-- {
			if p := ops[i]; p.Kind == kv.Append && p.Key == o.Key {
				at--
				ok = ok && list[at] == p.Val
			}
		}
	}
	if ok {
		return
	}
	if !l.ownLater(t, j, o, list) {
		l.internal(t, j, o)
	}
}

// ownLater reports a list that holds what its transaction appends only later.
func (l *lists) ownLater(t, j int32, o kv.Op, list []kv.Value) bool {
	ops := l.h.Ops(int(t))
	if len(ops) > fewOperations {
		if last, ok := l.lastAppend.get(t, o.Key); !ok || last <= j {
			return false
		}
	}
	for _, p := range ops[j+1:] {
		if p.Kind == kv.Append && p.Key == o.Key && slices.Contains(list, p.Val) {
			l.futureRead(t, j, o, p.Val)
			return true
		}
	}
	return false
}

// insertHidden puts appends that nobody saw behind the order of their keys, a
// chain for each transaction.
func (l *lists) insertHidden() {
	var hidden []hiddenAppend
	for i, a := range l.hidden {
		if l.committed[a.txn] && (i == 0 || !slices.Contains(l.hidden[max(0, i-64):i], a)) {
			hidden = append(hidden, a)
		}
	}
	l.hidden = nil
	x := l.versions
	if len(hidden) > 0 {
		x.extend(hidden)
	}
}
