package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// TestGraphOverrules: if the rules took a known deviation for a promise, the graph alone would
// call some of its runs wrong, by the name of the anomaly and with the cycle; at SERIALIZABLE
// it leaves the word to the search for a serial order.
func TestGraphOverrules(t *testing.T) {
	overruled := map[string]int{}
	for _, file := range []string{"innodb-known", "tidb-known"} {
		records, err := LoadRecords("testdata/" + file + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			r := &records[i]
			c, err := corpus.Parse(r.Note, []byte(r.Case))
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict.Outcome != Known {
				continue
			}
			v := Verdict{Outcome: OK, Stmt: -1, Rules: r.Verdict.Rules}
			v.second(c, r.History)
			if v.Outcome == OK {
				continue
			}
			for _, rule := range v.Rules {
				overruled[rule]++
			}
			switch {
			case ordered(c, r.History):
				t.Errorf("%s: overruled at SERIALIZABLE", r.Note)
			case v.Outcome != Violation || v.Kind != ForbiddenAnomaly || v.Oracle != Graph || v.Stmt < 0:
				t.Errorf("%s: %+v", r.Note, v)
			case !strings.HasPrefix(v.Fingerprint, "graph/forbidden-anomaly/") || !strings.Contains(v.Actual, "in step ") && !strings.Contains(v.Actual, "wrote"):
				t.Errorf("%s: fingerprint %q, actual %q", r.Note, v.Fingerprint, v.Actual)
			}
		}
	}
	t.Log(overruled)
	for _, rule := range []string{"record-gone-unseen"} {
		if overruled[rule] == 0 {
			t.Errorf("nothing under %s was overruled", rule)
		}
	}
	if len(overruled) < 3 {
		t.Errorf("runs under %d deviations were overruled, want 3", len(overruled))
	}
}

// TestJudgeAddsNothing: what the rules call known, wrong or unknown, they decide alone.
func TestJudgeAddsNothing(t *testing.T) {
	records, err := LoadRecords("testdata/innodb-violations.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		r := &records[i]
		c, err := corpus.Parse(r.Note, []byte(r.Case))
		if err != nil {
			t.Fatal(err)
		}
		a, b := Check(c, r.History), Judge(c, r.History, false)
		if a.Outcome != b.Outcome || a.Fingerprint != b.Fingerprint || !slices.Equal(a.Rules, b.Rules) || b.Oracle != "" {
			t.Errorf("%s: rules %+v, all judges %+v", r.Note, a, b)
		}
	}
}
