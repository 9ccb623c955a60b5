package findings

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// twoQuirks is a server with two deviations: an UPDATE shows the one, a DELETE
// the other, both together show both. With joined, neither shows without the
// other.
func twoQuirks(joined bool) func(context.Context, *corpus.Case, map[int]corpus.Level) target.Trial {
	return func(_ context.Context, c *corpus.Case, levels map[int]corpus.Level) target.Trial {
		text := string(corpus.Print(&corpus.Case{Steps: c.Steps}, corpus.Text))
		r := target.Trial{Case: c, Levels: levels, History: &history.History{Levels: levels}, Verdict: oracle.Verdict{Outcome: oracle.OK, Stmt: -1}}
		for i, l := range c.Steps {
			r.History.Stmts = append(r.History.Stmts, history.Stmt{Line: i, Session: l.Session})
		}
		var rules []string
		if strings.Contains(text, "UPDATE") {
			rules = append(rules, "one")
		}
		if strings.Contains(text, "DELETE") {
			rules = append(rules, "two")
		}
		if len(rules) == 0 || joined && len(rules) == 1 {
			return r
		}
		r.Verdict = oracle.Verdict{Outcome: oracle.Known, Kind: "wrong-rows", Rules: rules, Stmt: -1, Fingerprint: "known/" + strings.Join(rules, "+") + "/RC"}
		return r
	}
}

const jointCase = `/* init */ CREATE TABLE t (a INT);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ SELECT * FROM t;
/* tx1 */ DELETE FROM t;
/* tx1 */ COMMIT;
`

func considered(t *testing.T, k *Keeper, text string) (*Finding, bool) {
	t.Helper()
	c := targettest.Case(t, text)
	r := k.Judge(t.Context(), c, target.LevelsFor(c, corpus.ReadCommitted))
	f, first, err := k.Consider(t.Context(), &r, Origin{})
	if err != nil {
		t.Fatal(err)
	}
	return f, first
}

func identities(k *Keeper) []string {
	var out []string
	for _, f := range k.Findings() {
		out = append(out, strings.Join(f.Rules, "+")+" in "+strings.Repeat("x", f.Statements))
	}
	return out
}

func TestJointDeviationsAreSeparated(t *testing.T) {
	k := newFakeKeeper(t, &fakeServer{})
	k.Judge, k.Strict = twoQuirks(false), true
	if f, first := considered(t, k, jointCase); f == nil || !first {
		t.Fatalf("finding %+v, first %t", f, first)
	}
	if got := identities(k); !slices.Equal(got, []string{"one in x", "two in x"}) {
		t.Errorf("findings %q, want each deviation by itself", got)
	}
	// Once both are known, the joint case only counts.
	if _, first := considered(t, k, jointCase); first {
		t.Error("the joint case is a finding of its own")
	}
	for _, f := range k.Findings() {
		if f.Seen != 2 {
			t.Errorf("%s was seen %d times, want 2", f.ID, f.Seen)
		}
	}
}

func TestDeviationsThatOnlyShowTogetherStayOne(t *testing.T) {
	k := newFakeKeeper(t, &fakeServer{})
	k.Judge, k.Strict = twoQuirks(true), true
	for i := range 2 {
		if f, first := considered(t, k, jointCase); f == nil || first != (i == 0) {
			t.Fatalf("finding %+v, first %t", f, first)
		}
	}
	if got := identities(k); !slices.Equal(got, []string{"one+two in xx"}) {
		t.Errorf("findings %q", got)
	}
}

func TestSameBugNarrows(t *testing.T) {
	known := func(rules ...string) oracle.Verdict {
		return oracle.Verdict{Outcome: oracle.Known, Rules: rules, Fingerprint: "known/" + strings.Join(rules, "+") + "/RC"}
	}
	same := SameBug(known("a", "b"), "")
	for _, x := range []struct {
		v    oracle.Verdict
		want bool
	}{
		{known("a", "b"), true}, {known("c"), false}, {known("a", "c"), false}, {oracle.Verdict{Outcome: oracle.OK}, false},
		{known("b"), true}, {known("a"), false}, {known("a", "b"), false}, {known("b"), true},
	} {
		if got := same(x.v); got != x.want {
			t.Errorf("%v: %t", x.v.Rules, got)
		}
	}
	if keep := SameBug(known("a", "b"), "b"); keep(known("a")) || !keep(known("b")) {
		t.Error("the deviation to keep is not kept")
	}
}

// A later case of the same finding replaces the kept one if it gets smaller.
func TestKeeperKeepsTheSmallestCase(t *testing.T) {
	k := newFakeKeeper(t, &fakeServer{})
	k.Again = true
	// What shows is a statement that cannot be cut, so the first case stays
	// larger than the second.
	k.Judge = func(_ context.Context, c *corpus.Case, levels map[int]corpus.Level) target.Trial {
		text := string(corpus.Print(&corpus.Case{Steps: c.Steps}, corpus.Text))
		r := target.Trial{Case: c, Levels: levels, History: &history.History{Levels: levels, Stmts: []history.Stmt{{Session: 1}}}, Verdict: oracle.Verdict{Outcome: oracle.OK, Stmt: -1}}
		if strings.Contains(text, "FOR UPDATE") || strings.Contains(text, "DELETE FROM t") && strings.Contains(text, "UPDATE t") {
			r.Verdict = dirtyRead
		}
		return r
	}
	considered(t, k, "/* init */ CREATE TABLE t (a INT); /* tx1 */ DELETE FROM t; /* tx2 */ UPDATE t SET a = 1;")
	if f := k.Findings()[0]; f.Statements != 2 {
		t.Fatalf("%d statements", f.Statements)
	}
	considered(t, k, "/* init */ CREATE TABLE t (a INT); /* tx1 */ SELECT a FROM t FOR UPDATE; /* tx2 */ SELECT a FROM t;")
	f := k.Findings()[0]
	c, err := corpus.Load(f.File)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Findings()) != 1 || f.Statements != 1 || len(c.Steps) != 1 || f.Seen != 2 {
		t.Errorf("%+v with %d steps in the file", f, len(c.Steps))
	}
}
