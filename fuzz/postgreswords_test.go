package fuzz

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// saidInWords are cases in PostgreSQL's words on the table t (a INT PRIMARY KEY, b INT) with the rows (1,10) and (2,20),
// and what is seen at a level: the answers that are told, as `step answer`, with `waits` where a statement has.
var saidInWords = []struct {
	name  string
	level corpus.Level
	text  string
	told  string
}{
	{"a safe snapshot is waited for, and is that of before", corpus.Serializable, `
		/* tx1 */ BEGIN;
		/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
		/* tx2 */ BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
		/* tx2 */ SELECT b FROM t WHERE a = 1;
		/* tx1 */ COMMIT;
		/* tx2 */ SELECT b FROM t WHERE a = 1;`, "4 waits (10); 6 (10)"},
	{"a snapshot that was not safe is taken anew", corpus.Serializable, `
		/* tx1 */ BEGIN;
		/* tx1 */ SELECT * FROM t;
		/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
		/* tx3 */ UPDATE t SET b = 21 WHERE a = 2;
		/* tx2 */ BEGIN;
		/* tx2 */ SET TRANSACTION READ ONLY, DEFERRABLE;
		/* tx2 */ SELECT * FROM t ORDER BY a;
		/* tx1 */ COMMIT;
		/* tx2 */ SET TRANSACTION NOT DEFERRABLE;`, "7 waits (1,11) (2,21); 9 error 25001"},
	{"nobody ends what is waited for", corpus.Serializable, `
		/* tx1 */ BEGIN;
		/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
		/* tx2 */ START TRANSACTION READ ONLY, DEFERRABLE;
		/* tx2 */ SELECT b FROM t WHERE a = 1;`, "4 waits error 57014"},
	{"a constraint is checked when the transaction says so", corpus.ReadCommitted, `
		/* init */ ALTER TABLE t ADD CONSTRAINT d UNIQUE (b) DEFERRABLE;
		/* tx1 */ BEGIN;
		/* tx1 */ SAVEPOINT s;
		/* tx1 */ SET CONSTRAINTS ALL DEFERRED;
		/* tx1 */ ROLLBACK TO SAVEPOINT s;
		/* tx1 */ UPDATE t SET b = 20 WHERE a = 1;
		/* tx1 */ ROLLBACK TO SAVEPOINT s;
		/* tx1 */ SET CONSTRAINTS d DEFERRED;
		/* tx1 */ UPDATE t SET b = 20 WHERE a = 1;
		/* tx1 */ UPDATE t SET b = 30 WHERE a = 2;
		/* tx1 */ SET CONSTRAINTS d IMMEDIATE;
		/* tx1 */ UPDATE t SET b = 20 WHERE a = 2;`, "5 error 23505; 8 1 affected; 10 ok; 11 error 23505"},
	{"what was deferred is checked at once, and waits", corpus.RepeatableRead, `
		/* init */ ALTER TABLE t ADD CONSTRAINT d UNIQUE (b) DEFERRABLE INITIALLY DEFERRED;
		/* tx1 */ BEGIN;
		/* tx1 */ INSERT INTO t VALUES (3, 30);
		/* tx2 */ BEGIN;
		/* tx2 */ INSERT INTO t VALUES (4, 30);
		/* tx2 */ SET CONSTRAINTS ALL IMMEDIATE;
		/* tx1 */ COMMIT;`, "4 1 affected; 5 waits error 23505"},
	{"a transaction goes on at its level, and commits what it did", corpus.RepeatableRead, `
		/* tx1 */ BEGIN;
		/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
		/* tx1 */ SAVEPOINT s;
		/* tx1 */ COMMIT AND CHAIN;
		/* tx1 */ SELECT b FROM t WHERE a = 2;
		/* tx2 */ UPDATE t SET b = b + 10;
		/* tx1 */ SELECT b FROM t ORDER BY a;
		/* tx1 */ UPDATE t SET b = 5;
		/* tx1 */ ROLLBACK AND CHAIN;
		/* tx1 */ SELECT b FROM t ORDER BY a;
		/* tx1 */ COMMIT;
		/* tx1 */ COMMIT AND CHAIN;`, "6 2 affected; 7 (11) (20); 8 error 40001; 10 (21) (30); 12 error 25P01"},
	{"at READ COMMITTED, too", corpus.ReadCommitted, `
		/* tx1 */ BEGIN;
		/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
		/* tx2 */ UPDATE t SET b = b + 10 WHERE a = 1;
		/* tx1 */ COMMIT AND CHAIN;
		/* tx1 */ UPDATE t SET b = 12 WHERE a = 1;
		/* tx2 */ SELECT b FROM t WHERE a = 1;
		/* tx1 */ ROLLBACK;
		/* tx1 */ COMMIT AND CHAIN;`, "3 waits 1 affected; 6 (21); 8 error 25P01"},
	{"an UPDATE goes by another table, where each row has one partner", corpus.RepeatableRead, `
		/* init */ CREATE TABLE u (c INT PRIMARY KEY, d INT);
		/* init */ INSERT INTO u VALUES (1, 100), (3, 300);
		/* tx1 */ BEGIN;
		/* tx1 */ UPDATE t SET b = u.d FROM u WHERE t.a = u.c RETURNING t.b;
		/* tx2 */ INSERT INTO u VALUES (2, 200);
		/* tx1 */ SELECT b FROM t ORDER BY a;
		/* tx1 */ DELETE FROM t AS x USING u WHERE x.b = u.d RETURNING u.c;
		/* tx1 */ COMMIT;`, "2 (100); 4 (100) (20); 5 (1)"},
	{"a transaction has a level of its own", corpus.ReadCommitted, `
		/* tx1 */ BEGIN ISOLATION LEVEL REPEATABLE READ;
		/* tx1 */ SELECT b FROM t WHERE a = 1;
		/* tx2 */ UPDATE t SET b = 11 WHERE a = 1;
		/* tx1 */ SELECT b FROM t WHERE a = 1;
		/* tx1 */ COMMIT;
		/* tx1 */ SELECT b FROM t WHERE a = 1;`, "4 (10); 6 (11)"},
}

func TestPostgresWordsAreJudged(t *testing.T) {
	for _, name := range targettest.Among(t, "postgres:18", "postgres:12") {
		on := targettest.Open(t, name, target.Options{Clean: true})
		for _, x := range saidInWords {
			c := targettest.Case(t, "-- dialect: postgres\n/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n"+
				"/* init */ INSERT INTO t VALUES (1, 10), (2, 20);"+x.text)
			levels := map[int]corpus.Level{}
			for _, s := range c.Sessions() {
				levels[s] = x.level
			}
			r := on.Judge(t.Context(), c, levels)
			if r.Err != nil || r.Verdict.Outcome != oracle.OK {
				t.Errorf("%s, %s: %v, %+v", name, x.name, r.Err, r.Verdict)
				continue
			}
			for want := range strings.SplitSeq(x.told, "; ") {
				step := 0
				if _, err := fmt.Sscan(want, &step); err != nil {
					t.Fatal(err)
				}
				if got := toldOf(c, r.History, step); got != want {
					t.Errorf("%s, %s: %q, want %q", name, x.name, got, want)
				}
			}
		}
	}
}

// toldOf is what a step of a case, counted from 1, was answered, as saidInWords has it.
func toldOf(c *corpus.Case, h *history.History, step int) string {
	for i := range h.Stmts {
		s := &h.Stmts[i]
		if s.Line != step-1 {
			continue
		}
		out := fmt.Sprint(step)
		if len(s.Waits) > 0 {
			out += " waits"
		}
		answer := history.Describe(stmt.KindOf(c.Steps[s.Line].Stmt), &s.Result)
		if s.Result.Err != nil {
			answer = "error " + s.Result.Err.State
		}
		return out + " " + answer
	}
	return ""
}

// TestPostgresJoinsOfSeveralRows runs an UPDATE of which the server may take either of two rows: nobody says what is
// right. Where all but one of them are gone, it is.
func TestPostgresJoinsOfSeveralRows(t *testing.T) {
	for _, name := range targettest.Among(t, "postgres:18") {
		on := targettest.Open(t, name, target.Options{Clean: true})
		for deleted, want := range map[string]oracle.Outcome{"200": oracle.OK, "300": oracle.Unknown} {
			c := targettest.Case(t, `
				/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
				/* init */ CREATE TABLE u (c INT, d INT);
				/* init */ INSERT INTO t VALUES (1, 10);
				/* init */ INSERT INTO u VALUES (1, 100), (1, 200), (2, 300);
				/* tx1 */ BEGIN;
				/* tx1 */ DELETE FROM u WHERE d = `+deleted+`;
				/* tx1 */ /* raw reads=t,u writes=t */ UPDATE t SET b = u.d FROM u WHERE t.a = u.c;
				/* tx1 */ COMMIT;`)
			for _, level := range []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable} {
				r := on.Judge(t.Context(), c, map[int]corpus.Level{1: level})
				if r.Err != nil || r.Verdict.Outcome != want {
					t.Errorf("%s, without %s: %v, %+v, want %s", level, deleted, r.Err, r.Verdict, want)
				}
			}
		}
	}
}
