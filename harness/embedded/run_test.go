//go:build !notidb

package embedded_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var rewrite = flag.Bool("rewrite", false, "write what was seen into the files under testdata/run")

// TestRun runs the cases under testdata/run and compares what was seen. If it
// fails, run it with -rewrite and look at the difference.
//
//	=== RR a name
//	<a case>
//	----
//	<the history>
//
// A statement is printed as session, interval of ticks, SQL, its waits, its
// answer, and T if a transaction is open behind it.
func TestRun(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	files, err := filepath.Glob("testdata/run/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, section := range strings.Split(string(text), "=== ")[1:] {
			title, rest, _ := strings.Cut(section, "\n")
			input, want, ok := strings.Cut(rest, "----\n")
			short, _, _ := strings.Cut(title, " ")
			level, err := corpus.ParseLevel(short)
			if err != nil || !ok {
				t.Fatalf("%s: section %q: no level or no ----", name, title)
			}
			var got string
			t.Run(title, func(t *testing.T) {
				c := parse(t, input)
				if h, err := p.Run(context.Background(), c, harness.At(level)); err != nil {
					got = fmt.Sprintf("error: %v\n", err)
				} else {
					got = format(c, h)
				}
				if got += "\n"; !*rewrite && strings.TrimSpace(got) != strings.TrimSpace(want) {
					t.Errorf("got:\n%swant:\n%s", got, want)
				}
			})
			out.WriteString("=== " + title + "\n" + input + "----\n" + got)
		}
		if *rewrite {
			if err := os.WriteFile(name, []byte(strings.TrimSpace(out.String())+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func format(c *corpus.Case, h *history.History) string {
	var b strings.Builder
	for i := range h.Stmts {
		s := &h.Stmts[i]
		fmt.Fprintf(&b, "tx%d [%d,%d]", s.Session, s.Submit, s.Return)
		if s.Parked {
			b.WriteString(" parked")
		}
		fmt.Fprintf(&b, " %s", corpus.SQL(c.Steps[s.Line].Stmt, corpus.Text))
		for _, w := range s.Waits {
			fmt.Fprintf(&b, " {%s [%d,%d] for %v}", w.Kind, w.From, w.Until, w.Holders)
		}
		b.WriteString(" ->" + answer(&s.Result))
		if s.Result.InTxn {
			b.WriteString(" T")
		}
		b.WriteByte('\n')
	}
	if h.End != history.Complete {
		fmt.Fprintf(&b, "%s: %s\n", h.End, h.Detail)
	}
	for _, t := range h.Final {
		fmt.Fprintf(&b, "final %s:%s\n", t.Name, rows(t.Rows))
	}
	return b.String()
}

func answer(r *history.Result) string {
	switch {
	case r.Err != nil:
		return fmt.Sprintf(" error %d", r.Err.Code)
	case r.Columns != nil:
		return rows(r.Rows)
	case r.Matched >= 0:
		return fmt.Sprintf(" matched %d changed %d", r.Matched, r.Changed)
	}
	return fmt.Sprintf(" ok %d", r.Affected)
}

func rows(rows [][]history.Cell) string {
	var b strings.Builder
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = c.String()
		}
		fmt.Fprintf(&b, " (%s)", strings.Join(cells, ","))
	}
	if b.Len() == 0 {
		return " none"
	}
	return b.String()
}

// repeated holds cases with waits, and how many histories each may have. Two
// races inside the server leave a choice: a release wakes all who wait for the
// lock, and whoever asks first gets it; and the edges of a deadlock go to the
// detector over a channel, so that on a loaded machine the later one may
// overtake and the other transaction is the victim.
var repeated = []struct {
	text      string
	histories int
}{{blockedCase, 1}, {deadlockCase, 2}, {queueCase, 2}, {parkedCase, 1}, {autocommitCase, 1}}

// TestRunTwice runs each case 50 times; the histories must be equal but for
// races of the server's own, and a recorded one must replay to the same answers.
func TestRunTwice(t *testing.T) {
	p := newPool(t, harness.PoolOptions{Workers: 2})
	for _, rc := range repeated {
		c := parse(t, rc.text)
		for _, level := range []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead} {
			first, err := p.Run(context.Background(), c, harness.At(level))
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			seen := map[string]bool{format(c, first): true}
			t.Run("", func(t *testing.T) {
				for range 2 {
					t.Run("", func(t *testing.T) {
						t.Parallel() // two workers at a time
						for range 25 {
							h, err := p.Run(context.Background(), c, harness.At(level))
							if err != nil {
								t.Fatal(err)
							}
							mu.Lock()
							seen[format(c, h)] = true
							mu.Unlock()
						}
					})
				}
			})
			if len(seen) > rc.histories {
				t.Errorf("%d histories of one case, want %d:\n%s", len(seen), rc.histories, strings.Join(slices.Sorted(maps.Keys(seen)), "\n"))
			}
			replayRecorded(t, p, c, first)
		}
	}
}

// replayRecorded repeats a replay until the sessions race as they did: one in
// twenty must give the same answers and the same final state.
func replayRecorded(t *testing.T, p *harness.Pool, c *corpus.Case, rec *history.History) {
	t.Helper()
	var why []error
	for range 20 {
		h, err := p.RunRecorded(context.Background(), c, rec)
		switch {
		case err == nil:
			if err = sameAnswers(h, rec); err == nil {
				return
			}
		case !errors.Is(err, harness.ErrDiverged):
			t.Fatal(err)
		}
		why = append(why, err)
	}
	t.Fatalf("no replay as recorded: %v", errors.Join(why...))
}

func sameAnswers(h, rec *history.History) error {
	for i := range rec.Stmts {
		if g, w := answer(&h.Stmts[i].Result), answer(&rec.Stmts[i].Result); g != w {
			return fmt.Errorf("replayed statement %d answered%s, recorded%s", i, g, w)
		}
	}
	if g, w := rows(h.Final[0].Rows), rows(rec.Final[0].Rows); g != w {
		return fmt.Errorf("replay ended with%s, recorded%s", g, w)
	}
	return nil
}

const deadlockCase = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 21 WHERE a = 2;
/* tx1 */ UPDATE t SET b = 12 WHERE a = 2;
/* tx2 */ UPDATE t SET b = 22 WHERE a = 1;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`

// queueCase: two sessions wait for one, then one for the other.
const queueCase = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ UPDATE t SET b = b + 1 WHERE a = 1;
/* tx2 */ UPDATE t SET b = b * 2 WHERE a = 1;
/* tx3 */ UPDATE t SET b = b - 3 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ COMMIT;
`

// parkedCase: lines of two waiting sessions are parked; both resume at once.
const parkedCase = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11;
/* tx3 */ BEGIN;
/* tx3 */ UPDATE t SET b = b + 100 WHERE a = 2;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = b + 100 WHERE a = 1;
/* tx3 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx3 */ COMMIT;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
/* tx1 */ SELECT * FROM t;
`

// autocommitCase: a waiter that releases the next as soon as it returns.
const autocommitCase = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11;
/* tx2 */ UPDATE t SET b = b * 2 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx1 */ SELECT * FROM t;
`

func TestRefusals(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	for _, line := range []string{
		"USE mysql", "DROP DATABASE mysql", "CREATE DATABASE txnfuzz_x", "DELETE FROM mysql.user",
		"SET GLOBAL tidb_txn_mode = 'optimistic'", "SELECT @@global.tidb_txn_mode := 1", "KILL 1", "FLUSH PRIVILEGES",
		"SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT load_file('/etc/passwd')", "GRANT ALL ON *.* TO root", "SHUTDOWN",
	} {
		stmt, err := corpus.ParseStatement(line)
		if err != nil {
			continue // what the parser does not read never reaches a server
		}
		c := parse(t, "/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT 1;\n")
		c.Steps[0].Stmt = stmt
		_, err = p.Run(context.Background(), c, harness.At(corpus.RepeatableRead))
		var refused *harness.RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v, want a RefusedError", line, err)
		}
	}
}

func TestInitError(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	for text, line := range map[string]int{
		"/* init */ CREATE TABLE t (a INT PRIMARY KEY);\n/* init */ INSERT INTO t VALUES (1);\n/* init */ INSERT INTO t VALUES (1);\n/* tx1 */ SELECT 1;\n": 2,
		"/* init */ CREATE TABLE t (a INT PRIMARY KEY, a INT);\n/* tx1 */ SELECT 1;\n":                                                                      0,
	} {
		for range 2 { // once on a fresh schema, once on a cached one
			_, err := p.Run(context.Background(), parse(t, text), harness.At(corpus.RepeatableRead))
			var ie *harness.InitError
			if !errors.As(err, &ie) || ie.Line != line {
				t.Errorf("%s: got %v, want an InitError in line %d", text, err, line)
			}
		}
	}
}

func TestLevelError(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	_, err := p.Run(context.Background(), parse(t, blockedCase), harness.At(corpus.Serializable))
	var le *harness.LevelError
	if !errors.As(err, &le) || le.Level != corpus.Serializable {
		t.Fatalf("got %v, want a LevelError", err)
	}
}
