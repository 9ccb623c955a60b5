//go:build postgres

package postgres_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var (
	seed  = flag.Uint64("seed", 1, "seed of the random cases")
	cases = flag.Int("cases", 400, "how many random cases are run")
)

// TestReadCommitted judges random cases that a server ran: what it did is legal.
func TestReadCommitted(t *testing.T) {
	r := newRecorder(t, startCluster(t))
	g := newGenerator(*seed)
	unknown, errors := map[string]int{}, map[string]int{}
	waited, statements, judged := 0, 0, 0
	for range *cases {
		c, h := recordNext(t, r, g)
		if slices.ContainsFunc(h.Stmts, func(s history.Stmt) bool { return len(s.Waits) > 0 }) {
			waited++
		}
		for i := range h.Stmts {
			if e := h.Stmts[i].Result.Err; e != nil {
				errors[e.State]++
			}
		}
		v := oracle.CheckAndCount(c, h)
		statements, judged = statements+v.Statements, judged+v.Judged
		switch v.Outcome {
		case oracle.OK:
		case oracle.Unknown:
			unknown[v.Reason]++
		default:
			t.Errorf("%s: %s at %d: expected %s, actual %s: %s\n%s%s", v.Outcome, v.Kind, v.Stmt, v.Expected, v.Actual, v.Reason, corpus.Print(c, corpus.MySQL), story(c, h))
		}
	}
	lost := 0
	for _, n := range unknown {
		lost += n
	}
	t.Logf("seed %d: %d cases, %d with a wait, errors %v, %d unknown %v; %d of %d statements with one allowed answer", *seed, *cases, waited, errors, lost, unknown, judged, statements)
	if waited*2 < *cases {
		t.Errorf("%d of %d cases had a wait", waited, *cases)
	}
	if lost*20 >= *cases {
		t.Errorf("%d of %d cases unknown: %v", lost, *cases, unknown)
	}
}
