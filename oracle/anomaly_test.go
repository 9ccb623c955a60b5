package oracle

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// recordOf returns one run of Hermitage's tests.
func recordOf(t *testing.T, note string) (*corpus.Case, *history.History) {
	t.Helper()
	records, err := LoadRecords("testdata/hermitage.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(records, func(r Record) bool { return r.Note == note })
	if i < 0 {
		t.Fatalf("no record %s", note)
	}
	c, err := corpus.Parse(note, []byte(records[i].Case))
	if err != nil {
		t.Fatal(err)
	}
	return c, records[i].History
}

// TestWrongAnswerIsNamed changes one value of an answer. The rows that come then are of
// other versions than they should be, and name what that is; where no version has the
// value, nothing is named.
func TestWrongAnswerIsNamed(t *testing.T) {
	for _, x := range []struct {
		note      string
		stmt, row int
		value     string
		want      model.Kind
		tells     string
	}{
		{"g1a RC", 3, 0, "101", model.G1a, "in step 4 tx2 read (1,101) of test, which tx1 wrote in step 3 and then rolled back"},
		{"g1a RC", 5, 0, "101", model.G1a, "in step 6 tx2 read (1,101)"},
		{"g1b RC", 3, 0, "101", model.G1b, "which tx1 wrote in step 3 and then changed again"},
		{"gsingle RR", 8, 0, "18", model.GSingleItem, "in step 3 tx1 did not see what tx2 did to (1,12) of test in step 6; in step 9 tx1 saw what tx2 did to (2,18) of test in step 7"},
		{"gsingle RR", 8, 0, "19", "", ""},
		{"g1a RC", 3, 0, "20", "", ""},
	} {
		c, h := recordOf(t, x.note)
		cells := h.Stmts[x.stmt].Result.Rows[x.row]
		cells[len(cells)-1] = history.Cell{Text: x.value}
		v := Check(c, h)
		if v.Outcome != Violation || v.Stmt != x.stmt {
			t.Errorf("%s: %s at %d", x.note, v.Outcome, v.Stmt)
			continue
		}
		list := Anomalies(c, h, &v)
		switch {
		case x.want == "" && len(list) > 0:
			t.Errorf("%s with %s: named %s", x.note, x.value, &list[0])
		case x.want != "" && (len(list) != 1 || list[0].Kind != x.want || !strings.Contains(list[0].Cycle, x.tells)):
			t.Errorf("%s with %s: %v, want %s: %s", x.note, x.value, list, x.want, x.tells)
		}
	}
}

// TestSeveralVersionsNameNothing: two rows have the value that came. If it came twice, both
// did; if once, it is not known which.
func TestSeveralVersionsNameNothing(t *testing.T) {
	for times, want := range map[int]int{2: 1, 1: 0} {
		c, h := recordOf(t, "g1a RC")
		text := strings.ReplaceAll(string(corpus.Print(c, corpus.Text)), "SELECT *", "SELECT `value`")
		c, err := corpus.Parse("equal", []byte(strings.Replace(text, "= 101 ", "= 20 ", 1)))
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{3, 5} {
			r := &h.Stmts[i].Result
			r.Columns, r.Rows = []string{"value"}, [][]history.Cell{{{Text: "10"}}, {{Text: "20"}}}
		}
		h.Stmts[3].Result.Rows = slices.Repeat([][]history.Cell{{{Text: "20"}}}, times)
		v := Check(c, h)
		if v.Outcome != Violation || v.Stmt != 3 {
			t.Fatalf("%s at %d: %s", v.Outcome, v.Stmt, v.Reason)
		}
		list := Anomalies(c, h, &v)
		if len(list) != want || want > 0 && list[0].Kind != model.G1a {
			t.Errorf("%d times: %v", times, list)
		}
	}
}

// TestDuplicateIsRead: an INSERT that fails because of a key has read that a row with the
// key is there, so that its transaction comes behind the one that wrote the row.
func TestDuplicateIsRead(t *testing.T) {
	c, err := corpus.Parse("dup", []byte(`/* init */ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE k = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET v = 11 WHERE k = 1;
/* tx2 */ INSERT INTO t VALUES (5, 50);
/* tx2 */ COMMIT;
/* tx1 */ INSERT INTO t VALUES (5, 51);
/* tx1 */ COMMIT;
`))
	if err != nil {
		t.Fatal(err)
	}
	_, h := recordOf(t, "gsingle RR")
	cells := func(k, v string) []history.Cell { return []history.Cell{{Text: k}, {Text: v}} }
	h.Initial = []history.Table{{Name: "t", Columns: []string{"k", "v"}, Rows: [][]history.Cell{cells("1", "10")}}}
	h.Final = []history.Table{{Name: "t", Columns: []string{"k", "v"}, Rows: [][]history.Cell{cells("1", "11"), cells("5", "50")}}}
	h.Stmts = nil
	for i, r := range []history.Result{
		{Matched: -1, Changed: -1, InTxn: true},
		{Columns: []string{"k", "v"}, Rows: [][]history.Cell{cells("1", "10")}, Matched: -1, Changed: -1, Affected: -1, InTxn: true},
		{Matched: -1, Changed: -1, InTxn: true},
		{Matched: 1, Changed: 1, Affected: 1, InTxn: true},
		{Matched: -1, Changed: -1, Affected: 1, InTxn: true},
		{Matched: -1, Changed: -1},
		{Matched: -1, Changed: -1, Affected: -1, InTxn: true, Err: &history.Error{Code: 1062, Message: "Duplicate entry '5' for key 't.PRIMARY'"}},
		{Matched: -1, Changed: -1},
	} {
		h.Stmts = append(h.Stmts, history.Stmt{Line: i, Session: c.Steps[i].Session, Submit: history.Tick(2*i + 1), Return: history.Tick(2*i + 2),
			InTxn: i != 0 && i != 2, Result: r})
	}
	v := Check(c, h)
	if v.Outcome != OK {
		t.Fatalf("%s: %s: expected %s, got %s", v.Outcome, v.Reason, v.Expected, v.Actual)
	}
	list := Anomalies(c, h, &v)
	const want = "in step 2 tx1 did not see what tx2 did to (1,11) of t in step 4; in step 7 tx1 saw what tx2 did to (5,50) of t in step 5"
	if len(list) != 1 || list[0].Kind != model.GSingleItem || list[0].Cycle != want {
		t.Errorf("%v, want %s", list, want)
	}
}

// TestDrawingOfCycle: the transactions stand in the order of their commits.
func TestDrawingOfCycle(t *testing.T) {
	c, h := recordOf(t, "g2item RR")
	list := Anomalies(c, h, &Verdict{Outcome: OK, Stmt: -1})
	if len(list) != 1 || list[0].Drawing == nil {
		t.Fatalf("%v", list)
	}
	d := list[0].Drawing
	if want := []string{"tx1\ncommitted in step 7", "tx2\ncommitted in step 8"}; !slices.Equal(d.Nodes, want) {
		t.Errorf("%q, want %q", d.Nodes, want)
	}
	var b bytes.Buffer
	if err := d.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{">write skew (G2-item)</text>", ">rw (2,21) of test</text>", ">step 3 → step 6</text>"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("no %s in\n%s", part, b.String())
		}
	}
}
