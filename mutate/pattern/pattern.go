package pattern

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Action is what an operation does, a letter of a pattern's name.
type Action byte

// The actions. Those from Insert on concern the rows that a condition, item 'p',
// chooses.
const (
	Read   Action = 'r'
	Write  Action = 'w'
	Commit Action = 'c'
	Abort  Action = 'a'

	Insert  Action = 'i' // a new row that the condition chooses
	Delete  Action = 'd' // of a row that it chooses
	Enter   Action = 'e' // an UPDATE after which it chooses the row
	Leave   Action = 'l' // an UPDATE after which it does not
	MoveIn  Action = 'm' // a change of the key after which it chooses the row
	MoveOut Action = 'o' // a change of the key after which it does not
	Update  Action = 'u' // of all rows that it chooses
)

// Condition is the item that stands for the rows that a condition chooses; other
// items, 'x', 'y', 'z', are rows.
const Condition = 'p'

// Op is one operation of a transaction; Item is 0 of those that end it.
type Op struct {
	Do   Action
	Txn  int // from 1
	Item byte
}

// String is the operation as the literature writes it, for example r1x.
func (o Op) String() string {
	s := string(o.Do) + strconv.Itoa(o.Txn)
	if o.ends() {
		return s
	}
	return s + string(o.Item)
}

func (o Op) ends() bool { return o.Do == Commit || o.Do == Abort }

// reads and writes say on which side of a dependency an operation can stand.
func (o Op) reads() bool  { return o.Do == Read || o.Do == Update }
func (o Op) writes() bool { return !o.ends() && o.Do != Read && o.Do != Update }

// Family is a set of patterns that are made alike.
type Family string

// The families.
const (
	TwoItems   Family = "two items"
	OneItem    Family = "one item"
	Aborts     Family = "aborts"
	Conditions Family = "conditions"
	ThreeItems Family = "three items"
)

// Pattern is a sequence of operations, transactions and items numbered in the order
// in which they appear.
type Pattern struct {
	Family Family
	// Kind is of a cycle its edges, as "wr rw", from the rotation that is first; of
	// the others their name.
	Kind string
	Ops  []Op
}

// Name is the pattern's operations as text, for example "r1x w2x w2y c2 r1y c1".
// No two patterns have the same.
func (p *Pattern) Name() string { return text(p.Ops) }

func text(ops []Op) string {
	parts := make([]string, len(ops))
	for i, o := range ops {
		parts[i] = o.String()
	}
	return strings.Join(parts, " ")
}

// Of returns the patterns of a family, always in the same order.
func Of(f Family) []Pattern {
	switch f {
	case TwoItems:
		return cycles(f, 2)
	case ThreeItems:
		return cycles(f, 3)
	}
	return formsOf(f)
}

// Find returns the pattern of a name.
func Find(name string) (*Pattern, error) {
	name = strings.Join(strings.Fields(name), " ")
	for _, f := range []Family{TwoItems, OneItem, Aborts, Conditions, ThreeItems} {
		for _, p := range Of(f) {
			if p.Name() == name {
				return &p, nil
			}
		}
	}
	return nil, fmt.Errorf("no pattern is called %q: transactions and items are numbered in the order in which they appear, as in \"r1x w2x w2y c2 r1y c1\"", name)
}

// Edge is a dependency between the transactions of two operations, given by their
// places.
type Edge struct {
	From, To int
	Kind     EdgeKind
}

// EdgeKind tells a write, a read and an anti-dependency apart.
type EdgeKind string

// The kinds of edges, in the order in which kinds of cycles are named.
const (
	WW EdgeKind = "ww"
	WR EdgeKind = "wr"
	RW EdgeKind = "rw"
)

var edgeKinds = []EdgeKind{WW, WR, RW}

// Edges returns the dependencies that a server makes which executes each operation at
// once, on one version of each row: of a read on the write before it, of a write on
// the write before it and on the reads since that.
func (p *Pattern) Edges() []Edge {
	var out []Edge
	for j, b := range p.Ops {
		for i, a := range p.Ops[:j] {
			k := conflict(a, b)
			if k == "" || p.replaced(i, j) {
				continue
			}
			out = append(out, Edge{i, j, k})
		}
	}
	return out
}

func conflict(a, b Op) EdgeKind {
	switch {
	case a.Txn == b.Txn || a.Item != b.Item || a.ends():
		return ""
	case a.writes() && b.reads():
		return WR
	case a.reads() && b.writes():
		return RW
	case a.Do == Write && b.Do == Write:
		return WW
	}
	return "" // of two reads, or of two writes to different rows of a condition
}

// replaced says that b meets a later version than that of a: another write came
// between, or a was rolled back.
func (p *Pattern) replaced(a, b int) bool {
	return slices.ContainsFunc(p.Ops[a+1:b], func(o Op) bool {
		return o.Do == Write && o.Item == p.Ops[a].Item || o.Do == Abort && o.Txn == p.Ops[a].Txn
	})
}

// Cyclic says that the edges lead from a transaction back to itself. The others have
// one that meets what another has not committed, and no more.
func (p *Pattern) Cyclic() bool {
	into, from := map[int]bool{}, map[int]bool{}
	for _, e := range p.Edges() {
		from[p.Ops[e.From].Txn] = true
		into[p.Ops[e.To].Txn] = true
	}
	for t := range from {
		if !into[t] {
			return false
		}
	}
	return true
}

// Transactions is how many the pattern has.
func (p *Pattern) Transactions() int {
	n := 0
	for _, o := range p.Ops {
		n = max(n, o.Txn)
	}
	return n
}

// End returns the place of the operation that ends a transaction.
func (p *Pattern) End(txn int) int {
	return slices.IndexFunc(p.Ops, func(o Op) bool { return o.ends() && o.Txn == txn })
}

// Dirty says that some operation meets, over an edge of a kind, a transaction that
// wrote and is still open: a dirty write (WW) or a dirty read (WR).
func (p *Pattern) Dirty(k EdgeKind) bool {
	return slices.ContainsFunc(p.Edges(), func(e Edge) bool {
		return e.Kind == k && p.End(p.Ops[e.From].Txn) > e.To
	})
}
