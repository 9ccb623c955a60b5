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
		eachRecord(t, file, func(r *Record, c *corpus.Case) {
			if r.Verdict.Outcome != Known {
				return
			}
			v := Verdict{Outcome: OK, Stmt: -1, Rules: r.Verdict.Rules}
			v.second(c, r.History)
			if v.Outcome == OK {
				return
			}
			for _, rule := range v.Rules {
				overruled[rule]++
			}
			switch {
			case ordered(c, r.History):
				t.Errorf("%s: overruled at SERIALIZABLE", r.Note)
			case v.Outcome != Violation || v.Kind != ForbiddenAnomaly || v.Oracle != Graph || v.Stmt < 0:
				t.Errorf("%s: %+v", r.Note, v)
			case !strings.HasPrefix(v.Fingerprint, "graph/forbidden-anomaly/") || !strings.Contains(v.Actual, "in step "):
				t.Errorf("%s: fingerprint %q, actual %q", r.Note, v.Fingerprint, v.Actual)
			}
		})
	}
	t.Log(overruled)
	if overruled["record-gone-unseen"] == 0 {
		t.Error("nothing under record-gone-unseen was overruled")
	}
	if len(overruled) < 3 {
		t.Errorf("runs under %d deviations were overruled, want 3", len(overruled))
	}
}

// TestJudgeAddsNothing: what the rules call known, wrong or unknown, they decide alone.
func TestJudgeAddsNothing(t *testing.T) {
	t.Parallel()
	eachRecord(t, "innodb-violations", func(r *Record, c *corpus.Case) {
		a, b := Check(c, r.History), Judge(c, r.History, false)
		if a.Outcome != b.Outcome || a.Fingerprint != b.Fingerprint || !slices.Equal(a.Rules, b.Rules) || b.Oracle != "" {
			t.Errorf("%s: rules %+v, all judges %+v", r.Note, a, b)
		}
	})
}

// eachRecord loads the records of a file.
func eachRecord(t *testing.T, file string, do func(*Record, *corpus.Case)) {
	t.Helper()
	records, err := LoadRecords("testdata/" + file + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		c, err := corpus.Parse(records[i].Note, []byte(records[i].Case))
		if err != nil {
			t.Fatal(err)
		}
		do(&records[i], c)
	}
}
