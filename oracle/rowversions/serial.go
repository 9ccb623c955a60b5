package rowversions

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Cycle returns the difference of a history whose committed transactions, all SERIALIZABLE, depend on each other in a
// cycle, nil if none is told.
func Cycle(c *corpus.Case, h *history.History) *history.Difference {
	for _, l := range h.Levels {
		if l != corpus.Serializable {
			return nil
		}
	}
	f := follow(c, h)
	if f == nil {
		return nil
	}
	edges, all := f.dependencies()
	g := graph.Build(len(all), func(edge func(from, to int32, k graph.Kinds)) {
		for _, e := range edges {
			edge(e.from, e.to, e.kind)
		}
	})
	find := graph.NewFinder(g)
	var shortest []graph.Edge
	for _, e := range edges {
		if back := find.Path(e.to, e.from, graph.WW|graph.WR|graph.RW); back != nil && (shortest == nil || len(back) < len(shortest)-1) {
			shortest = append(back, graph.Edge{From: e.from, To: e.to, Kind: e.kind})
		}
	}
	if shortest == nil {
		return nil
	}
	return f.circular(shortest, edges)
}

// dependency leads from one committed transaction to another; each names the statement that it is of.
type dependency struct {
	from, to         int32
	kind             graph.Kinds
	fromStmt, toStmt int
}

// dependencies returns those of the committed transactions, and these.
func (f *follower) dependencies() (edges []dependency, all []*transaction) {
	number := map[*transaction]int32{}
	of := func(i int) (int32, bool) {
		a := &f.acts[i]
		if !a.lasts(len(f.acts)) {
			return 0, false
		}
		n, ok := number[a.of]
		if !ok {
			n = int32(len(all))
			number[a.of] = n
			all = append(all, a.of)
		}
		return n, true
	}
	add := func(from, to int, kind graph.Kinds) {
		a, ok := of(from)
		b, there := of(to)
		if ok && there && a != b {
			edges = append(edges, dependency{a, b, kind, from, to})
		}
	}
	for i := range f.h.Stmts {
		for _, v := range f.h.Stmts[i].Versions {
			if v.Found == "" {
				continue
			}
			if w, ok := f.writer(v.Found); ok {
				kind := graph.WR
				if f.kind(i).Writes() {
					kind = graph.WW
				}
				add(w, i, kind)
			}
			for _, w := range f.replaced[v.Found] {
				if w != i {
					add(i, w, graph.RW)
				}
			}
		}
	}
	return edges, all
}

// circular is the difference of a cycle.
func (f *follower) circular(cycle []graph.Edge, edges []dependency) *history.Difference {
	last := -1
	var parts []string
	for _, e := range cycle {
		for _, d := range edges {
			if d.from == e.From && d.to == e.To && d.kind == e.Kind {
				parts = append(parts, fmt.Sprintf("%s %s %s", f.name(d.fromStmt), depends[d.kind], f.name(d.toStmt)))
				last = max(last, d.fromStmt, d.toStmt)
				break
			}
		}
	}
	return f.differs(last, "not-serializable", "transactions that have a serial order", strings.Join(parts, "; "))
}

var depends = map[graph.Kinds]string{
	graph.WW: "made a version that was replaced by", graph.WR: "made a version that was read by",
	graph.RW: "read a version that was replaced by",
}
