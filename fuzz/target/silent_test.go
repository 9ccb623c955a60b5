package target_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// TestSilent: a violation beside a silent statement is one if it shows again, and none if it does not.
func TestSilent(t *testing.T) {
	honest := targettest.Case(t, `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`)
	// A locking read answers from an index, whose entry does not tell that the row was changed behind the snapshot.
	index := targettest.Case(t, `
/* init */ CREATE TABLE t (b INT, INDEX(b));
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ UPDATE t SET b = 2;
/* tx1 */ SELECT b FROM t LOCK IN SHARE MODE;
/* tx1 */ COMMIT;
`)
	// A key is looked up among the newest rows, which no SERIALIZABLE transaction is told to have read.
	key := targettest.Case(t, `
/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1), (0);
/* tx1 */ BEGIN;
/* tx1 */ INSERT IGNORE INTO t VALUES (0);
/* tx1 */ DELETE FROM t WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ DELETE FROM t WHERE a = 0;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
`)
	for _, x := range []struct {
		target string
		c      *corpus.Case
		level  corpus.Level
		want   oracle.Outcome
	}{
		{"mariadb:11.8", honest, corpus.RepeatableRead, oracle.Unknown},
		{"mariadb:11.8", index, corpus.RepeatableRead, oracle.Known},
		{"postgres:18", honest, corpus.RepeatableRead, oracle.Unknown},
		{"postgres:18", key, corpus.Serializable, oracle.Known},
	} {
		on := targettest.Open(t, x.target, target.Options{Clean: true})
		r := on.Judge(t.Context(), x.c, target.LevelsFor(x.c, x.level))
		if r.Verdict.Outcome == oracle.OK { // as if the answers had been in another order
			r.Verdict = oracle.Verdict{Outcome: oracle.Violation, Kind: "dirty-read", Stmt: -1, Expected: "(1,10)", Actual: "(1,11)"}
		}
		r.History.Stmts[1].Waits = []history.Wait{{Kind: history.Silence, From: 4, Until: 5}}
		on.Decide(t.Context(), &r)
		if r.Verdict.Outcome != x.want || (x.want == oracle.Unknown) != (r.Verdict.Reason == judging.ReasonSilent) {
			t.Errorf("%s: %+v\n%s", x.target, r.Verdict, corpus.Print(x.c, corpus.Text))
		}
	}
}
