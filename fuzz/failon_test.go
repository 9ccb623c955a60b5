package fuzz

import (
	"path/filepath"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestFailOnFindings(t *testing.T) {
	for _, c := range []struct {
		failOn         FailOn
		old, isNew     bool
		reportOfOld    bool
		replayRecorded bool
		replayNew      bool
	}{
		{FailAny, true, true, true, true, true},
		{FailNew, false, true, false, false, true},
		{FailNone, false, false, false, false, false},
	} {
		if c.failOn.Finding(&Finding{}) != c.old || c.failOn.Finding(&Finding{New: true}) != c.isNew {
			t.Errorf("%s: findings", c.failOn)
		}
		if c.failOn.Report(&Report{Findings: []Finding{{}}}) != c.reportOfOld || c.failOn.Report(&Report{}) {
			t.Errorf("%s: report", c.failOn)
		}
		v := oracle.Verdict{Outcome: oracle.Violation, Kind: "dirty-read"}
		r := Replayed{Verdict: v.Outcome, Trial: Trial{Verdict: v}, Recorded: "violation dirty-read"}
		if c.failOn.Replayed(&r) != c.replayRecorded {
			t.Errorf("%s: a violation that is recorded", c.failOn)
		}
		r.Recorded = "ok"
		if c.failOn.Replayed(&r) != c.replayNew {
			t.Errorf("%s: a violation that is not", c.failOn)
		}
		known := oracle.Verdict{Outcome: oracle.Known, Rules: []string{"moved-row"}}
		for recorded, want := range map[string]bool{
			"": false, "known moved-row": false, "ok": c.failOn == FailNew, "known other": c.failOn == FailNew,
		} {
			if c.failOn.Replayed(&Replayed{Verdict: known.Outcome, Trial: Trial{Verdict: known}, Recorded: recorded}) != want {
				t.Errorf("%s: a known deviation, recorded %q, want %t", c.failOn, recorded, want)
			}
		}
		if c.failOn.Replayed(&Replayed{Verdict: oracle.OK, Recorded: "known moved-row"}) {
			t.Errorf("%s: a deviation that is gone", c.failOn)
		}
	}
}

// A finding is new until a file of the same family of servers has its
// fingerprint, whatever people called that file.
func TestFindingsAreNewOnce(t *testing.T) {
	f := &fakeServer{}
	k := newFakeKeeper(t, f)
	consider := func() *Finding {
		t.Helper()
		k.byID, k.order = map[string]*Finding{}, nil
		r := trialOf(t, f)
		found, _, err := k.Consider(t.Context(), r, origin{})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	reopen := func() {
		t.Helper()
		var err error
		if k.store, err = OpenStore(k.store.dir); err != nil {
			t.Fatal(err)
		}
	}
	if !consider().New {
		t.Error("the first time: not new")
	}
	reopen()
	if consider().New {
		t.Error("new although its file is there")
	}
	other := t.TempDir()
	for version, want := range map[string]bool{"8.0.11-TiDB-v8.2.0": false, "11.8.3-MariaDB-log": true, "9.7.0": true} {
		c := parseCase(t, dirtyCase)
		c.Set(keyVersion, version)
		c.Set(keyFingerprint, dirtyRead.Fingerprint)
		dir := filepath.Join(other, version)
		if _, err := corpus.Save(dir, "a-name-of-its-own", c); err != nil {
			t.Fatal(err)
		}
		store, err := OpenStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := !store.knows("id", history.TiDB, dirtyRead.Fingerprint); got != want {
			t.Errorf("with a file from %s: new %t, want %t", version, got, want)
		}
		for outcome, stays := range map[oracle.Outcome]bool{oracle.Known: !want, oracle.Violation: false} {
			found := &Finding{ID: "id", Fingerprint: dirtyRead.Fingerprint, Verdict: outcome}
			path, got := store.keeps(found, c, history.Server{DBMS: history.TiDB, Version: "8.0.11-TiDB-v9.0.0"})
			if got != stays || stays && filepath.Base(path) != "a-name-of-its-own.sql" {
				t.Errorf("with a file from %s, %s: %q stays %t, want %t", version, outcome, path, got, stays)
			}
		}
	}
}

func TestJudgedAny(t *testing.T) {
	r := &Report{Counts: newCounts()}
	r.Verdicts[oracle.Unknown] = 7
	if r.judgedAny() {
		t.Error("seven cases without a verdict count as judged")
	}
	r.Verdicts[oracle.Violation] = 1
	if !r.judgedAny() {
		t.Error("a violation is a verdict")
	}
}
