package judging

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/plainsql"
)

func parsed(t *testing.T, text string) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// That a row was changed since a snapshot no server says to a statement alone: to ask it
// would hide that it does not say so in company.
func TestSnapshotErrorIsNotAskedAlone(t *testing.T) {
	for sql, asked := range map[string]bool{
		"SELECT * FROM t WHERE a > 1 FOR UPDATE": false,
		"SELECT DISTINCT b FROM t FOR UPDATE":    true,
		"SELECT MIN(b) FROM t FOR UPDATE":        true,
		"SELECT b FROM t GROUP BY b FOR UPDATE":  true,
		"UPDATE t SET b = 1":                     false,
	} {
		j := &Judging{
			c: parsed(t, "/* init */ CREATE TABLE t (a INT, b INT);\n/* tx1 */ "+sql+";\n"),
			h: &history.History{Stmts: make([]history.Stmt, 1)},
			v: oracle.Verdict{Kind: "missing-error", Expected: snapshotError},
		}
		if got := j.asksForRows(); got != asked {
			t.Errorf("%s: asked %v", sql, got)
		}
		if j.v.Expected = "error 1690"; !j.asksForRows() {
			t.Errorf("%s: an overflow is not asked for", sql)
		}
	}
}

// What the dependencies or the answers alone show, the rules call right: they cannot take it
// back.
func TestOtherJudgesAreNotTakenBack(t *testing.T) {
	for judge, may := range map[string]bool{"": true, oracle.Graph: false, oracle.Answers: false} {
		v := &oracle.Verdict{Outcome: oracle.Violation, Kind: "wrong-rows", Oracle: judge}
		if got := valuesMayExplain(v); got != may {
			t.Errorf("judge %q: %v", judge, got)
		}
	}
	if valuesMayExplain(&oracle.Verdict{Outcome: oracle.Violation, Kind: "missing-wait"}) {
		t.Error("a wait that is missing has to do with values")
	}
}

// TestSaysAlike holds that another answer of the server than that of package plainsql is told.
func TestSaysAlike(t *testing.T) {
	c := parsed(t, "/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t WHERE a > 1;\n")
	rows := [][]history.Cell{{{Text: "1"}}, {{Text: "2"}}}
	tables := []history.Table{{Name: "t", Columns: []string{"a"}, Rows: rows}}
	q := &history.Question{SQL: corpus.SQL(c.Steps[0].Stmt, corpus.Text), Tables: tables}
	solo := &history.Solo{Tables: tables, Steps: []int{0}}
	for from, lies := range []bool{true, false} { // the server returns the rows from there on
		x := &plainly{counts: &Plain{}, p: plainsql.Of(c), witness: true}
		r := history.Result{Columns: []string{"a"}, Rows: rows[from:], Matched: -1, Changed: -1, Affected: int64(2 - from)}
		if err := x.saysAlike(q, &history.Answer{Result: r}); (err != nil) != lies {
			t.Errorf("rows from %d: %v", from, err)
		}
		said := &history.SoloAnswer{Results: []history.Result{r}, After: tables}
		if err := x.saysAlikeAlone(c, solo, said); (err != nil) != lies {
			t.Errorf("rows from %d, alone: %v", from, err)
		}
		if x.counts.Compared != 2 {
			t.Errorf("%d answers were compared", x.counts.Compared)
		}
	}
}
