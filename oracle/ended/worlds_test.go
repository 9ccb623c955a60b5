package ended

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestWorlds reads histories, one line for each statement that was sent:
//
//	submit-return[!error] [open] [waits=holder] [ended] /* tx1 */ statement
//
// open says that a transaction is open behind it, ended that a KILL QUERY has closed a connection. It prints
// the histories that it may stand for. With tidb they are those of a TiDB.
func TestWorlds(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c, h := parseHistory(t, d.Input)
			if d.HasArg("tidb") {
				h.Server.DBMS = history.TiDB
			}
			before := fmt.Sprint(h.Stmts)
			worlds := Worlds(c, h)
			if fmt.Sprint(h.Stmts) != before {
				t.Error("the history itself has changed")
			}
			if worlds == nil {
				return "too many\n"
			}
			var b strings.Builder
			for i := range worlds {
				w := &worlds[i]
				if i > 0 {
					b.WriteString("or\n")
				}
				if w.Case.EndsSessions() {
					t.Error("a line about a session is left")
				}
				for j := range w.History.Stmts {
					printStmt(&b, w, j)
				}
			}
			return b.String()
		})
	})
}

func parseHistory(t *testing.T, text string) (*corpus.Case, *history.History) {
	t.Helper()
	c := &corpus.Case{}
	h := &history.History{Levels: map[int]corpus.Level{}}
	open := map[int]bool{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		head, rest, _ := strings.Cut(line, "/*")
		st := history.Stmt{Line: i, Result: history.Result{Matched: -1, Changed: -1, Affected: -1}}
		var code uint16
		for k, word := range strings.Fields(head) {
			switch {
			case k == 0:
				ticks, e, _ := strings.Cut(word, "!")
				if _, err := fmt.Sscanf(ticks, "%d-%d", &st.Submit, &st.Return); err != nil {
					t.Fatal(err)
				}
				_, _ = fmt.Sscan(e, &code)
			case word == "open":
				st.Result.InTxn = true
			case word == "ended":
				st.EndedIdle = true
			default:
				holder := 0
				if _, err := fmt.Sscanf(word, "waits=%d", &holder); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				st.Waits = []history.Wait{{Kind: history.RowLock, From: st.Submit + 1, Until: st.Return - 1, Holders: []int{holder}}}
			}
		}
		if code != 0 {
			st.Result.Err = &history.Error{Code: code}
		}
		var tx int
		var sql string
		if _, err := fmt.Sscanf(rest, " tx%d", &tx); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		_, sql, _ = strings.Cut(rest, "*/ ")
		n, err := corpus.ParseStatement(sql)
		if err != nil {
			t.Fatal(err)
		}
		st.Session, st.InTxn = tx, open[tx]
		open[tx] = st.Result.InTxn
		h.Levels[tx] = corpus.RepeatableRead
		h.Stmts = append(h.Stmts, st)
		c.Steps = append(c.Steps, corpus.Line{Session: tx, Stmt: n})
	}
	return c, h
}

func printStmt(b *strings.Builder, w *World, i int) {
	st := &w.History.Stmts[i]
	line := w.Case.Steps[st.Line]
	fmt.Fprintf(b, "%d-%d tx%d %s", st.Submit, st.Return, st.Session, corpus.SQL(line.Stmt, corpus.Text))
	if st.Session != line.Session || w.History.Levels[st.Session] == 0 {
		fmt.Fprintf(b, " BAD SESSION %d", line.Session)
	}
	if st.Result.Err != nil {
		fmt.Fprintf(b, ", error %d", st.Result.Err.Code)
	}
	for _, x := range []struct {
		is   bool
		word string
	}{{st.InTxn, "in"}, {st.Result.InTxn, "open"}, {st.Interrupted, "interrupted"}, {w.Replaced[i], "replaced"}} {
		if x.is {
			b.WriteString(", " + x.word)
		}
	}
	for _, wait := range st.Waits {
		fmt.Fprintf(b, ", waits for %v", wait.Holders)
	}
	if name := w.Name(fmt.Sprintf("tx%d", st.Session)); name != fmt.Sprintf("tx%d", st.Session) {
		fmt.Fprintf(b, ", is %s", name)
	}
	b.WriteByte('\n')
}
