package target_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// notAccused are cases in which a server was once accused by the judge by promise, or by the rules of PostgreSQL.
var notAccused = []struct {
	server, name string
	level        corpus.Level
	text         string
}{
	{"mariadb:11.8", "a storage engine without transactions", corpus.ReadCommitted, `
		/* init */ CREATE TABLE t (a INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (a)) ENGINE = Aria;
		/* tx1 */ START TRANSACTION;
		/* tx1 */ INSERT INTO t (a) VALUES (2);
		/* tx2 */ SELECT * FROM t;
		/* tx1 */ COMMIT;`},
	{"mariadb:11.8", "NULL is the time of the statement", corpus.RepeatableRead, `
		/* init */ CREATE TABLE t (a INT PRIMARY KEY, s TIMESTAMP NOT NULL, g INT AS (a + 1) STORED);
		/* tx1 */ BEGIN;
		/* tx1 */ INSERT INTO t (a, s) VALUES (1, NULL);
		/* tx2 */ SELECT SLEEP(1.1) FROM (SELECT 1) AS x;
		/* tx1 */ COMMIT;
		/* tx2 */ SELECT a FROM t;`},
	{"mariadb:10.5", "a TIMESTAMP that is told nothing of the clock", corpus.RepeatableRead, `
		/* init */ CREATE TABLE t (a INT PRIMARY KEY, s TIMESTAMP, b INT);
		/* init */ INSERT INTO t VALUES (1, '2020-01-01 00:00:00', 1);
		/* tx1 */ BEGIN;
		/* tx1 */ UPDATE t SET b = 2;
		/* tx1 */ SELECT * FROM t;
		/* tx2 */ SELECT SLEEP(1.1) FROM (SELECT 1) AS x;
		/* tx1 */ COMMIT;`},
	{"mariadb:10.5", "NULL in a TIMESTAMP that is told nothing of it", corpus.RepeatableRead, `
		/* init */ CREATE TABLE t (a INT PRIMARY KEY, r TIMESTAMP NULL, s TIMESTAMP);
		/* init */ INSERT INTO t VALUES (1, NULL, '2020-01-01 00:00:00');
		/* tx1 */ BEGIN;
		/* tx1 */ INSERT INTO t VALUES (2, NULL, NULL);
		/* tx1 */ SELECT * FROM t;
		/* tx2 */ SELECT SLEEP(1.1) FROM (SELECT 1) AS x;
		/* tx1 */ COMMIT;`},
	{"mariadb:11.8", "NULL is the time where a default is known, too", corpus.RepeatableRead, `
		/* init */ CREATE TABLE t (a INT PRIMARY KEY, s TIMESTAMP NOT NULL DEFAULT '2020-01-01 00:00:00');
		/* init */ INSERT INTO t VALUES (1, '2020-01-01 00:00:00');
		/* tx1 */ BEGIN;
		/* tx1 */ UPDATE t SET s = NULL;
		/* tx1 */ SELECT * FROM t;
		/* tx2 */ SELECT SLEEP(1.1) FROM (SELECT 1) AS x;
		/* tx1 */ COMMIT;`},
	{"mariadb:11.8", "a statement that waits has deleted rows", corpus.ReadUncommitted, `
		/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
		/* init */ CREATE TABLE u (a INT, FOREIGN KEY (a) REFERENCES t (a) ON DELETE CASCADE);
		/* init */ INSERT INTO t VALUES (0, 0), (1, 0);
		/* tx1 */ BEGIN;
		/* tx1 */ INSERT INTO u VALUES (1);
		/* tx2 */ DELETE FROM t;
		/* tx1 */ UPDATE t SET b = 0;
		/* tx1 */ COMMIT;`},
	{"postgres:18", "a cascade to the table itself goes by the newest rows", corpus.RepeatableRead, `
		/* init */ CREATE TABLE t (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES t (id) ON UPDATE CASCADE);
		/* init */ INSERT INTO t VALUES (1, NULL), (2, 1), (3, NULL);
		/* tx1 */ BEGIN;
		/* tx1 */ SELECT * FROM t;
		/* tx2 */ UPDATE t SET pid = NULL WHERE id = 2;
		/* tx1 */ UPDATE t SET id = 11 WHERE id = 1;
		/* tx1 */ COMMIT;`},
	{"postgres:18", "keys of the table itself are looked up among the newest rows", corpus.Serializable, `
		/* init */ CREATE TABLE t (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES t (id) ON DELETE CASCADE);
		/* init */ INSERT INTO t VALUES (1, NULL), (2, 1), (3, NULL);
		/* tx1 */ BEGIN;
		/* tx1 */ SELECT * FROM t;
		/* tx2 */ UPDATE t SET pid = NULL WHERE id = 2;
		/* tx1 */ DELETE FROM t WHERE id = 1;
		/* tx1 */ SELECT * FROM t;
		/* tx1 */ COMMIT;`},
	{"postgres:18", "keys that stay are checked again for its own rows", corpus.ReadCommitted, `
		/* init */ CREATE TABLE t (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES t (id) ON UPDATE CASCADE);
		/* init */ INSERT INTO t VALUES (1, NULL);
		/* tx1 */ BEGIN;
		/* tx1 */ INSERT INTO t VALUES (5, 6), (6, NULL);
		/* tx1 */ UPDATE t SET id = id + 10 WHERE id > 4;
		/* tx1 */ COMMIT;
		/* tx2 */ SELECT * FROM t;`},
	{"postgres:18", "where a row lies", corpus.ReadCommitted, `
		-- dialect: postgres
		/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
		/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
		/* tx1 */ BEGIN;
		/* tx1 */ UPDATE t SET b = 0 WHERE a = 1;
		/* tx1 */ SELECT ctid FROM t WHERE a = 1;
		/* tx1 */ COMMIT;
		/* tx2 */ SELECT * FROM t;`},
	{"postgres:18", "a row found by where it lies", corpus.RepeatableRead, `
		-- dialect: postgres
		/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
		/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
		/* tx1 */ UPDATE t SET b = 0 WHERE ctid = '(0,1)';
		/* tx1 */ UPDATE t SET b = 1 WHERE ctid = '(0,1)';
		/* tx2 */ SELECT * FROM t WHERE xmin = '3';`},
}

func TestNotAccused(t *testing.T) {
	for _, name := range targettest.Among(t, "mariadb:10.5", "mariadb:11.8", "postgres:18") {
		on := targettest.Open(t, name, target.Options{Clean: true})
		for _, x := range notAccused {
			if x.server != name {
				continue
			}
			c := targettest.Case(t, x.text)
			levels := map[int]corpus.Level{1: x.level, 2: x.level}
			r := on.Judge(t.Context(), c, levels)
			if r.Err != nil || r.Verdict.Outcome != oracle.Unknown {
				t.Errorf("%s: %v, %+v, want unknown", x.name, r.Err, r.Verdict)
			}
		}
	}
}
