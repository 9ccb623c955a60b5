package main

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// TestReadOnlyAnomaly: the example of the paper, and what is none.
func TestReadOnlyAnomaly(t *testing.T) {
	committed := []mvcc.Unit{{Committed: true}, {Committed: true}, {Committed: true}}
	paper := []mvcc.Dependency{{From: 1, To: 0, Kind: graph.RW}, {From: 0, To: 2, Kind: graph.WR}, {From: 2, To: 1, Kind: graph.RW}}
	for name, x := range map[string]struct {
		d    mvcc.Dependencies
		want bool
	}{
		"withdrawal, deposit and a reader": {mvcc.Dependencies{Units: committed, Edges: paper}, true},
		"without the reader":               {mvcc.Dependencies{Units: committed, Edges: paper[:1]}, false},
		"the reader was rolled back":       {mvcc.Dependencies{Units: []mvcc.Unit{{Committed: true}, {Committed: true}, {}}, Edges: paper}, false},
		"write skew of the other two":      {mvcc.Dependencies{Units: committed, Edges: append(paper[:3:3], mvcc.Dependency{From: 0, To: 1, Kind: graph.RW})}, false},
		"a cycle of three writers":         {mvcc.Dependencies{Units: committed, Edges: append(paper[:3:3], mvcc.Dependency{From: 1, To: 2, Kind: graph.WW})}, false},
	} {
		if got := readOnlyAnomaly(&x.d); got != x.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
