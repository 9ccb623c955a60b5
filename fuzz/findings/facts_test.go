package findings

import (
	"context"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestForFacts: a plan that the server tells takes a violation back only if the server
// did the same, and only the plan makes the difference.
func TestForFacts(t *testing.T) {
	records, err := oracle.LoadRecords("../../oracle/testdata/innodb-violations.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Parse("record", []byte(records[0].Case))
	if err != nil {
		t.Fatal(err)
	}
	h := records[0].History
	finding := &target.Trial{Case: c, Levels: h.Levels, History: h, Verdict: oracle.Judge(c, h, false)}
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
		got, refuted := forFacts(t.Context(), func(context.Context, *corpus.Case, map[int]corpus.Level) target.Trial {
			runs++
			return target.Trial{Case: c, Levels: h.Levels, History: x.h, Verdict: x.v}
		}, finding)
		if refuted != x.refuted || (got.History.Facts != nil) != x.facts || runs == 0 || runs > factRuns {
			t.Errorf("%s: refuted %v, with facts %v, in %d runs", x.what, refuted, got.History.Facts != nil, runs)
		}
	}
}

// TestPlansAgree: the plans that a server tells change no verdict, unless it is unknown for
// want of one. Where one does, the oracle foresees a plan that is not taken, or uses what is
// told wrongly.
func TestPlansAgree(t *testing.T) {
	const cases = 250
	for _, name := range target.Installed(t.Context()) {
		if name != "mariadb:11.8" && name != "mariadb:10.11" && name != "mysql:9.7" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			on := targettest.Open(t, name, target.Options{})
			plans, wants := 0, 0
			for n := range uint64(cases) {
				c := mutate.Generate(mutate.NewSeeded(n+1), mutate.Options{Levels: on.Levels(), DBMS: on.Server().DBMS, Tables: 2, Conflict: mutate.Mix})
				r := on.JudgeForFacts(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead))
				if r.History == nil {
					t.Fatalf("case %d: %v", n, r.Err)
				}
				plans += len(r.History.Facts.Plans)
				was := judgedUntold(&r)
				if was.Outcome == oracle.Unknown && was.Reason == "unsupported: a condition that may be found impossible" {
					if wants++; wants > cases/20 {
						t.Errorf("of %d cases %d want a plan: too many to be asked for", n+1, wants)
					}
					continue
				}
				if r.Verdict.Oracle == oracle.Promised { // it asks for no plans, and judgedUntold does not ask it
					continue
				}
				if was.Outcome != r.Verdict.Outcome || was.Fingerprint != r.Verdict.Fingerprint {
					t.Errorf("case %d: %s %s, with its plans %s %s\n%s", n, was.Outcome, was.Fingerprint, r.Verdict.Outcome, r.Verdict.Fingerprint, corpus.Print(c, corpus.Text))
				}
			}
			if plans < 5*cases {
				t.Errorf("only %d plans told in %d cases", plans, cases)
			}
		})
	}
}
