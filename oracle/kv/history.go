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
	Session        int32 // dense, from 0; History.SessionName tells its number
	Status         Status
}

// row is what every transaction has; times are a column of their own, which
// histories without them do not have.
type row struct {
	place   int64
	start   uint32 // chunk and offset of its first operation
	ops     int32
	session int32
	status  Status
	node    uint8 // in the header's list, from 1; 0: none
}

type times struct{ invoke, ret int64 }

var timeless = times{Unknown, Unknown}

// column is a list in pieces of 2^chunkBits, so that a long one is never copied
// to grow; the first piece starts small.
type column[T any] [][]T

func (c *column[T]) add(v T) {
	n := len(*c)
	if n == 0 || len((*c)[n-1]) == chunkSize {
		first := chunkSize
		if n == 0 {
			first = 16
		}
		*c = append(*c, make([]T, 0, first))
		n++
	}
	(*c)[n-1] = append((*c)[n-1], v)
}

func (c column[T]) at(i int) *T { return &c[i>>chunkBits][i&(chunkSize-1)] }

func (c column[T]) len() int {
	if len(c) == 0 {
		return 0
	}
	return (len(c)-1)<<chunkBits + len(c[len(c)-1])
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

	rows     column[row]
	times    column[times] // as long as rows, or shorter: the rest has none
	chunks   [][]Op
	nops     int
	met      [16]bool // kinds of operations
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
	c := h.room(len(r.Ops))
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
			op.Val = h.list(op.Key, list, o.Lasting)
		case ReadSet, Versions:
			op.Val = h.other(list)
		case ReadPredicate:
			op.Val = h.other(append([]Value{o.Val, o.First, o.Last}, list...))
			for j := 0; j+1 < len(list); j += 2 {
				h.key(list[j])
			}
		}
		h.met[op.Kind] = true
		*c = append(*c, op)
	}
	h.nops += len(r.Ops)
	if r.Invoke != Unknown || r.Return != Unknown {
		for h.times.len() < h.rows.len() {
			h.times.add(timeless)
		}
		h.times.add(times{r.Invoke, r.Return})
	}
	h.rows.add(row{session: h.sessions.of(Value(r.Session)), status: r.Status, start: start, ops: int32(len(r.Ops)), place: r.Place,
		node: h.nodeOf(r.Node)})
}

func (h *History) nodeOf(name string) uint8 {
	for i, n := range h.Header.Nodes {
		if n.Name == name {
			return uint8(i + 1)
		}
	}
	return 0
}

// room returns the piece in which n more operations fit, one behind the other.
func (h *History) room(n int) *[]Op {
	last := len(h.chunks) - 1
	if last < 0 || len(h.chunks[last]) > 0 && len(h.chunks[last])+n > chunkSize {
		size := max(chunkSize, n)
		if last < 0 {
			size = max(16, n)
		}
		h.chunks = append(h.chunks, make([]Op, 0, size))
		last++
	}
	return &h.chunks[last]
}

func (h *History) key(v Value) int32 {
	k := h.keys.of(v)
	for int(k) >= len(h.spines) {
		h.spines = append(h.spines, nil)
	}
	return k
}

func (h *History) list(k int32, list []Value, lasting bool) Value {
	if len(list) == 0 {
		return 0
	}
	s := h.spines[k]
	n := min(len(s), len(list))
	if n > 0 && &s[0] != &list[0] && !slices.Equal(s[:n], list[:n]) {
		return h.other(list)
	}
	switch {
	case len(list) <= len(s):
	case lasting:
		h.spines[k] = list
	default:
		h.spines[k] = append(s, list[n:]...)
	}
	return Value(len(list))
}

func (h *History) other(list []Value) Value {
	h.others = append(h.others, slices.Clone(list))
	return Value(-len(h.others))
}

// Len is the number of transactions, OpCount that of operations.
func (h *History) Len() int     { return h.rows.len() }
func (h *History) OpCount() int { return h.nops }

// Keys and Sessions are the numbers of keys and of sessions.
func (h *History) Keys() int     { return len(h.keys.values) }
func (h *History) Sessions() int { return len(h.sessions.values) }

// Txn returns transaction i, from 0 to Len()-1, in the order of Add.
func (h *History) Txn(i int) Txn {
	r, at := h.rows.at(i), timeless
	if i < h.times.len() {
		at = *h.times.at(i)
	}
	return Txn{Invoke: at.invoke, Return: at.ret, Session: r.session, Status: r.status}
}

// Status returns how transaction i ended.
func (h *History) Status(i int) Status { return h.rows.at(i).status }

// Ops returns the operations of transaction i, not to be changed.
func (h *History) Ops(i int) []Op {
	t := h.rows.at(i)
	off := int(t.start & (chunkSize - 1))
	return h.chunks[t.start>>chunkBits][off : off+int(t.ops)]
}

// List returns what a ReadList, ReadSet, Versions or ReadPredicate returned (of the last:
// key, value, key, value, …), not to be changed.
func (h *History) List(o Op) []Value {
	switch {
	case o.Val >= 0:
		return h.spines[o.Key][:o.Val]
	case o.Kind == ReadPredicate:
		return h.others[-o.Val-1][3:]
	}
	return h.others[-o.Val-1]
}

// Condition returns the name of the condition of a ReadPredicate.
func (h *History) Condition(o Op) Value { return h.others[-o.Val-1][0] }

// Asked returns the keys that a ReadPredicate asked about; both 0: all keys.
func (h *History) Asked(o Op) (first, last Value) {
	of := h.others[-o.Val-1]
	return of[1], of[2]
}

// Spine returns the longest list that was read of a key before the first read
// that is no prefix of it; InSpine tells whether a ReadList is such a prefix.
func (h *History) Spine(k int32) []Value { return h.spines[k] }

// InSpine tells whether a ReadList returned a prefix of its key's Spine.
func (h *History) InSpine(o Op) bool { return o.Val >= 0 }

// Odd tells whether some list that was read is no prefix of its key's Spine; sets
// and what predicates returned count, too.
func (h *History) Odd() bool { return len(h.others) > 0 }

// Holds tells whether some transaction has an operation of a kind.
func (h *History) Holds(k Kind) bool { return h.met[k] }

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
	into := Read
	switch {
	case h.met[Append] || h.met[ReadList]:
		into = ReadList
	case h.met[Add] || h.met[ReadSet]:
		into = ReadSet
	}
	if into == Read || !h.met[Read] {
		return
	}
	for _, c := range h.chunks {
		for i, o := range c {
			if o.Kind == Read && o.Val == Nil {
				c[i].Kind = into
				c[i].Val = 0
				h.met[into] = true
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

// Node names the node that ran transaction i; empty: nobody recorded that.
func (h *History) Node(i int) string {
	n := int(h.rows.at(i).node)
	if n == 0 || n > len(h.Header.Nodes) {
		return ""
	}
	return h.Header.Nodes[n-1].Name
}

// Place is the line (of a binary file the offset) where a transaction stands.
func (h *History) Place(i int) int64 { return h.rows.at(i).place }

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
	t := h.Txn(i)
	*r = Record{Session: h.SessionName(t.Session), Status: t.Status, Invoke: t.Invoke, Return: t.Return, Place: h.Place(i), Node: h.Node(i), Ops: r.Ops[:0]}
	for _, o := range h.Ops(i) {
		ro := RecordOp{Kind: o.Kind, Val: o.Val}
		if o.Kind != ReadPredicate {
			ro.Key = h.keys.values[o.Key]
		}
		switch o.Kind {
		case ReadList, ReadSet, Versions:
			ro.Val, ro.List = 0, h.List(o)
		case ReadPredicate:
			ro.Val, ro.List = h.Condition(o), h.List(o)
			ro.First, ro.Last = h.Asked(o)
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
