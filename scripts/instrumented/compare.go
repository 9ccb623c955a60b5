package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// kinds are the kinds of edges in the order of the report.
var kinds = []graph.Kinds{graph.WW, graph.WR, graph.RW, graph.PredicateWR, graph.PredicateRW}

// comparison is the result for one case.
type comparison struct {
	// own and all count equal edges by kind: those between statements of the case itself,
	// and those with the reads of the instrumentation.
	own, all map[graph.Kinds]int
	// missing are derived from the answers alone, extra stand in the oracle's graph alone.
	missing, extra []edge
	// untold holds why the reads of some statements were left out.
	untold []string
}

func (c *comparison) equal() bool { return len(c.missing)+len(c.extra) == 0 }

func (c *comparison) String() string {
	var b strings.Builder
	for _, e := range c.missing {
		fmt.Fprintf(&b, "only by the answers: %s\n", e)
	}
	for _, e := range c.extra {
		fmt.Fprintf(&b, "only in the graph: %s\n", e)
	}
	return b.String()
}

// compare holds the edges by the answers against those of the oracle's graph.
func (f *facts) compare(answers, oracles map[edge]bool) comparison {
	c := comparison{own: map[graph.Kinds]int{}, all: map[graph.Kinds]int{}}
	for _, e := range inOrder(answers) {
		if !oracles[e] {
			c.missing = append(c.missing, e)
			continue
		}
		c.all[e.kind]++
		if f.step(e.fromStmt).role == own && f.step(e.toStmt).role == own {
			c.own[e.kind]++
		}
	}
	for _, e := range inOrder(oracles) {
		if _, not := f.untold[e.reader()]; !answers[e] && !not {
			c.extra = append(c.extra, e)
		}
	}
	c.untold = slices.Collect(maps.Values(f.untold))
	return c
}

func inOrder(set map[edge]bool) []edge {
	return slices.SortedFunc(maps.Keys(set), func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.fromStmt, b.fromStmt), cmp.Compare(a.toStmt, b.toStmt), cmp.Compare(a.kind, b.kind), cmp.Compare(a.item, b.item))
	})
}

// graphEdges returns the edges between committed transactions of the oracle's graph, their
// ends and items named as by derive.
func (f *facts) graphEdges(d *mvcc.Dependencies) (map[edge]bool, error) {
	names, err := f.itemNames(d)
	if err != nil {
		return nil, err
	}
	out := map[edge]bool{}
	for _, e := range d.Edges {
		from, to := &d.Units[e.From], &d.Units[e.To]
		switch {
		case !from.Committed || !to.Committed:
			continue
		case e.Aborted || e.Intermediate:
			return nil, contradicts(e.ToStmt, "the graph has a read of what was not to stay")
		}
		name, ok := names[graphItem{e.Table, e.Item}]
		if !ok {
			name = nameless(e.Table)
		}
		out[edge{e.Kind, txnName(from.Session, from.End), txnName(to.Session, to.End), e.FromStmt, e.ToStmt, name}] = true
	}
	return out, nil
}

// graphItem is an item as the oracle numbers it.
type graphItem struct {
	table string
	n     int
}

// itemNames finds out which item of the answers each item of the oracle's graph is: the
// columns id and v in a row of it tell. All rows of one must be of one.
func (f *facts) itemNames(d *mvcc.Dependencies) (map[graphItem]string, error) {
	out := map[graphItem]string{}
	for _, e := range d.Edges {
		s := f.stores[e.Table]
		if s == nil {
			return nil, fmt.Errorf("the graph has an edge on table %s, which the case has not", e.Table)
		}
		v := s.known[stampOfText(e.Row)]
		if v == nil {
			continue
		}
		it := graphItem{e.Table, e.Item}
		if was, ok := out[it]; ok && was != v.item.name {
			return nil, contradicts(e.ToStmt, "item %d of the graph is both %s and %s", e.Item, was, v.item.name)
		}
		out[it] = v.item.name
	}
	return out, nil
}

// stampOfText reads the last two columns of a row as the oracle prints it.
func stampOfText(row string) stamp {
	cells := strings.Split(strings.TrimSuffix(row, ")"), ",")
	if len(cells) < 2 {
		return stamp{}
	}
	return stamp{cells[len(cells)-2], cells[len(cells)-1]}
}
