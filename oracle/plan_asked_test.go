package oracle

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// A query that finds nothing takes its transaction's snapshot, unless the server found its
// condition impossible, as its plan says. The history was seen on MariaDB 11.8, whose plan
// of the first query is "Impossible WHERE".
func TestPlanDecides(t *testing.T) {
	text, err := os.ReadFile("testdata/impossible.json")
	if err != nil {
		t.Fatal(err)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Parse("case", []byte(r.Case))
	if err != nil {
		t.Fatal(err)
	}
	questions := Questions(c, r.History)
	if len(questions) != 1 {
		t.Fatalf("%d questions", len(questions))
	}
	var key string
	for k, q := range questions {
		if key = k; !q.Plan || q.SQL != "SELECT * FROM t WHERE a < 1 AND a > 3" {
			t.Errorf("asked: %+v", q)
		}
	}
	for _, says := range []struct {
		table, access, extra string
		want                 Outcome
		kind                 Kind
	}{
		{"NULL", "NULL", "Impossible WHERE", OK, ""},
		{"t", "range", "Using index condition", Violation, "non-repeatable-read"},
		{"NULL", "NULL", "Impossible WHERE noticed after reading const tables", OK, ""},
	} {
		r.History.Answers = map[string]*history.Answer{key: {Result: history.Result{
			Columns: []string{"id", "select_type", "table", "type", "Extra"},
			Rows:    [][]history.Cell{{{Text: "1"}, {Text: "SIMPLE"}, {Text: says.table}, {Text: says.access}, {Text: says.extra}}},
		}}}
		if v := Check(c, r.History); v.Outcome != says.want || v.Kind != says.kind {
			t.Errorf("%s: %s %s, want %s %s (%s)", says.extra, v.Outcome, v.Kind, says.want, says.kind, v.Reason)
		}
	}
}
