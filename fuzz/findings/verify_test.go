package findings

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/corpus"

	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
)

const recordedText = `-- source: a test
-- verdict (embedded, RC RR): ok
-- verdict (mysql 9.7, RU RC): known semi-consistent-read
-- verdict (mysql 9.7, RR SER): ok
-- level: tx1=RC, tx2=RR

/* init */ CREATE TABLE t (a INT); -- as its author wrote it
/* tx1 */  select a from t;
/* tx2 */ BEGIN;
`

func TestRecordedCells(t *testing.T) {
	c := targettest.Case(t, recordedText+"-- verdict (mysql 9.7, SER): violation behind the header\n")
	want := []Cell{
		{"embedded", "RC", "ok"}, {"embedded", "RR", "ok"},
		{"mysql 9.7", "RU", "known semi-consistent-read"}, {"mysql 9.7", "RC", "known semi-consistent-read"},
		{"mysql 9.7", "RR", "ok"}, {"mysql 9.7", "SER", "ok"},
	}
	if diff := cmp.Diff(want, RecordedCells(c)); diff != "" {
		t.Error(diff)
	}
	for _, x := range []struct{ target, level, want string }{
		{"mysql:9.7", "RC", "known semi-consistent-read"}, {"mysql:9.7", "SER", "ok"},
		{"mysql:9.7,binlog=off", "RC", ""}, {"embedded", "SER", ""},
	} {
		if got := RecordedVerdict(c, x.target, x.level); got != x.want {
			t.Errorf("%s at %s: %q, want %q", x.target, x.level, got, x.want)
		}
	}
}

func TestRecord(t *testing.T) {
	for _, x := range []struct {
		name, text, target string
		cells              []Cell
		want               string
	}{
		{
			"replaces in place", recordedText, "embedded", []Cell{{Level: "RC", Verdict: "ok"}, {Level: "RR", Verdict: "known moved-row"}},
			strings.Replace(recordedText, "-- verdict (embedded, RC RR): ok", "-- verdict (embedded, RC): ok\n-- verdict (embedded, RR): known moved-row", 1),
		}, {
			"adds behind the other verdicts", recordedText, "mysql:9.7,binlog=off", []Cell{{Level: "RU", Verdict: "ok"}, {Level: "SER", Verdict: "ok"}},
			strings.Replace(recordedText, "-- level", "-- verdict (mysql 9.7,binlog=off, RU SER): ok\n-- level", 1),
		}, {
			"adds at the end of a header without any", "-- source: x\n-- a remark\n\n/* tx1 */ BEGIN;\n", "embedded", []Cell{{Level: "tx1=RC, tx2=RR", Verdict: "ok"}},
			"-- source: x\n-- a remark\n-- verdict (embedded, tx1=RC, tx2=RR): ok\n\n/* tx1 */ BEGIN;\n",
		}, {
			"makes a header", "/* tx1 */ BEGIN;\n", "embedded", []Cell{{Level: "RC", Verdict: "ok"}},
			"-- verdict (embedded, RC): ok\n/* tx1 */ BEGIN;\n",
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := Record([]byte(x.text), x.target, x.cells)
			if diff := cmp.Diff(x.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(string(got), string(Record(got, x.target, x.cells))); diff != "" {
				t.Errorf("recorded again:\n%s", diff)
			}
			for _, c := range x.cells {
				if v := RecordedVerdict(targettest.Case(t, string(got)), x.target, c.Level); v != c.Verdict {
					t.Errorf("read back at %s: %q", c.Level, v)
				}
			}
		})
	}
}

// Somebody changes a verdict in a file: the complaint names the file, the
// server, the level, both verdicts, and what to do.
func TestVerifySeesAChangedVerdict(t *testing.T) {
	target := targettest.Any(t)
	path := fromRoot(KnownDir + "/base-G-single.sql")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = Record(text, target.Name, []Cell{{Level: "RC", Verdict: "ok"}, {Level: "RR", Verdict: "violation wrong-rows"}})
	results, err := Verify(t.Context(), target, corpus.Stored{Path: "corpus/known/base-G-single.sql", Case: targettest.Case(t, string(text))})
	if err != nil {
		t.Fatal(err)
	}
	for i := range results {
		v := &results[i]
		switch v.Level {
		case "RC":
			if v.Changed() || v.Unsteady() || v.Runs != 1 {
				t.Errorf("an unchanged verdict: %+v", v)
			}
		case "RR":
			got := v.Explain("1.0")
			if !v.Changed() || v.Runs != verifyRuns {
				t.Errorf("a changed verdict is taken for the recorded one: %+v", v)
			}
			for _, part := range []string{
				"corpus/known/base-G-single.sql on " + target.Name + " at RR", "recorded: violation wrong-rows\n", "now:      ok (3 of 3 runs)\n",
				", recorded on 1.0\n", "go run ./cmd/txnfuzz show corpus/known/base-G-single.sql", "go test ./fuzz -run TestCorpus -update",
			} {
				if !strings.Contains(got, part) {
					t.Errorf("no %q in the complaint:\n%s", part, got)
				}
			}
		}
	}
}

// A case whose set-up a server refuses is never a pass: it is reported with the
// server's message, and another message is another verdict.
func TestVerifyReportsAStaleCase(t *testing.T) {
	target := targettest.Any(t)
	c := targettest.Case(t, "/* init */ CREATE TABLE t (a INT);\n/* init */ INSERT INTO t VALUES (1, 2);\n/* tx1 */ SELECT * FROM t;\n")
	results, err := Verify(t.Context(), target, corpus.Stored{Path: "stale.sql", Case: c})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(target.Levels()) {
		t.Errorf("%d results", len(results))
	}
	for i := range results {
		v := &results[i]
		if !v.Changed() || !strings.Contains(v.Explain(""), "Column count doesn't match value count") {
			t.Errorf("at %s: %s", v.Level, v.Explain(""))
		}
		if !strings.HasPrefix(v.Now, "unknown init-error: set-up line 2, INSERT INTO") {
			t.Errorf("at %s: verdict %q", v.Level, v.Now)
		}
	}
}
