package server

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

// endings are cases with the answers to their statements in the order in which they were sent, and the rows in
// the end.
var endings = []struct{ name, lines, want string }{
	{"interrupted, its transaction goes on", `
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 10 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 20 WHERE a = 2;
/* tx2 */ UPDATE t SET b = 21 WHERE a = 1;
/* tx1 */ KILL QUERY tx2;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;`, "ok ok ok ok waits:1317 ok ok ok (1,10) (2,20)"},
	{"idle, so nothing happens", `
/* tx2 */ BEGIN;
/* tx1 */ KILL QUERY tx2;
/* tx2 */ UPDATE t SET b = 20 WHERE a = 2;
/* tx1 */ KILL QUERY tx2;
/* tx2 */ COMMIT;`, "ok ok ok ok ok (1,1) (2,20)"},
	{"killed while it waits, its lines behind cannot be sent", `
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 10 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 20 WHERE a = 2;
/* tx3 */ UPDATE t SET b = 30 WHERE a = 2;
/* tx2 */ UPDATE t SET b = 21 WHERE a = 1;
/* tx2 */ COMMIT;
/* tx1 */ KILL tx2;
/* tx1 */ KILL tx2;
/* tx2 */ connect;
/* tx2 */ UPDATE t SET b = b + 1 WHERE a = 2;
/* tx1 */ ROLLBACK;`, "ok ok ok ok waits:ok waits:2013 ok 2006 1094 ok ok ok (1,1) (2,31)"},
	{"disconnected in a transaction, waiters go on", `
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 20;
/* tx1 */ UPDATE t SET b = b + 30 WHERE a = 2;
/* tx2 */ disconnect;
/* tx2 */ SELECT * FROM t;
/* tx2 */ connect;
/* tx2 */ connect;
/* tx2 */ UPDATE t SET b = b + 1 WHERE a = 1;`, "ok ok waits:ok ok 2006 ok ok ok (1,2) (2,32)"},
	{"it kills itself", `
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 10;
/* tx1 */ KILL QUERY tx1;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx1 */ KILL tx1;
/* tx1 */ COMMIT;
/* tx1 */ connect;
/* tx2 */ UPDATE t SET b = b + 1;`, "ok ok 1317 ok killed 2006 ok ok (1,2) (2,3)"},
}

// TestSessionsEnd runs them on all servers.
func TestSessionsEnd(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		pool, err := harness.NewPool(t.Context(), start(t, target), harness.PoolOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		for _, x := range endings {
			if got := ending(t, pool, x.lines); got != x.want {
				t.Errorf("%s:\ngot  %s\nwant %s", x.name, got, x.want)
			}
		}
	})
}

func ending(t *testing.T, pool *harness.Pool, lines string) string {
	t.Helper()
	c, err := corpus.Parse("x", []byte("/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n/* init */ INSERT INTO t VALUES (1, 1), (2, 2);"+lines+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := pool.Run(t.Context(), c, harness.At(corpus.ReadCommitted))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range h.Stmts {
		st := &h.Stmts[i]
		word := "ok"
		switch e := st.Result.Err; {
		case e == nil:
		case e.Code == 1927 || strings.HasPrefix(corpus.SQL(c.Steps[st.Line].Stmt, corpus.Text), "KILL tx") && e.Code == 1317:
			word = "killed" // each server has its own error for a session that kills itself
		default:
			word = fmt.Sprint(e.Code)
		}
		if len(st.Waits) > 0 {
			word = "waits:" + word
		}
		out = append(out, word)
	}
	for _, row := range h.Final[0].Rows {
		out = append(out, fmt.Sprintf("(%s,%s)", row[0], row[1]))
	}
	return strings.Join(out, " ")
}

// TestKillNeedsLeave: on a server of others no KILL is sent without leave; a session may disconnect.
func TestKillNeedsLeave(t *testing.T) {
	for _, target := range installedTargets(t)[:1] {
		b := start(t, target)
		dsn := b.Config()
		foreign, err := openForeign(t.Context(), dsn.FormatDSN(), harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, allowed := range []bool{false, true} {
			pool, err := harness.NewPool(t.Context(), foreign, harness.PoolOptions{AllowKill: allowed})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			for i, lines := range []string{"/* tx1 */ BEGIN;\n/* tx1 */ disconnect;", "/* tx2 */ BEGIN;\n/* tx1 */ KILL QUERY tx2;", "/* tx2 */ BEGIN;\n/* tx1 */ KILL tx2;"} {
				c, err := corpus.Parse("x", []byte("/* init */ CREATE TABLE t (a INT);\n"+lines+"\n"))
				if err != nil {
					t.Fatal(err)
				}
				_, err = pool.Run(t.Context(), c, harness.At(corpus.ReadCommitted))
				var refused *harness.RefusedError
				if want := i > 0 && !allowed; errors.As(err, &refused) != want || !want && err != nil {
					t.Errorf("allowed %v: %s: %v", allowed, lines, err)
				} else if want && !strings.Contains(err.Error(), "--allow-kill") {
					t.Errorf("the error does not say what to do: %v", err)
				}
			}
		}
	}
}
