package campaign

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
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
		if c.failOn.Finding(&findings.Finding{}) != c.old || c.failOn.Finding(&findings.Finding{New: true}) != c.isNew {
			t.Errorf("%s: findings", c.failOn)
		}
		if c.failOn.Report(&Report{Findings: []findings.Finding{{}}}) != c.reportOfOld || c.failOn.Report(&Report{}) {
			t.Errorf("%s: report", c.failOn)
		}
		v := oracle.Verdict{Outcome: oracle.Violation, Kind: "dirty-read"}
		r := findings.Replayed{Verdict: v.Outcome, Trial: target.Trial{Verdict: v}, Recorded: "violation dirty-read"}
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
			if c.failOn.Replayed(&findings.Replayed{Verdict: known.Outcome, Trial: target.Trial{Verdict: known}, Recorded: recorded}) != want {
				t.Errorf("%s: a known deviation, recorded %q, want %t", c.failOn, recorded, want)
			}
		}
		if c.failOn.Replayed(&findings.Replayed{Verdict: oracle.OK, Recorded: "known moved-row"}) {
			t.Errorf("%s: a deviation that is gone", c.failOn)
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
