package infer

import (
	"cmp"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// registers infers the versions of registers. A value names its writer, so who
// read from whom is known. A transaction that reads a version and writes the
// key stands right behind that version, unless an update was lost; the order of
// the chains that this makes is open.
type registers struct {
	*evidence
	// writes of key k are writes[off[k]:off[k+1]], by value.
	off    []int32
	writes []write
	// version of each write, none for those that are not a version: failed,
	// overwritten by their own transaction, of unknown outcome and not read.
	version []int32
	// next is the transaction that read a write and wrote the key; nextFirst,
	// by key, of the initial version.
	next, nextFirst []int32
	// reads, in parallel: a write, or -1-key for the initial version, and who read.
	readOf, readBy []int32
}

type write struct {
	val    kv.Value
	txn    int32
	midway bool // its transaction wrote the key again
}

func inferRegisters(h *kv.History, found *anomalies) *evidence {
	r := &registers{evidence: &evidence{h: h, found: found, committed: make([]bool, h.Len())}}
	r.collect()
	r.reads()
	r.chains()
	r.shows = func(o kv.Op, v int32) bool {
		if v == r.versions.first[o.Key] {
			return o.Val == kv.Nil || r.isInitial(o.Val)
		}
		w := r.versions.writer[v]
		for _, p := range h.Ops(int(w)) {
			if p.Kind == kv.Write && p.Key == o.Key && p.Val == o.Val {
				return true
			}
		}
		return false
	}
	return r.evidence
}

func (r *registers) collect() {
	h := r.h
	r.off = make([]int32, h.Keys()+1)
	reads := 0
	for i := range h.Len() {
		r.committed[i] = h.Status(i) == kv.OK
		for _, o := range h.Ops(i) {
			if o.Kind == kv.Write {
				r.off[o.Key+1]++
			} else if r.committed[i] {
				reads++
			}
		}
	}
	for k := range h.Keys() {
		r.off[k+1] += r.off[k]
	}
	n := int(r.off[h.Keys()])
	r.writes = make([]write, n)
	fill := slices.Clone(r.off)
	last := newPerKey[int32](h.Keys())
	for i := range h.Len() {
		for _, o := range h.Ops(i) {
			if o.Kind == kv.Write {
				if w, ok := last.get(int32(i), o.Key); ok {
					r.writes[w].midway = true
				}
				w := fill[o.Key]
				fill[o.Key]++
				r.writes[w] = write{val: o.Val, txn: int32(i)}
				last.set(int32(i), o.Key, w)
			}
		}
	}
	byValue := func(a, b write) int { return cmp.Compare(a.val, b.val) }
	for k := range h.Keys() {
		if w := r.writes[r.off[k]:r.off[k+1]]; !slices.IsSortedFunc(w, byValue) {
			slices.SortStableFunc(w, byValue)
		}
	}
	r.readOf = make([]int32, 0, reads)
	r.readBy = make([]int32, 0, reads)
	r.next = make([]int32, n)
	for w := range r.next {
		r.next[w] = none
	}
	r.nextFirst = make([]int32, h.Keys())
	for k := range r.nextFirst {
		r.nextFirst[k] = none
	}
}

// written tells what became of the search for a value's writer.
type written uint8

const (
	byOne written = iota
	byNobody
	byFailed
	bySeveral
)

// find returns the write of a value to a key.
func (r *registers) find(k int32, v kv.Value) (int32, written) {
	ws := r.writes[r.off[k]:r.off[k+1]]
	i, ok := slices.BinarySearchFunc(ws, v, func(w write, v kv.Value) int { return cmp.Compare(w.val, v) })
	if !ok {
		return none, byNobody
	}
	best, state := int32(i)+r.off[k], byFailed
	for ; i < len(ws) && ws[i].val == v; i++ {
		w := int32(i) + r.off[k]
		switch {
		case r.h.Status(int(ws[i].txn)) == kv.Fail:
		case state == byFailed, state == byOne && r.writes[best].txn == ws[i].txn:
			best, state = w, byOne
		default:
			state = bySeveral
		}
	}
	return best, state
}

type registerState struct {
	val    kv.Value
	source int32 // what it read of others: a write, -1-key, or none
	read   bool
	wrote  bool
}

// initialSource and notASource are values of registerState.source.
const notASource = int32(-1 << 31)

func (r *registers) reads() {
	states := newPerKey[registerState](r.h.Keys())
	for i := range r.h.Len() {
		if !r.committed[i] || r.h.Status(i) != kv.OK {
			continue
		}
		t := int32(i)
		for j, o := range r.h.Ops(i) {
			s, met := states.get(t, o.Key)
			switch o.Kind {
			case kv.Write:
				if s.read && !s.wrote && s.source != notASource {
					r.readModifyWrite(s.source, t, o.Key)
				}
				s.wrote, s.val = true, o.Val
			case kv.Read:
				if met && s.val == o.Val {
					continue
				}
				if met {
					if !r.ownLater(t, int32(j), o) {
						r.internal(t, int32(j), o)
					}
					if s.wrote {
						continue
					}
				}
				src := r.source(t, int32(j), o)
				if src != notASource {
					r.readOf = append(r.readOf, src)
					r.readBy = append(r.readBy, t)
				}
				s = registerState{val: o.Val, source: src, read: true}
			default:
				continue
			}
			states.set(t, o.Key, s)
		}
	}
}

// source finds what a read of others read, and reports what is wrong with it.
func (r *registers) source(t, j int32, o kv.Op) int32 {
	if o.Val == kv.Nil {
		return -1 - o.Key
	}
	w, state := r.find(o.Key, o.Val)
	switch state {
	case byNobody:
		if r.isInitial(o.Val) {
			return -1 - o.Key
		}
		r.neverWritten(t, o)
		return notASource
	case byFailed:
		r.abortedRead(t, r.writes[w].txn, o, o.Val)
		return notASource
	case bySeveral:
		r.doubt("a value that was read was written more than once: which write it was cannot be told")
		return notASource
	}
	by := r.writes[w].txn
	if by == t {
		r.futureRead(t, j, o, o.Val)
		return notASource
	}
	r.committed[by] = true
	if r.writes[w].midway {
		r.intermediateRead(t, by, o, o.Val)
		// The dependency is the same as of its last write.
		for u := r.off[o.Key]; u < r.off[o.Key+1]; u++ {
			if r.writes[u].txn == by && !r.writes[u].midway {
				return u
			}
		}
	}
	return w
}

func (r *registers) isInitial(v kv.Value) bool {
	i := r.h.Header.Initial
	return i != nil && kv.Value(*i) == v
}

func (r *registers) ownLater(t, j int32, o kv.Op) bool {
	for _, p := range r.h.Ops(int(t))[j+1:] {
		if p.Kind == kv.Write && p.Key == o.Key && p.Val == o.Val {
			r.futureRead(t, j, o, o.Val)
			return true
		}
	}
	return false
}

func (r *registers) readModifyWrite(source, t, k int32) {
	next := &r.nextFirst[k]
	if source >= 0 {
		next = &r.next[source]
	}
	switch *next {
	case none:
		*next = t
	case t:
	default:
		r.lostUpdate(*next, t, k)
	}
}

// chains lays out the versions: for each key the initial one and what
// overwrote it, then the other chains.
func (r *registers) chains() {
	h := r.h
	r.version = make([]int32, len(r.writes))
	for w := range r.version {
		r.version[w] = none
	}
	x := &versions{first: make([]int32, h.Keys()+1), order: graph.ImpliedWW}
	r.versions = x
	isVersion := func(w int32) bool { return r.committed[r.writes[w].txn] && !r.writes[w].midway }
	n := h.Keys()
	for w := range r.writes {
		if isVersion(int32(w)) {
			n++
		}
	}
	x.writer = make([]int32, 0, n)
	x.head = make([]bool, 0, n)
	follows := newBits(len(r.writes)) // it stands behind a version that it read
	finals := newPerKey[int32](h.Len())
	for k := range int32(h.Keys()) {
		x.first[k] = int32(len(x.writer))
		x.writer, x.head = append(x.writer, none), append(x.head, false)
		for w := r.off[k]; w < r.off[k+1]; w++ {
			if isVersion(w) {
				finals.set(k, r.writes[w].txn, w)
			}
		}
		final := func(t int32) int32 {
			if t == none {
				return none
			}
			w, ok := finals.get(k, t)
			if !ok {
				return none
			}
			return w
		}
		for w := r.off[k]; w < r.off[k+1]; w++ {
			if f := final(r.next[w]); isVersion(w) && f != none {
				follows.set(f)
			}
		}
		chain := func(w int32, head bool) {
			for ; w != none && r.version[w] == none; w = final(r.next[w]) {
				r.version[w] = int32(len(x.writer))
				x.writer, x.head = append(x.writer, r.writes[w].txn), append(x.head, head)
				head = false
			}
		}
		if f := final(r.nextFirst[k]); f != none {
			follows.set(f)
			chain(f, false)
		}
		// Twice: what is left is a circle, which the read dependencies show.
		for _, circles := range []bool{false, true} {
			for w := r.off[k]; w < r.off[k+1]; w++ {
				if isVersion(w) && r.version[w] == none && (circles || !follows.has(w)) {
					chain(w, true)
				}
			}
		}
	}
	x.first[h.Keys()] = int32(len(x.writer))
	r.layReads()
}

func (r *registers) layReads() {
	x := r.versions
	n := len(x.writer)
	x.readOff = make([]int32, n+1)
	at := func(src int32) int32 {
		if src < 0 {
			return x.first[-1-src]
		}
		return r.version[src]
	}
	for _, src := range r.readOf {
		x.readOff[at(src)+1]++
	}
	for v := range n {
		x.readOff[v+1] += x.readOff[v]
	}
	x.readBy = make([]int32, len(r.readOf))
	for i, src := range r.readOf {
		v := at(src)
		x.readBy[x.readOff[v]] = r.readBy[i]
		x.readOff[v]++
	}
	copy(x.readOff[1:], x.readOff[:n])
	x.readOff[0] = 0
	r.readOf, r.readBy, r.writes, r.version, r.next = nil, nil, nil, nil, nil
}
