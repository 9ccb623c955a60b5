package main

import (
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
		if e.Kind&(graph.WW|graph.AnyWR) != 0 {
			writes[e.From] = true
		}
		if e.Kind&(graph.WW|graph.AnyRW) != 0 {
			writes[e.To] = true
		}
	}
	return circular(d, func(int) bool { return true }) && !circular(d, func(u int) bool { return writes[u] })
}

// circular reports whether there is a cycle of dependencies among some committed units.
func circular(d *mvcc.Dependencies, among func(unit int) bool) bool {
	g := graph.Build(len(d.Units), func(edge func(from, to int32, k graph.Kinds)) {
		for _, e := range d.Edges {
			if d.Units[e.From].Committed && d.Units[e.To].Committed && among(e.From) && among(e.To) {
				edge(int32(e.From), int32(e.To), e.Kind)
			}
		}
	})
	return len(g.Components(graph.Data)) > 0
}
