package oracle

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// TestBudget: with less work than a replay needs it says that it does not know, and
// nothing else; the same budget gives the same answer each time, and a larger one
// never takes back what a smaller one was enough for.
func TestBudget(t *testing.T) {
	for _, name := range []string{"innodb-honest", "innodb-violations", "tidb-honest"} {
		records, err := LoadRecords(filepath.Join("testdata", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		spent := 0
		for i := range records[:min(len(records), 12)] {
			c, err := corpus.Parse(name, []byte(records[i].Case))
			if err != nil {
				t.Fatal(err)
			}
			run := func(work int) string {
				h := records[i].History
				d, err := engines.New(c, h, rules.For(h.Server), false).Within(solve.NewBudget(work)).Run()
				var loss *mvcc.Loss
				var unsupported *solve.Unsupported
				switch {
				case errors.As(err, &loss) || errors.As(err, &unsupported):
					return "loss"
				case err != nil:
					t.Fatal(err)
				case d == nil:
					return "ok"
				}
				return fmt.Sprintf("%s of statement %d", d.Kind, d.Stmt)
			}
			full := run(mvcc.Work)
			enough := false
			for work := 1; work < 1_000_000; work *= 4 {
				got := run(work)
				switch {
				case got != run(work):
					t.Errorf("%s %d: two answers with %d steps", name, i, work)
				case got == full:
					enough = true
				case got == "loss" && !enough:
					spent++
				default:
					t.Errorf("%s %d: %q with %d steps, %q with all", name, i, got, work, full)
				}
			}
		}
		if spent == 0 {
			t.Errorf("%s: no budget was too small", name)
		}
	}
}

// TestTooLarge: a case of 20,000 rows, each of which is compared with each other one,
// is given up within seconds, by the work and not by the clock.
func TestTooLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString("/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n")
	h := &history.History{Server: history.Server{DBMS: history.MySQL, Version: "9.7.0"}, Levels: map[int]corpus.Level{1: corpus.RepeatableRead}}
	table := history.Table{Name: "t", Columns: []string{"a", "b"}}
	for i := range 20_000 {
		row := fmt.Sprintf("(%d, %d)", i, i)
		b.WriteString(map[bool]string{true: "/* init */ INSERT INTO t VALUES ", false: ", "}[i%1000 == 0] + row)
		if i%1000 == 999 {
			b.WriteString(";\n")
		}
		table.Rows = append(table.Rows, []history.Cell{{Text: fmt.Sprint(i)}, {Text: fmt.Sprint(i)}})
	}
	b.WriteString("/* tx1 */ UPDATE t SET b = (SELECT COUNT(*) FROM (SELECT x.a AS i, y.b AS j FROM t AS x, t AS y WHERE x.a > y.b) AS d);\n")
	c, err := corpus.Parse("large", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	h.Initial, h.Final = []history.Table{table}, []history.Table{table}
	h.Stmts = []history.Stmt{{Session: 1, Submit: 1, Return: 2, Result: history.Result{Matched: 20_000, Changed: 20_000, Affected: 20_000}}}
	begun := time.Now()
	v := Check(c, h)
	if v.Outcome != Unknown {
		t.Errorf("%s %s: %s", v.Outcome, v.Kind, v.Reason)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("gave up after %v", took)
	}
	if again := Check(c, h); cmp.Compare(again.Reason, v.Reason) != 0 || !slices.Equal(again.Rules, v.Rules) {
		t.Errorf("another verdict the second time: %s, then %s", v.Reason, again.Reason)
	}
	t.Log(v.Reason)
}
