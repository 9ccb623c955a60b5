package infer

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// Anomaly is one thing that a history shows and some model forbids.
type Anomaly struct {
	Kind model.Kind
	// Key is the key that it is about, in words; empty for cycles.
	Key string
	// Txns are the transactions that show it, by number in the history; the one
	// that saw it first.
	Txns []int
	// Cycle is set for cycles: Txns[i] depends on what Steps[i] says.
	Cycle []graph.Edge
	// Steps tells it in sentences, with the operations quoted.
	Steps []string
}

// Group is all anomalies of one kind.
type Group struct {
	Kind     model.Kind
	Count    int
	Examples []Anomaly
}

// anomalies collects what is found: all is counted, a few are kept.
type anomalies struct {
	keep    int
	partial bool
	groups  map[model.Kind]*Group
}

// add counts an anomaly and tells whether it is among those to be kept.
func (a *anomalies) add(k model.Kind) (*Group, bool) {
	g := a.groups[k]
	if g == nil {
		g = &Group{Kind: k}
		a.groups[k] = g
	}
	g.Count++
	return g, len(g.Examples) < a.keep
}

func (a *anomalies) sorted() []Group {
	var out []Group
	for _, g := range a.groups {
		out = append(out, *g)
	}
	// What the weakest model forbids is the worst.
	rank := func(k model.Kind) int {
		for i, d := range model.Models {
			if model.Forbids(d.Model, k) {
				return i
			}
		}
		return len(model.Models)
	}
	slices.SortFunc(out, func(x, y Group) int {
		if d := rank(x.Kind) - rank(y.Kind); d != 0 {
			return d
		}
		if x.Kind < y.Kind {
			return -1
		}
		return 1
	})
	return out
}

// perKey remembers, for the transaction that is looked at, what it did to each
// key, without clearing anything between transactions.
type perKey[T any] struct {
	txn []int32 // transaction+1 for which val holds
	val []T
}

func newPerKey[T any](keys int) *perKey[T] {
	return &perKey[T]{txn: make([]int32, keys), val: make([]T, keys)}
}

func (p *perKey[T]) get(t, k int32) (T, bool) {
	if p.txn[k] == t+1 {
		return p.val[k], true
	}
	var zero T
	return zero, false
}

func (p *perKey[T]) set(t, k int32, v T) { p.txn[k], p.val[k] = t+1, v }

// evidence is what one workload's inference hands on.
type evidence struct {
	h         *kv.History
	committed []bool
	versions  *versions
	found     *anomalies
	// extra gives edges beyond those of versions, nil for none.
	extra func(edge func(from, to int32, k graph.Kinds))
	// explainExtra tells why an edge of extra is there; nameVersion names a
	// version better than by its writer's last write. All may be nil.
	explainExtra func(c graph.Edge, a, b string) string
	nameVersion  func(k, v int32) string
	// shows tells whether a read of a version's key returned that version.
	shows func(o kv.Op, v int32) bool
	// doubts are reasons why a model that was not refuted cannot be granted.
	doubts map[string]int
	// told are pairs of chains that were told to have no order.
	told map[pair]bool
	// holes are what reads may have chosen on either side of.
	holes []hole
	// invariantOnly: no order was inferred, only an invariant was tested.
	invariantOnly bool
}

func (e *evidence) doubt(reason string) {
	if e.doubts == nil {
		e.doubts = map[string]int{}
	}
	e.doubts[reason]++
}
