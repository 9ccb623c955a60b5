package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
)

// tally counts what became of the cases.
type tally struct {
	cases, compared, differ, contradict int
	// waited counts the cases in which something waited as they were generated, reordered
	// those of them that were compared in another order.
	waited, reordered int
	edges, own        map[graph.Kinds]int
	// reads and statements are those of compared cases: of the instrumentation, and of
	// the cases themselves.
	reads, statements int
	// why counts the cases that were not compared, untold the statements of compared ones
	// whose reads were left out, both by reason.
	why, untold map[string]int
}

func newTally() *tally {
	return &tally{edges: map[graph.Kinds]int{}, own: map[graph.Kinds]int{}, why: map[string]int{}, untold: map[string]int{}}
}

func (t *tally) add(o *outcome) {
	t.compared++
	if o.again > 0 {
		t.reordered++
	}
	for _, s := range o.p.steps {
		if s.role == own {
			t.statements++
		} else {
			t.reads++
		}
	}
	for _, why := range o.c.untold {
		t.untold[why]++
	}
	for k, n := range o.c.all {
		t.edges[k] += n
		t.own[k] += o.c.own[k]
	}
	if !o.c.equal() {
		t.differ++
	}
}

// reasons lists what was not compared and why, the most frequent first.
func (t *tally) reasons() string {
	var b strings.Builder
	list := func(what string, of map[string]int) {
		keys := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
			return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
		})
		for _, k := range keys {
			fmt.Fprintf(&b, "%6d %s: %s\n", of[k], what, k)
		}
	}
	list("cases not compared", t.why)
	list("statements whose reads are left out", t.untold)
	return b.String()
}

// line is the last line of the report.
func (t *tally) line(target string) string {
	var parts []string
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%s %d (%d)", k, t.edges[k], t.own[k]))
	}
	return fmt.Sprintf("%s: %d cases, %d usable (%.0f %%), %d waited, of which %d usable in another order; %d statements with %d reads around them; equal edges (between the cases' own statements): %s; %d cases differ, %d contradict themselves",
		target, t.cases, t.compared, 100*float64(t.compared)/float64(max(t.cases, 1)), t.waited, t.reordered, t.statements, t.reads, strings.Join(parts, ", "), t.differ, t.contradict)
}
