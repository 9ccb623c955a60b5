package stmt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// TestViews prints what the view says of each statement, one on each line.
func TestViews(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for sql := range strings.Lines(d.Input) {
				n, err := corpus.ParseStatement(strings.TrimSpace(sql))
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				out.WriteString(inWords(stmt.Of(n)) + "\n")
			}
			return out.String()
		})
	})
}

var (
	modes = map[stmt.Mode]string{stmt.Share: "share", stmt.Exclusive: "exclusive"}
	waits = map[stmt.Wait]string{stmt.Waits: "waits", stmt.Fails: "fails", stmt.Skips: "skips", stmt.Bounded: "bounded"}
)

func inWords(v stmt.View) string {
	words := []string{string(v.Kind) + ":"}
	for _, p := range []struct {
		is   bool
		word string
	}{
		{v.Kind.Control(), "control"}, {v.Kind.Begins(), "begins"}, {v.Kind.Ends(), "ends"}, {v.Kind.Commits(), "commits"},
		{v.Kind.Reads(), "reads"}, {v.Kind.LocksRead(), "locks"}, {v.Kind.Writes(), "writes"}, {v.Kind.TouchesRows(), "touches rows"},
	} {
		if p.is {
			words = append(words, p.word)
		}
	}
	if v.Lock.Mode != stmt.None {
		words = append(words, modes[v.Lock.Mode]+"/"+waits[v.Lock.Wait])
		if v.Lock.Seconds > 0 {
			words = append(words, fmt.Sprintf("%d s", v.Lock.Seconds))
		}
	}
	if s := v.Source(); s != nil {
		words = append(words, "table="+v.Table().Name.O)
		if s.AsName.O != "" {
			words = append(words, "as="+s.AsName.O)
		}
	}
	for _, p := range []struct {
		is   bool
		word string
	}{
		{v.From != nil, "from"}, {v.Into != nil, "into"}, {v.Where != nil, "where"}, {v.Order != nil, "order"}, {v.Limit != nil, "limit"},
		{v.With != nil, "with"}, {v.Ignore, "ignore"}, {v.Several, "several"}, {v.Savepoint != "", "savepoint=" + v.Savepoint},
	} {
		if p.is {
			words = append(words, p.word)
		}
	}
	return strings.Join(words, " ")
}

// TestViewAllocates holds the view to what callers count on: they ask for it of each
// statement of each history.
func TestViewAllocates(t *testing.T) {
	var nodes []ast.StmtNode
	for _, sql := range []string{"SELECT * FROM t WHERE a = 1 FOR UPDATE SKIP LOCKED", "UPDATE t SET a = 1 WHERE a = 2 ORDER BY a LIMIT 1", "INSERT INTO t VALUES (1)", "SET autocommit = 0", "COMMIT"} {
		n, err := corpus.ParseStatement(sql)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	if got := testing.AllocsPerRun(100, func() {
		for _, n := range nodes {
			v := stmt.Of(n)
			_, _ = v.Table(), v.Kind.Writes()
		}
	}); got != 0 {
		t.Errorf("%.0f allocations, want none", got)
	}
}

func BenchmarkOf(b *testing.B) {
	n, err := corpus.ParseStatement("SELECT * FROM t WHERE a = 1 FOR UPDATE")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if stmt.KindOf(n) != stmt.SelectForUpdate {
			b.Fatal("kind")
		}
	}
}
