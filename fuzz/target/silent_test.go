package target_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestSilent: a violation beside a silent statement is one if it shows again, and none if it does not.
func TestSilent(t *testing.T) {
	on := targettest.Open(t, "mariadb:11.8", target.Options{Clean: true})
	honest := targettest.Case(t, `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`)
	// A locking read answers from an index, whose entry does not tell that the row was changed behind the snapshot.
	wrong := targettest.Case(t, `
/* init */ CREATE TABLE t (b INT, INDEX(b));
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ UPDATE t SET b = 2;
/* tx1 */ SELECT b FROM t LOCK IN SHARE MODE;
/* tx1 */ COMMIT;
`)
	for _, x := range []struct {
		c    *corpus.Case
		want oracle.Outcome
	}{{honest, oracle.Unknown}, {wrong, oracle.Known}} {
		r := on.Judge(t.Context(), x.c, target.LevelsFor(x.c, corpus.RepeatableRead))
		if r.Verdict.Outcome == oracle.OK { // as if the answers had been in another order
			r.Verdict = oracle.Verdict{Outcome: oracle.Violation, Kind: "dirty-read", Stmt: -1, Expected: "(1,10)", Actual: "(1,11)"}
		}
		r.History.Stmts[1].Waits = []history.Wait{{Kind: history.Silence, From: 4, Until: 5}}
		on.MakeSure(t.Context(), &r)
		if r.Verdict.Outcome != x.want || (x.want == oracle.Unknown) != (r.Verdict.Reason == target.ReasonSilent) {
			t.Errorf("%+v\n%s", r.Verdict, corpus.Print(x.c, corpus.Text))
		}
	}
}
