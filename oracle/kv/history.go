package kv

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Op is one operation of a History. Val is a value, except of reads of lists,
// sets and predicates: their values are told by List.
type Op struct {
	Val  Value
	Key  int32 // dense, from 0; History.KeyValue tells the key itself
	Kind Kind
}

// Txn is one transaction of a History.
type Txn struct {
	Invoke, Return int64 // Unknown: not known
	place          int64
	start          uint32 // chunk and offset of its first operation
	ops            int32
	Session        int32 // dense, from 0; History.SessionName tells its number
	Status         Status
}

const (
	chunkBits = 14
	chunkSize = 1 << chunkBits
)

// History is a recorded history in memory. Transactions of one session are in
// the order in which the session ran them. It is built by Add and only read
// afterwards; reading from several goroutines is safe.
type History struct {
	Header Header
	Names  *Names
	// File names where it came from, for messages. Binary: places are offsets.
	File   string
	Binary bool

	txns     []Txn
	chunks   [][]Op
	nops     int
	keys     index
	sessions index
	// spines holds the longest list read of each key as long as every read was
	// a prefix of it or longer; what does not fit lies in others.
	spines [][]Value
	others [][]Value
}

// NewHistory makes an empty history whose values are named by names, which may
// be nil if all are integers.
func NewHistory(h Header, names *Names) *History {
	if names == nil {
		names = &Names{}
	}
	return &History{Header: h, Names: names}
}

// Add puts a transaction at the end. The record and its slices may be used
// again.
func (h *History) Add(r *Record) {
	if len(h.chunks) == 0 || len(h.chunks[len(h.chunks)-1])+len(r.Ops) > cap(h.chunks[len(h.chunks)-1]) {
		h.chunks = append(h.chunks, make([]Op, 0, max(chunkSize, len(r.Ops))))
	}
	c := &h.chunks[len(h.chunks)-1]
	start := uint32(len(h.chunks)-1)<<chunkBits | uint32(len(*c)&(chunkSize-1))
	for i := range r.Ops {
		o := &r.Ops[i]
		op := Op{Val: o.Val, Kind: o.Kind}
		list := o.List
		if r.Status != OK && o.Kind.IsRead() {
			// Nobody knows what it returned.
			list = nil
			if o.Kind == Read {
				op.Val = Nil
			}
		}
		if o.Kind != ReadPredicate {
			op.Key = h.key(o.Key)
		}
		switch o.Kind {
		case ReadList:
			op.Val = h.list(op.Key, list)
		case ReadSet:
			op.Val = h.other(list)
		case ReadPredicate:
			op.Val = h.other(append([]Value{o.Val}, list...))
			for j := 0; j+1 < len(list); j += 2 {
				h.key(list[j])
			}
		}
		*c = append(*c, op)
	}
	h.nops += len(r.Ops)
	h.txns = append(h.txns, Txn{Session: h.sessions.of(Value(r.Session)), Status: r.Status,
		Invoke: r.Invoke, Return: r.Return, start: start, ops: int32(len(r.Ops)), place: r.Place})
}

func (h *History) key(v Value) int32 {
	k := h.keys.of(v)
	for int(k) >= len(h.spines) {
		h.spines = append(h.spines, nil)
	}
	return k
}

func (h *History) list(k int32, list []Value) Value {
	s := h.spines[k]
	n := min(len(s), len(list))
	if !slices.Equal(s[:n], list[:n]) {
		return h.other(list)
	}
	if len(list) > len(s) {
		h.spines[k] = append(s, list[n:]...)
	}
	return Value(len(list))
}

func (h *History) other(list []Value) Value {
	h.others = append(h.others, slices.Clone(list))
	return Value(-len(h.others))
}

// Len is the number of transactions, OpCount that of operations.
func (h *History) Len() int     { return len(h.txns) }
func (h *History) OpCount() int { return h.nops }

// Keys and Sessions are the numbers of keys and of sessions.
func (h *History) Keys() int     { return len(h.keys.values) }
func (h *History) Sessions() int { return len(h.sessions.values) }

// Txn returns transaction i, from 0 to Len()-1, in the order of Add.
func (h *History) Txn(i int) *Txn { return &h.txns[i] }

// Ops returns the operations of transaction i, not to be changed.
func (h *History) Ops(i int) []Op {
	t := &h.txns[i]
	off := int(t.start & (chunkSize - 1))
	return h.chunks[t.start>>chunkBits][off : off+int(t.ops)]
}

// List returns what a ReadList, ReadSet or ReadPredicate returned (of the last:
// key, value, key, value, …), not to be changed.
func (h *History) List(o Op) []Value {
	switch {
	case o.Val >= 0:
		return h.spines[o.Key][:o.Val]
	case o.Kind == ReadPredicate:
		return h.others[-o.Val-1][1:]
	}
	return h.others[-o.Val-1]
}

// Condition returns the name of the condition of a ReadPredicate.
func (h *History) Condition(o Op) Value { return h.others[-o.Val-1][0] }

// Spine returns the longest list that was read of a key before the first read
// that is no prefix of it; InSpine tells whether a ReadList is such a prefix.
func (h *History) Spine(k int32) []Value { return h.spines[k] }

// InSpine tells whether a ReadList returned a prefix of its key's Spine.
func (h *History) InSpine(o Op) bool { return o.Val >= 0 }

// KeyValue is the key that a dense number stands for, KeyOf the reverse, -1
// for a key that the history does not hold.
func (h *History) KeyValue(k int32) Value { return h.keys.values[k] }
func (h *History) KeyOf(v Value) int32    { return h.keys.find(v) }

// SessionName is the number that the file gave to a session.
func (h *History) SessionName(s int32) int64 { return int64(h.sessions.values[s]) }

// Settle ends the building of a history whose header names no workload: a read
// of nothing is told from a read of an empty list, or set, by the other
// operations.
func (h *History) Settle() {
	var met [16]bool
	for _, c := range h.chunks {
		for _, o := range c {
			met[o.Kind] = true
		}
	}
	into := Read
	switch {
	case met[Append] || met[ReadList]:
		into = ReadList
	case met[Add] || met[ReadSet]:
		into = ReadSet
	}
	if into == Read || !met[Read] {
		return
	}
	for _, c := range h.chunks {
		for i, o := range c {
			if o.Kind == Read && o.Val == Nil {
				c[i].Kind = into
				c[i].Val = 0
			}
		}
	}
}

// PlaceWord tells what Place counts: line or offset.
func (h *History) PlaceWord() string {
	if h.Binary {
		return "offset"
	}
	return "line"
}

// Place is the line (of a binary file the offset) where a transaction stands.
func (h *History) Place(i int) int64 { return h.txns[i].place }

// Spell writes a value as a person reads it: 3, x, nil.
func (h *History) Spell(v Value) string { return spell(h.Names, v) }

func spell(n *Names, v Value) string {
	switch {
	case v == Nil:
		return "nil"
	case v.IsName():
		return n.Name(v)
	}
	return strconv.FormatInt(int64(v), 10)
}

// Open fills r with transaction i laid open. Lists are not copied.
func (h *History) Open(i int, r *Record) {
	t := &h.txns[i]
	*r = Record{Session: h.SessionName(t.Session), Status: t.Status, Invoke: t.Invoke, Return: t.Return, Place: t.place, Ops: r.Ops[:0]}
	for _, o := range h.Ops(i) {
		ro := RecordOp{Kind: o.Kind, Val: o.Val}
		if o.Kind != ReadPredicate {
			ro.Key = h.keys.values[o.Key]
		}
		switch o.Kind {
		case ReadList, ReadSet:
			ro.Val, ro.List = 0, h.List(o)
		case ReadPredicate:
			ro.Val, ro.List = h.Condition(o), h.List(o)
		}
		r.Ops = append(r.Ops, ro)
	}
}

// Describe is the size of a history in one line.
func (h *History) Describe() string {
	return fmt.Sprintf("%d transactions, %d operations, %d keys, %d sessions", h.Len(), h.nops, h.Keys(), h.Sessions())
}

// index gives dense numbers to values; small integers, the rule, by a slice.
type index struct {
	small  []int32 // number+1, 0 for none
	large  map[Value]int32
	values []Value
}

func (x *index) find(v Value) int32 {
	if v >= 0 && v < Value(len(x.small)) {
		return x.small[v] - 1
	}
	if n, ok := x.large[v]; ok {
		return n
	}
	return -1
}

func (x *index) of(v Value) int32 {
	if n := x.find(v); n >= 0 {
		return n
	}
	if len(x.values) == math.MaxInt32 {
		panic("kv: more than 2³¹ keys")
	}
	n := int32(len(x.values))
	x.values = append(x.values, v)
	// A slice as long as four times what there is costs less than a map would.
	if v >= 0 && v < Value(4*len(x.values)+1024) {
		for v >= Value(len(x.small)) {
			x.small = append(x.small, 0)
			// What was met while the slice was shorter moves into it.
			if m, ok := x.large[Value(len(x.small)-1)]; ok {
				x.small[len(x.small)-1] = m + 1
				delete(x.large, Value(len(x.small)-1))
			}
		}
		x.small[v] = n + 1
		return n
	}
	if x.large == nil {
		x.large = map[Value]int32{}
	}
	x.large[v] = n
	return n
}
