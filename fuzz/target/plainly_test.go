package target

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/plainsql"
)

// TestPlainly holds all that package plainsql computes of generated cases against PostgreSQL, and then has the same
// cases judged without asking for it.
func TestPlainly(t *testing.T) {
	const cases = 1200
	on, err := Open(t.Context(), "postgres:18", Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	var asked int64
	for n := range cases {
		o := mutate.Options{Levels: on.Levels(), DBMS: on.server.DBMS}
		in := mutate.InputOf(uint64(16*7000+n), mutate.InputLen)
		for _, c := range mutate.FromInput(in, nil, o) {
			levels := LevelsFor(c, 0)
			for s, l := range levels {
				if l == 0 {
					levels[s] = on.Levels()[n%len(on.Levels())]
				}
			}
			r := on.Run(t.Context(), c, levels)
			if r.History == nil {
				continue
			}
			own, h := r, *r.History
			own.History = &h
			on.plain.always = true
			on.Decide(t.Context(), &r)
			asked += int64(len(r.History.Answers) + len(r.History.Solos))
			on.plain.always = false
			on.Decide(t.Context(), &own)
			if r.Err != nil || own.Err != nil {
				t.Fatalf("input %d: %v, %v", n, r.Err, own.Err)
			}
			if v, w := &r.Verdict, &own.Verdict; v.Outcome != w.Outcome || v.Outcome == oracle.Unknown && v.Reason != w.Reason {
				t.Errorf("input %d: %s with the server's answers, %s without", n, oneVerdict(&r.Verdict), oneVerdict(&own.Verdict))
			}
		}
	}
	compared, taken := on.plain.compared.Load(), on.plain.taken.Load()
	t.Logf("%d answers were compared, of %d; %d were taken", compared, asked, taken)
	if compared < asked/2 || taken < asked/3 {
		t.Errorf("of %d answers %d were compared, and %d taken: fewer than the generator makes plain", asked, compared, taken)
	}
}

// TestSaysAlike holds that another answer of the server than that of package plainsql is told.
func TestSaysAlike(t *testing.T) {
	c, err := corpus.Parse("case", []byte("/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t WHERE a > 1;\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]history.Cell{{{Text: "1"}}, {{Text: "2"}}}
	tables := []history.Table{{Name: "t", Columns: []string{"a"}, Rows: rows}}
	q := &history.Question{SQL: corpus.SQL(c.Steps[0].Stmt, corpus.Text), Tables: tables}
	solo := &history.Solo{Tables: tables, Steps: []int{0}}
	for from, lies := range []bool{true, false} { // the server returns the rows from there on
		x := &plainly{counts: &plainCounts{}, p: plainsql.Of(c), witness: true}
		r := history.Result{Columns: []string{"a"}, Rows: rows[from:], Matched: -1, Changed: -1, Affected: int64(2 - from)}
		if err := x.saysAlike(q, &history.Answer{Result: r}); (err != nil) != lies {
			t.Errorf("rows from %d: %v", from, err)
		}
		said := &history.SoloAnswer{Results: []history.Result{r}, After: tables}
		if err := x.saysAlikeAlone(c, solo, said); (err != nil) != lies {
			t.Errorf("rows from %d, alone: %v", from, err)
		}
		if n := x.counts.compared.Load(); n != 2 {
			t.Errorf("%d answers were compared", n)
		}
	}
}
