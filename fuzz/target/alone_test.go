package target

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// The read in the middle differs from its promise through two lies.
const readAmidWrite = `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(20), d DATETIME);
/* init */ INSERT INTO t VALUES (1, 1, 'a''\\', NULL), (2, 2, NULL, '2001-02-03 04:05:06'), (3, 3, '', NULL), (4, 4, '4', NULL);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET n = 5 WHERE id = 1;
/* tx2 */ SELECT * FROM t WHERE id > 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`

// So does the write.
const writeAmidWrite = `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(20));
/* init */ INSERT INTO t VALUES (1, 1, 'a'), (2, 2, NULL), (3, 3, ''), (4, 4, '4');
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET n = 5 WHERE id = 1;
/* tx2 */ UPDATE t SET n = n + 10 WHERE id > 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`

// What the write makes of the row shows only in the tables at the end.
const effectAmidWrite = `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET n = 5 WHERE id = 1;
/* tx2 */ UPDATE t SET n = n + 10 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`

// Here a later read shows it, which alone would be answered as promised.
const effectAmidRead = `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET n = 5 WHERE id = 1;
/* tx2 */ UPDATE t SET n = n + 10 WHERE id = 2;
/* tx2 */ SELECT * FROM t WHERE id > 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`

// The rows are right, and only their order tells that something is wrong.
const orderAmidWrite = `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET n = 5 WHERE id = 1;
/* tx2 */ SELECT * FROM t WHERE id > 1 ORDER BY id DESC;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`

// A wrong answer that a server gives to the statement alone, too, on the rows that
// it was to see, says nothing of isolation; one that it gives in company only does.
func TestAnsweredAlone(t *testing.T) {
	for _, name := range serversAmong(t, "mysql:9.7", "mariadb:11.8", "mariadb:10.11", "mariadb:10.5") {
		b, err := harness.Open(t.Context(), name, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			lie    lying.Lie
			sql    string
			want   oracle.Outcome
			reason string
		}{
			{lying.OwnSQL, readAmidWrite, oracle.Unknown, judging.ReasonSolver},
			{lieNamed(t, "row-missing-from-an-answer"), readAmidWrite, oracle.Violation, ""},
			{lying.Honest, readAmidWrite, oracle.OK, ""},
			{lying.OwnWrites, writeAmidWrite, oracle.Unknown, judging.ReasonSolver},
			{lying.Honest, writeAmidWrite, oracle.OK, ""},
			{lying.OwnEffects, effectAmidWrite, oracle.Unknown, judging.ReasonSolver},
			{lying.OwnEffects, effectAmidRead, oracle.Unknown, judging.ReasonSolver},
			{lieNamed(t, "commit-is-lost"), effectAmidWrite, oracle.Violation, ""},
			{lying.Honest, effectAmidRead, oracle.OK, ""},
			{lieNamed(t, "order-by-dropped"), orderAmidWrite, oracle.Violation, ""},
		} {
			liar := lying.Through(b, x.lie)
			pool, err := harness.NewPool(t.Context(), liar, harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			c := parseCase(t, x.sql)
			for i, level := range []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead, corpus.ReadCommitted, corpus.RepeatableRead} {
				target := &Target{Name: name, backend: liar, server: b.Server(), pool: pool, solver: []judging.Solver{judging.ByBoth, judging.ByServer}[i/2]}
				v := target.Judge(t.Context(), c, LevelsFor(c, level)).Verdict
				if v.Outcome != x.want || x.reason != "" && v.Reason != x.reason || target.solver == judging.ByServer && v.Asked == 0 && v.Outcome == oracle.OK {
					t.Errorf("%s, %s at %s: %s %s (%s; expected %s, actual %s), want %s %s", name, x.lie.Name, level, v.Outcome, v.Kind, v.Reason, v.Expected, v.Actual, x.want, x.reason)
				}
			}
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func lieNamed(t *testing.T, name string) lying.Lie {
	t.Helper()
	for _, l := range lying.Lies {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("no lie %s", name)
	return lying.Lie{}
}
