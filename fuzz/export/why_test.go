package export

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestAnomalyInEveryFormat: each form in which a bug is told gives the name of the
// literature and what the server told of its plans, that of a tracker for its own server.
func TestAnomalyInEveryFormat(t *testing.T) {
	records, err := oracle.LoadRecords("../../oracle/testdata/hermitage.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	trackers := map[string]history.DBMS{"tidb": history.TiDB, "jira": history.MariaDB}
	for i := range records {
		if records[i].Note != "gsingle RR" {
			continue
		}
		h := records[i].History
		h.Stmts[8].Result.Rows[0][1] = history.Cell{Text: "18"}
		h.Facts = &history.Facts{Plans: map[int]string{8: `{"query_block": {"table": {"table_name": "test", "access_type": "const", "key": "PRIMARY"}}}`}}
		c, err := corpus.Parse("skew", []byte(records[i].Case))
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range Formats() {
			// They need a statement that was held, or a run on PostgreSQL.
			if slices.Contains([]string{"gdb", "injection-point", "pgsql-bugs"}, format) {
				continue
			}
			run := *h
			if dbms, ok := trackers[format]; ok {
				run.Server.DBMS = dbms
			}
			v := oracle.Check(c, &run)
			files, err := Write(timeline.Of(timeline.Run{File: "skew.sql", Case: c, Levels: run.Levels, History: &run, Verdict: v}), format, Test)
			if err != nil {
				t.Errorf("%s: %v", format, err)
				continue
			}
			text := strings.ReplaceAll(string(files.Text), `\`, "")
			for _, want := range []string{"read skew (G-single)", "in step 9 tx1 saw what tx2 did to (2,18) of test in step 7",
				"step 9: test: const by PRIMARY"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s has no %q:\n%s", format, want, files.Text)
				}
			}
		}
		return
	}
	t.Fatal("no record")
}
