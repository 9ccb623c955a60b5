package fuzz

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestForFacts: a plan that the server tells takes a violation back only if the server
// did the same, and only the plan makes the difference.
func TestForFacts(t *testing.T) {
	records, err := oracle.LoadRecords("../oracle/testdata/innodb-violations.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Parse("record", []byte(records[0].Case))
	if err != nil {
		t.Fatal(err)
	}
	h := records[0].History
	finding := &Trial{Case: c, Levels: h.Levels, History: h, Verdict: oracle.Judge(c, h, false)}
	if finding.Verdict.Outcome != oracle.Violation {
		t.Fatalf("the record is no violation but %s", finding.Verdict.Outcome)
	}
	told := *h
	told.Facts = &history.Facts{Plans: map[int]string{0: "{}"}}
	other := told
	other.Stmts = nil
	ok := oracle.Verdict{Outcome: oracle.OK, Stmt: -1}
	for _, x := range []struct {
		what    string
		h       *history.History
		v       oracle.Verdict
		refuted bool
		facts   bool
	}{
		{"by its plans it is a violation, too", &told, finding.Verdict, false, true},
		{"by its plans it is as promised", &told, ok, true, true},
		{"by its plans nothing is known of it", &told, oracle.Verdict{Outcome: oracle.Unknown}, false, false},
		{"it did not do the same", &other, ok, false, false},
		{"it could not be run", nil, oracle.Verdict{Outcome: oracle.Unknown}, false, false},
	} {
		runs := 0
		got, refuted := forFacts(t.Context(), func(context.Context, *corpus.Case, map[int]corpus.Level) Trial {
			runs++
			return Trial{Case: c, Levels: h.Levels, History: x.h, Verdict: x.v}
		}, finding)
		if refuted != x.refuted || (got.History.Facts != nil) != x.facts || runs == 0 || runs > factRuns {
			t.Errorf("%s: refuted %v, with facts %v, in %d runs", x.what, refuted, got.History.Facts != nil, runs)
		}
	}
}

// TestFindingsHaveFacts: what is saved of a finding holds what its server told.
func TestFindingsHaveFacts(t *testing.T) {
	const file = "../corpus/found/innodb-index-condition-judges-uncommitted-rows.sql"
	asked := 0
	for _, name := range Installed(t.Context()) {
		if name != "mariadb:11.8" && name != "mysql:9.7" {
			continue
		}
		asked++
		t.Run(name, func(t *testing.T) {
			target := openFor(t, name, TargetOptions{})
			store, err := OpenStore(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			k := newKeeper(target, store)
			k.strict, k.reduceFor = true, 0
			c, err := corpus.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			r := target.Judge(t.Context(), c, LevelsFor(c, corpus.RepeatableRead))
			f, _, err := k.Consider(t.Context(), &r, origin{})
			if err != nil || f == nil {
				t.Fatalf("no finding of %s: %v (%v)", r.Verdict.Outcome, err, r.Err)
			}
			saved, err := corpus.Load(f.File)
			if err != nil {
				t.Fatal(err)
			}
			run, ok, err := Recorded(f.File, saved)
			if err != nil || !ok {
				t.Fatalf("no record: %v", err)
			}
			if run.History.Facts == nil || len(run.History.Facts.Plans) == 0 || len(run.History.Facts.Holdings) == 0 {
				t.Fatalf("facts: %+v", run.History.Facts)
			}
			var b strings.Builder
			if err := Show(&b, run, ""); err != nil || !strings.Contains(b.String(), "range by k") {
				t.Errorf("shown without its plan: %v\n%s", err, b.String())
			}
		})
	}
	if asked == 0 && os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
		t.Error("no server was asked")
	}
}

// TestPlansAgree: the plans that a server tells change no verdict. Where one does, the
// oracle foresees a plan that is not taken, or uses what is told wrongly.
func TestPlansAgree(t *testing.T) {
	const cases = 250
	for _, name := range Installed(t.Context()) {
		if name != "mariadb:11.8" && name != "mariadb:10.11" && name != "mysql:9.7" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			target := openFor(t, name, TargetOptions{})
			plans := 0
			for n := range uint64(cases) {
				c := mutate.Generate(mutate.NewSeeded(n+1), mutate.Options{Levels: target.Levels(), DBMS: target.Server().DBMS, Tables: 2, Conflict: mutate.Mix})
				r := target.JudgeForFacts(t.Context(), c, LevelsFor(c, corpus.RepeatableRead))
				if r.History == nil {
					t.Fatalf("case %d: %v", n, r.Err)
				}
				plans += len(r.History.Facts.Plans)
				if was := judgedUntold(&r); was.Outcome != r.Verdict.Outcome || was.Fingerprint != r.Verdict.Fingerprint {
					t.Errorf("case %d: %s %s, with its plans %s %s\n%s", n, was.Outcome, was.Fingerprint, r.Verdict.Outcome, r.Verdict.Fingerprint, corpus.Print(c, corpus.Text))
				}
			}
			if plans < 5*cases {
				t.Errorf("only %d plans told in %d cases", plans, cases)
			}
		})
	}
}

// TestSampler: of each kind the 1st, 2nd, 4th and so on, as long as asking takes its share
// of the time at most; what was due then is asked about as soon as there is time.
func TestSampler(t *testing.T) {
	var s sampler
	chosen := func(n int, worked time.Duration) (out []int) {
		for i := range n {
			if s.choose("k", worked) {
				out = append(out, i+1)
			}
		}
		return out
	}
	if got := chosen(9, time.Second); !slices.Equal(got, []int{1, 2, 4, 8}) {
		t.Errorf("chose %v of nine", got)
	}
	s.took(time.Second)
	if got := chosen(20, 99*time.Second); got != nil {
		t.Errorf("chose %v, though the time for it is spent", got)
	}
	if got := chosen(1, 100*time.Second); len(got) != 1 || !s.choose("other", 100*time.Second) {
		t.Error("chose neither what was due nor another kind when there was time again")
	}
}
