package target_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// notAccused are cases in which MariaDB was once accused by the judge by promise.
var notAccused = []struct {
	name  string
	level corpus.Level
	text  string
}{
	{"a storage engine without transactions", corpus.ReadCommitted, `
		/* init */ CREATE TABLE t (a INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (a)) ENGINE = Aria;
		/* tx1 */ START TRANSACTION;
		/* tx1 */ INSERT INTO t (a) VALUES (2);
		/* tx2 */ SELECT * FROM t;
		/* tx1 */ COMMIT;`},
	{"NULL is the time of the statement", corpus.RepeatableRead, `
		/* init */ CREATE TABLE t (a INT PRIMARY KEY, s TIMESTAMP NOT NULL, g INT AS (a + 1) STORED);
		/* tx1 */ BEGIN;
		/* tx1 */ INSERT INTO t (a, s) VALUES (1, NULL);
		/* tx2 */ SELECT SLEEP(1.1) FROM (SELECT 1) AS x;
		/* tx1 */ COMMIT;
		/* tx2 */ SELECT a FROM t;`},
	{"a statement that waits has deleted rows", corpus.ReadUncommitted, `
		/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
		/* init */ CREATE TABLE u (a INT, FOREIGN KEY (a) REFERENCES t (a) ON DELETE CASCADE);
		/* init */ INSERT INTO t VALUES (0, 0), (1, 0);
		/* tx1 */ BEGIN;
		/* tx1 */ INSERT INTO u VALUES (1);
		/* tx2 */ DELETE FROM t;
		/* tx1 */ UPDATE t SET b = 0;
		/* tx1 */ COMMIT;`},
}

func TestNotAccused(t *testing.T) {
	for _, name := range targettest.Among(t, "mariadb:11.8") {
		on := targettest.Open(t, name, target.Options{Clean: true})
		for _, x := range notAccused {
			c := targettest.Case(t, x.text)
			levels := map[int]corpus.Level{1: x.level, 2: x.level}
			r := on.Judge(t.Context(), c, levels)
			if r.Err != nil || r.Verdict.Outcome != oracle.Unknown {
				t.Errorf("%s: %v, %+v, want unknown", x.name, r.Err, r.Verdict)
			}
		}
	}
}
