package reduce

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// A set-up gets the rows that a run left and those that it began with, deleted
// again, before its own.
func TestPasts(t *testing.T) {
	c, err := corpus.Parse("case", []byte(`/* init */ CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(9));
/* init */ INSERT INTO t VALUES (1, 'x');
/* tx1 */ UPDATE t SET a = 2;
`))
	if err != nil {
		t.Fatal(err)
	}
	h := &history.History{Final: []history.Table{{Name: "t", Columns: []string{"a", "b"}, Rows: [][]history.Cell{
		{{Text: "2"}, {Text: `it's a \`}}, {{Text: "-3"}, {Null: true}},
	}}}}
	want := []string{
		`INSERT t (1, 'x'); DELETE t; INSERT t (2, 'it''s a \\'), (-3, NULL); DELETE t; INSERT t (1, 'x')`,
		`INSERT t (2, 'it''s a \\'), (-3, NULL); DELETE t; INSERT t (1, 'x')`,
		`INSERT t (1, 'x'); DELETE t; INSERT t (1, 'x')`,
	}
	got := Pasts(c, h)
	if len(got) != len(want) {
		t.Fatalf("%d variants", len(got))
	}
	for i, v := range got {
		var lines []string
		for _, l := range v.Init[1:] {
			sql := strings.NewReplacer("INSERT INTO", "INSERT", "DELETE FROM", "DELETE", "VALUES ", "", "`", "").Replace(corpus.SQL(l.Stmt, corpus.Text))
			lines = append(lines, sql)
		}
		if text := strings.Join(lines, "; "); text != want[i] {
			t.Errorf("variant %d: %s\nwant %s", i, text, want[i])
		}
		if len(v.Steps) != 1 || len(c.Init) != 2 {
			t.Errorf("variant %d: %d steps; the case has %d lines of set-up", i, len(v.Steps), len(c.Init))
		}
	}
	if got := Pasts(c, nil); got != nil {
		t.Errorf("without a run: %d variants", len(got))
	}
}
