package main

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// readOnlyAnomaly reports whether committed transactions depend on each other in a circle,
// but those that write do not: only what a reader saw makes it one. Snapshot isolation
// allows it. Fekete, O'Neil and O'Neil, "A Read-Only Transaction Anomaly Under Snapshot
// Isolation", SIGMOD Record 33 (3), 2004.
func readOnlyAnomaly(d *mvcc.Dependencies) bool {
	writes := make([]bool, len(d.Units))
	for _, e := range d.Edges {
		if e.Kind&(graph.WW|graph.WR|graph.PredicateWR) != 0 {
			writes[e.From] = true
		}
		if e.Kind&(graph.WW|graph.RW|graph.PredicateRW) != 0 {
			writes[e.To] = true
		}
	}
	return circular(d, func(int) bool { return true }) && !circular(d, func(u int) bool { return writes[u] })
}

// circular reports whether there is a cycle of dependencies among some committed units.
func circular(d *mvcc.Dependencies, among func(unit int) bool) bool {
	next := make([][]int, len(d.Units))
	for _, e := range d.Edges {
		if d.Units[e.From].Committed && d.Units[e.To].Committed && among(e.From) && among(e.To) && e.From != e.To {
			next[e.From] = append(next[e.From], e.To)
		}
	}
	const fresh, open, done = 0, 1, 2
	state := make([]int, len(d.Units))
	var visit func(u int) bool
	visit = func(u int) bool {
		state[u] = open
		for _, v := range next[u] {
			if state[v] == open || state[v] == fresh && visit(v) {
				return true
			}
		}
		state[u] = done
		return false
	}
	for u := range d.Units {
		if state[u] == fresh && visit(u) {
			return true
		}
	}
	return false
}

// levelsOf names the levels of the committed units.
func levelsOf(d *mvcc.Dependencies) string {
	var out []string
	for _, u := range d.Units {
		if u.Committed {
			out = append(out, u.Level.Short())
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}
