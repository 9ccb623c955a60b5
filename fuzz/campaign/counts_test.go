package campaign

import (
	"reflect"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestInputsAreDistinct(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(8) {
		for worker := range 8 {
			for n := range 200 {
				s := freshSeed(seed, worker, n)
				if seen[s] {
					t.Fatalf("seed %d, worker %d, input %d has the input of another", seed, worker, n)
				}
				seen[s] = true
			}
		}
	}
}

// A case without a verdict counts as statements not judged: losses must not
// raise the share.
func TestCountsChargeUnknowns(t *testing.T) {
	c := targettest.Case(t, targettest.DirtyRead)
	h := &history.History{}
	for i, l := range c.Steps {
		h.Stmts = append(h.Stmts, history.Stmt{Line: i, Session: l.Session})
	}
	h.Stmts[3].Waits = []history.Wait{{Kind: history.RowLock}}
	h.Stmts[4].Result.Err = &history.Error{Code: errDeadlock}
	counts := newCounts()
	counts.add(&target.Trial{Case: c, History: h, Verdict: oracle.Verdict{Outcome: oracle.OK, Statements: 3, Judged: 3, Conflicting: true}})
	counts.add(&target.Trial{Case: c, History: h, Counted: true, Verdict: oracle.Verdict{Outcome: oracle.Unknown, Reason: "loss"}})
	if got := counts.Judged(); got != 0.5 {
		t.Errorf("judged %v, want half", got)
	}
	if got := counts.Conflicting(); got != 0.5 {
		t.Errorf("conflicting %v, want half", got)
	}
	if counts.Cases != 2 || counts.Statements != 14 || counts.Blocked != 2 || counts.Deadlocks != 2 || counts.Unknown["loss"] != 1 {
		t.Errorf("%+v", counts)
	}
}

func TestMergedReports(t *testing.T) {
	a, b := &Report{Counts: newCounts(), Target: "embedded"}, &Report{Counts: newCounts(), ServerVersion: "8"}
	a.Cases, a.judged, a.judgeable, a.Known["x"] = 3, 4, 4, 1
	b.Cases, b.judged, b.judgeable, b.Known["x"] = 1, 0, 4, 2
	a.Features.merge(Features{"type": {"INT": 1}})
	b.Features.merge(Features{"type": {"INT": 2, "BIT": 0}})
	a.Findings = []findings.Finding{{ID: "one", Seen: 1}}
	b.Findings = []findings.Finding{{ID: "one", Seen: 2}, {ID: "two", Seen: 1}}
	m := merged(a, b)
	if m.Cases != 4 || m.JudgedShare != 0.5 || m.Known["x"] != 3 || m.ServerVersion != "8" || len(m.Findings) != 2 || m.Findings[0].Seen != 3 {
		t.Errorf("%+v", *m)
	}
	if want := (Features{"type": {"INT": 3, "BIT": 0}}); !reflect.DeepEqual(m.Features, want) {
		t.Errorf("features %v, want %v", m.Features, want)
	}
}

// Features count in cases that were judged in a conflict; elsewhere they are
// seen with the count 0.
func TestFeatures(t *testing.T) {
	c := targettest.Case(t, `-- level: READ COMMITTED
/* init */ CREATE TABLE t (a INT UNSIGNED PRIMARY KEY, b VARCHAR(10), KEY (b(2), a));
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = CONCAT(b, 'x') WHERE a NOT IN (1, 2) AND b LIKE 'k%';
/* tx1 */ SELECT COUNT(*) FROM t FOR UPDATE;
/* tx1 */ COMMIT;
`)
	h := &history.History{Stmts: []history.Stmt{{Result: history.Result{Err: &history.Error{Code: 1062}}}}}
	f := Features{}
	f.add(&target.Trial{Case: c, History: h, Verdict: oracle.Verdict{Outcome: oracle.Known, Rules: []string{"r"}, Conflicting: true}})
	f.add(&target.Trial{Case: c, Verdict: oracle.Verdict{Outcome: oracle.OK}})
	want := Features{
		"statement": {"UPDATE": 1, "SELECT FOR UPDATE": 1},
		"type":      {"INT UNSIGNED": 1, "VARCHAR": 1},
		"schema":    {"PRIMARY KEY": 1, "KEY": 1, "key of several columns": 1, "prefix key": 1},
		"operator":  {"AND": 1, "CONCAT": 1, "NOT IN": 1, "LIKE": 1, "COUNT": 1},
		"error":     {"1062": 1},
		"rule":      {"r": 1},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got %v, want %v", f, want)
	}
	u := Features{}
	u.add(&target.Trial{Case: c, Verdict: oracle.Verdict{Outcome: oracle.Unknown, Conflicting: true}})
	if n, seen := u["type"]["VARCHAR"]; !seen || n != 0 {
		t.Errorf("a case that was not judged counts: %v", u)
	}
}

func TestStoredSeeds(t *testing.T) {
	known, err := LoadKnown(fromRoot(findings.StoredDir))
	if err != nil {
		t.Fatal(err)
	}
	if len(known) == 0 {
		t.Fatal("no stored cases")
	}
	for i, k := range known {
		for _, c := range PairCases(mutate.StoredInput(i, len(known)), known, mutate.Options{}) {
			if got, want := corpus.SQL(c.Init[0].Stmt, corpus.Text), corpus.SQL(k.Init[0].Stmt, corpus.Text); got != want {
				t.Errorf("the seed of case %d makes one of %s, not of %s", i, got, want)
			}
		}
	}
}
