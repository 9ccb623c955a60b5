package mutate

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// pair names two statements of different sessions that conflict.
type pair struct{ a, b ref }

// Orders returns up to k cases that run the sessions of c in different
// submitted orders, at least one. The order of each session's own statements
// stays. In every order
//   - the lifetimes of the transactions overlap (those of three or more
//     sessions form one chain of overlaps), and
//   - for some pair of conflicting statements, the first of their two
//     transactions to end does so behind both statements.
//
// Orders that differ only in the sequence of consecutive BEGINs are one. Where
// a case cannot satisfy this, having one session say, its own order returns.
func Orders(src Source, c *corpus.Case, k int) []*corpus.Case {
	d := draftOf(c)
	return d.orders(src, k, nil)
}

const (
	// orderBytes is the window of the order lane that the first order reads.
	orderBytes = 40
	// attempts bounds the tries for one more order.
	attempts = 24
)

// orders samples submitted orders. Without given pairs, all pairs that could
// conflict by their kinds count. The first order is decided by the input byte
// by byte, so that it can be minimised; the others come from a generator that
// the input seeds, because they would need more bytes than an input has.
func (d *draft) orders(src Source, k int, pairs []pair) []*corpus.Case {
	if pairs == nil {
		pairs = d.conflicting()
	}
	f := newOrderFilter(d, pairs)
	seen := map[string]bool{}
	var out []*corpus.Case
	add := func(order []int) {
		f.canonical(order)
		key := string(orderKey(order))
		if !seen[key] && f.accepts(order) {
			seen[key] = true
			out = append(out, d.build(order))
		}
	}
	n := orderBytes
	if isWide(src.Input()) {
		n = wideOrderLen - 8
	}
	first := window(src, OrderLane, n)
	styles := orderStyles
	switch {
	case d.woven != nil:
		styles = storedStyles[:1]
	case d.own != nil:
		styles = storedStyles
	}
	add(pick(first, styles)(first, d, pairs))
	if len(out) == 0 {
		add(pairedOrder(first, d, pairs))
	}
	if k > len(out) {
		seed := splitMix(binary.LittleEndian.Uint64(src.Bytes(OrderLane, 8)))
		c := random(&seed)
		for try := 0; try < attempts*k && len(out) < k; try++ {
			add(pick(c, orderStyles)(c, d, pairs))
		}
	}
	if len(out) == 0 {
		out = append(out, d.build(ownOrder(nil, d, nil)))
	}
	return out
}

func orderKey(order []int) []byte {
	var b bytes.Buffer
	for _, i := range order {
		b.WriteByte(byte(i))
	}
	return b.Bytes()
}

// An orderStyle makes an order, which need not be acceptable.
type orderStyle func(c *choices, d *draft, pairs []pair) []int

var orderStyles = []weighted[orderStyle]{
	{10, pairedOrder},
	{38, uniformOrder},
	{32, blockOrder},
	{20, nestedOrder},
}

// storedStyles are those of the first order of a case that came with one: what it
// shows, it may show in that order only.
var storedStyles = slices.Concat([]weighted[orderStyle]{{100, ownOrder}}, orderStyles)

// ownOrder takes the sessions' turns as the case came with them. Where a session has
// more statements than turns, the last ones run behind all else, one session after the
// other; so do all of a case that came with none.
func ownOrder(_ *choices, d *draft, _ []pair) []int {
	m := newMerge(d)
	for _, i := range d.own {
		m.run(i, m.next[i]+1)
	}
	for i := range d.sessions {
		m.run(i, len(d.sessions[i].stmts))
	}
	return m.order
}

// pairedOrder begins everything, runs each session of a pair up to its
// statement, then each to its end.
func pairedOrder(c *choices, d *draft, pairs []pair) []int {
	m := newMerge(d)
	if len(pairs) > 0 {
		p := pairs[c.below(min(len(pairs), 256))]
		for _, r := range []ref{p.a, p.b} {
			for _, sp := range d.sessions[r.session].spans() {
				if sp.begin < r.stmt && r.stmt < sp.end {
					m.run(r.session, sp.begin+1)
				}
			}
		}
		m.run(p.a.session, p.a.stmt+1)
		m.run(p.b.session, p.b.stmt+1)
	}
	// A session outside the pair begins before the others end.
	for i := range d.sessions {
		if sp := d.sessions[i].spans(); len(sp) > 0 {
			m.run(i, sp[0].begin+1)
		}
	}
	for i := range d.sessions {
		m.run(i, len(d.sessions[i].stmts))
	}
	return m.order
}

// uniformOrder draws from all interleavings with equal probability.
func uniformOrder(c *choices, d *draft, _ []pair) []int {
	m := newMerge(d)
	for m.left > 0 {
		n := c.below(m.left)
		for i := range d.sessions {
			rest := len(d.sessions[i].stmts) - m.next[i]
			if n < rest {
				m.step(i)
				break
			}
			n -= rest
		}
	}
	return m.order
}

// blockOrder runs a few statements of a session at a time.
func blockOrder(c *choices, d *draft, _ []pair) []int {
	m := newMerge(d)
	for at := c.below(len(d.sessions)); m.left > 0; at = (at + 1 + c.below(max(1, len(d.sessions)-1))) % len(d.sessions) {
		m.run(at, m.next[at]+1+c.below(4))
	}
	return m.order
}

// nestedOrder runs the other sessions as a whole inside one.
func nestedOrder(c *choices, d *draft, _ []pair) []int {
	m := newMerge(d)
	outer := c.below(len(d.sessions))
	m.run(outer, 1+c.below(len(d.sessions[outer].stmts)))
	for i := range d.sessions {
		if i != outer {
			m.run(i, len(d.sessions[i].stmts))
		}
	}
	m.run(outer, len(d.sessions[outer].stmts))
	return m.order
}

// merge builds an interleaving of the sessions of a draft.
type merge struct {
	d     *draft
	next  []int
	left  int
	order []int
}

func newMerge(d *draft) *merge {
	m := &merge{d: d, next: make([]int, len(d.sessions))}
	for _, s := range d.sessions {
		m.left += len(s.stmts)
	}
	m.order = make([]int, 0, m.left)
	return m
}

func (m *merge) step(i int) {
	m.order = append(m.order, i)
	m.next[i]++
	m.left--
}

// run lets session i run until its first n statements have been submitted.
func (m *merge) run(i, n int) {
	for m.next[i] < min(n, len(m.d.sessions[i].stmts)) {
		m.step(i)
	}
}

// orderFilter says which orders are worth running.
type orderFilter struct {
	d     *draft
	pairs []pair
	spans [][]span
	// at is scratch: the position of each statement in an order.
	at [][]int
}

func newOrderFilter(d *draft, pairs []pair) *orderFilter {
	f := &orderFilter{d: d, pairs: pairs}
	for i := range d.sessions {
		f.spans = append(f.spans, d.sessions[i].spans())
		f.at = append(f.at, make([]int, 0, len(d.sessions[i].stmts)+1))
	}
	return f
}

// canonical sorts each run of consecutive BEGINs of an order by session. No
// statement stands between them, so the servers see no difference.
func (f *orderFilter) canonical(order []int) {
	next := make([]int, len(f.d.sessions))
	run := 0
	for i, s := range order {
		if stmt.KindOf(f.d.sessions[s].stmts[next[s]]).Begins() {
			for j := i; j > run && order[j] < order[j-1]; j-- {
				order[j], order[j-1] = order[j-1], order[j]
			}
		} else {
			run = i + 1
		}
		next[s]++
	}
}

func (f *orderFilter) accepts(order []int) bool {
	for i := range f.at {
		f.at[i] = f.at[i][:0]
	}
	for pos, s := range order {
		f.at[s] = append(f.at[s], pos)
	}
	for i := range f.at { // a transaction that is never ended ends here
		f.at[i] = append(f.at[i], len(order))
	}
	return f.overlapping() && f.conflicting()
}

// overlapping says that the first transactions of all sessions that have one
// are connected by overlaps of their lifetimes.
func (f *orderFilter) overlapping() bool {
	type lifetime struct{ begin, end int }
	var lives []lifetime
	for i, sp := range f.spans {
		if len(sp) > 0 {
			lives = append(lives, lifetime{f.at[i][sp[0].begin], f.at[i][sp[0].end]})
		}
	}
	// Grow the connected set around the first lifetime: it is an interval.
	if len(lives) == 0 {
		return true
	}
	reach := lives[0]
	for range lives {
		for _, l := range lives {
			if l.begin < reach.end && reach.begin < l.end {
				reach.begin, reach.end = min(reach.begin, l.begin), max(reach.end, l.end)
			}
		}
	}
	for _, l := range lives {
		if l.begin < reach.begin || l.end > reach.end {
			return false
		}
	}
	return true
}

// conflicting says that for some pair both statements come before the first
// end of their transactions.
func (f *orderFilter) conflicting() bool {
	if len(f.pairs) == 0 {
		return true
	}
	for _, p := range f.pairs {
		end := min(f.end(p.a), f.end(p.b))
		if f.at[p.a.session][p.a.stmt] < end && f.at[p.b.session][p.b.stmt] < end {
			return true
		}
	}
	return false
}

// end returns where the transaction around a statement ends.
func (f *orderFilter) end(r ref) int {
	for _, sp := range f.spans[r.session] {
		if sp.begin < r.stmt && r.stmt < sp.end {
			return f.at[r.session][sp.end]
		}
	}
	return f.at[r.session][r.stmt]
}
