package infer

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// versions holds the versions of every key. Those of key k are first[k] to
// first[k+1]-1: the initial one, then chains of versions in their order. The
// first chain, with the initial version, comes before all others; the order of
// the others is open.
type versions struct {
	first  []int32
	writer []int32 // by version: a transaction, none for the initial one and for what is not known
	head   []bool  // by version: it starts a chain
	// readers of a version are readBy[readOff[v]:readOff[v+1]].
	readOff []int32
	readBy  []int32
	// order is the kind of the edges between writers: known, or implied.
	order graph.Kinds
}

const none = int32(-1)

func (x *versions) readers(v int32) []int32 { return x.readBy[x.readOff[v]:x.readOff[v+1]] }

// emit gives the dependencies that follow from what is known of the orders. Of
// keys with one chain, as most are, without a step in between: it is called twice
// for every edge of the graph.
func (x *versions) emit(edge func(from, to int32, k graph.Kinds)) {
	for k := range int32(len(x.first) - 1) {
		w := none // the writer known last
		a, b := x.first[k], x.first[k+1]
		if x.head != nil && slices.Contains(x.head[a:b], true) {
			x.emitKey(k, func(from, to int32, kind graph.Kinds, _, _ int32) { edge(from, to, kind) })
			continue
		}
		for v := a; v < b; v++ {
			next := x.writer[v]
			if next == none {
				continue
			}
			if v > a {
				if w != none {
					edge(w, next, x.order)
				}
				for _, r := range x.readers(v - 1) {
					edge(r, next, graph.RW)
				}
			}
			w = next
			for _, r := range x.readers(v) {
				edge(next, r, graph.WR)
			}
		}
	}
}

// emitKey gives the dependencies of one key, with the versions that they are
// between: the earlier one and the one that comes after it.
func (x *versions) emitKey(k int32, edge func(from, to int32, kind graph.Kinds, u, v int32)) {
	a, b := x.first[k], x.first[k+1]
	tail := a // of the first chain
	for tail+1 < b && !x.starts(tail+1) {
		tail++
	}
	w := a // the version whose writer is known last
	for v := a; v < b; v++ {
		switch {
		case v > tail && x.starts(v):
			// A new chain: it stands behind the first one.
			w = tail
			for w > a && x.writer[w] == none {
				w--
			}
			x.follow(tail, w, v, edge)
		case v > a:
			x.follow(v-1, w, v, edge)
		}
		if x.writer[v] == none {
			continue
		}
		w = v
		for _, r := range x.readers(v) {
			edge(x.writer[v], r, graph.WR, v, v)
		}
	}
}

// follow gives the edges of a version v that comes after version u; w is the
// last before it whose writer is known, or the initial one.
func (x *versions) follow(u, w, v int32, edge func(from, to int32, kind graph.Kinds, u, v int32)) {
	next := x.writer[v]
	if next == none {
		return
	}
	if x.writer[w] != none {
		edge(x.writer[w], next, x.order, w, v)
	}
	for _, r := range x.readers(u) {
		edge(r, next, graph.RW, u, v)
	}
}

// open tells whether some key has two chains or more behind its first.
func (x *versions) open() bool {
	for k := 0; k+1 < len(x.first); k++ {
		n := 0
		for v := x.first[k] + 1; v < x.first[k+1]; v++ {
			if x.starts(v) {
				if n++; n == 2 {
					return true
				}
			}
		}
	}
	return false
}

// loose tells whether every chain behind the first one of its key is a single
// version that nobody read. What comes after it then depends on it by a write
// dependency only, so in an acyclic graph any topological order of the
// transactions is also one for these chains.
func (x *versions) loose() bool {
	for k := 0; k+1 < len(x.first); k++ {
		behind := false
		for v := x.first[k] + 1; v < x.first[k+1]; v++ {
			starts := x.starts(v)
			behind = behind || starts
			if x.writer[v] == none || behind && (!starts || len(x.readers(v)) > 0) {
				return false
			}
		}
	}
	return true
}

// sessions gives an edge from each committed transaction to the next one of its
// session. What may have gone on after its client gave up orders nothing after it.
func sessions(h *kv.History, committed []bool, edge func(from, to int32, k graph.Kinds)) {
	last := make([]int32, h.Sessions())
	for i := range last {
		last[i] = none
	}
	for i := range h.Len() {
		if !committed[i] {
			continue
		}
		t := h.Txn(i)
		if l := last[t.Session]; l != none {
			edge(l, int32(i), graph.Session)
		}
		if t.Status == kv.OK {
			last[t.Session] = int32(i)
		}
	}
}

// extend puts writes that nobody read behind the versions of their keys, each a
// chain of its own.
func (x *versions) extend(writes []hiddenAppend) {
	keys := len(x.first) - 1
	more := make([]int32, keys+1)
	for _, w := range writes {
		more[w.key+1]++
	}
	for k := range keys {
		more[k+1] += more[k]
	}
	old := *x
	n := len(old.writer) + len(writes)
	x.first = make([]int32, keys+1)
	x.writer = make([]int32, n)
	x.head = make([]bool, n)
	x.readOff = make([]int32, n+1)
	fill := make([]int32, keys)
	for k := range keys {
		a, b := old.first[k], old.first[k+1]
		shift := more[k]
		x.first[k] = a + shift
		copy(x.writer[a+shift:], old.writer[a:b])
		if old.head != nil {
			copy(x.head[a+shift:], old.head[a:b])
		}
		for v := a; v < b; v++ {
			x.readOff[v+shift+1] = old.readOff[v+1]
		}
		fill[k] = b + shift
		for v := b + shift; v < b+more[k+1]; v++ {
			x.readOff[v+1] = old.readOff[b]
		}
	}
	x.first[keys] = int32(n)
	for _, w := range writes {
		v := fill[w.key]
		fill[w.key]++
		x.writer[v], x.head[v] = w.txn, true
	}
}

// starts tells whether a version starts a chain.
func (x *versions) starts(v int32) bool { return x.head != nil && x.head[v] }
