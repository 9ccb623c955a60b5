package target

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/oracle"
)

const tablesOfUnknownSQL = `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(40), n INT);
/* init */ CREATE TABLE s (id INT AUTO_INCREMENT, a VARCHAR(40), PRIMARY KEY (id));
/* init */ INSERT INTO t VALUES (1, '{"k": 1}', 1), (2, '{"k": 2}', 2), (3, '{"k": 3}', 3), (4, 'xyz', 4), (5, NULL, 5);
/* init */ INSERT INTO s VALUES (1, 'one'), (2, 'two'), (9, 'nine');
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM s WHERE id = 0;
`

// tx2 runs a statement that the oracle cannot compute, for which % stands: while tx1 has
// changed what it may answer, behind tx1's commit, and beside a tx1 that does nothing.
const (
	amidUnknownSQL = tablesOfUnknownSQL + `
/* tx1 */ UPDATE t SET a = '{"k": 7}', n = n + 10 WHERE id = 1;
/* tx2 */ %;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`
	behindUnknownSQL = tablesOfUnknownSQL + `
/* tx1 */ UPDATE t SET a = '{"k": 7}', n = n + 10 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ %;
/* tx2 */ COMMIT;
`
	besideUnknownSQL = tablesOfUnknownSQL + `
/* tx2 */ %;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
`
)

type form uint8

const (
	plain     form = iota // a plain read that the change of tx1 shows in
	unchanged             // a plain read that it does not show in
	locking
	write
)

// sqlForServers is SQL that the solver refuses: what it is, and whether a plain read of
// it shows the change of tx1.
var sqlForServers = []struct {
	name string
	kind form
	sql  string
}{
	{"JSON", plain, `SELECT id, JSON_EXTRACT(a, '$.k') FROM t WHERE id < 4`},
	{"REGEXP", plain, `SELECT id, n FROM t WHERE a REGEXP '^."k'`},
	{"REGEXP beside what is known", plain, `SELECT id, n FROM t WHERE a REGEXP '^."k' AND n < 30`},
	{"a window", plain, `SELECT id, ROW_NUMBER() OVER (ORDER BY n DESC, id) FROM t`},
	{"an aggregate's window", plain, `SELECT id, SUM(n) OVER (PARTITION BY n % 2) FROM t`},
	{"UNION", plain, `SELECT id, a FROM t UNION SELECT id, a FROM s`},
	{"UNION ALL with an order", plain, `(SELECT n FROM t) UNION ALL (SELECT id FROM s) ORDER BY n LIMIT 20`},
	{"EXCEPT", unchanged, `SELECT id FROM t EXCEPT SELECT id FROM s`},
	{"LEFT JOIN", plain, `SELECT t.id, t.n, s.a FROM t LEFT JOIN s ON t.id = s.id`},
	{"RIGHT JOIN", plain, `SELECT t.n, s.a FROM t RIGHT JOIN s ON t.id = s.id`},
	{"a common table expression", plain, `WITH c AS (SELECT id, n FROM t WHERE n > 0) SELECT c.id, c.n FROM c`},
	{"a recursive one", plain, `WITH RECURSIVE c (i) AS (SELECT MIN(id) FROM t UNION ALL SELECT i + 1 FROM c WHERE i < 4) SELECT t.n FROM c JOIN t ON t.id = c.i`},
	{"GROUP BY WITH ROLLUP", plain, `SELECT n % 2, SUM(n) FROM t GROUP BY n % 2 WITH ROLLUP`},
	{"a locking read with REGEXP", locking, `SELECT id, n FROM t WHERE id > 1 AND (a REGEXP 'k' OR n > 3) FOR UPDATE`},
	{"a locking read of a function", locking, `SELECT id, SOUNDEX(a) FROM t WHERE id BETWEEN 3 AND 5 FOR UPDATE`},
	{"UPDATE with REGEXP", write, `UPDATE t SET n = n + 100 WHERE id > 1 AND a REGEXP '^x'`},
	{"UPDATE to a function", write, `UPDATE t SET a = SOUNDEX(a) WHERE id = 4`},
	{"UPDATE to JSON", write, `UPDATE t SET a = JSON_SET(a, '$.k', n + 1) WHERE id = 2`},
	{"DELETE with REGEXP", write, `DELETE FROM t WHERE id BETWEEN 2 AND 4 AND a RLIKE 'z$'`},
	{"UPDATE of one of two tables", write, `UPDATE t JOIN s ON t.id = s.id SET t.a = s.a, t.n = t.n + 100 WHERE t.id > 1`},
	{"UPDATE of two tables", write, `UPDATE t, s SET t.n = 100, s.a = 'x' WHERE t.id = s.id AND t.id > 1`},
	{"DELETE from one of two tables", write, `DELETE x FROM t AS x JOIN s ON x.id = s.id WHERE s.a LIKE 't%'`},
	{"DELETE with a LEFT JOIN", write, `DELETE FROM t USING t LEFT JOIN s ON t.id = s.id WHERE s.id IS NULL AND t.id > 3`},
	{"ON DUPLICATE KEY UPDATE to a function", write, `INSERT INTO t VALUES (4, 'abc', 1) ON DUPLICATE KEY UPDATE a = SOUNDEX(CONCAT(a, VALUES(a))), n = n + VALUES(n)`},
	{"ON DUPLICATE KEY UPDATE to JSON", write, `INSERT INTO t (id, a) VALUES (2, '5') ON DUPLICATE KEY UPDATE a = JSON_SET(a, '$.k', VALUES(a))`},
	{"INSERT of a function", write, `INSERT INTO t VALUES (8, SOUNDEX('fuzz'), 8), (9, JSON_OBJECT('k', 9), 9)`},
}

// tablesOfMadeRows have rows that only the server can make.
const tablesOfMadeRows = `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT, j JSON, g INT GENERATED ALWAYS AS (n * 2) STORED, v INT GENERATED ALWAYS AS (n + 1) VIRTUAL, d VARCHAR(20) DEFAULT (UPPER('ab')), KEY (g), CHECK (n < 1000));
/* init */ INSERT INTO t (id, n, j) VALUES (1, 1, '{"k": 1}'), (2, 2, '[2]'), (3, 3, NULL), (4, 4, '"x"'), (5, NULL, '5');
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ SELECT n FROM t WHERE id = 0;
`

// sqlOfMadeRows meets such rows. All but the last change them or lock them.
var sqlOfMadeRows = []struct {
	name string
	kind form
	sql  string
}{
	{"UPDATE of a base column", write, `UPDATE t SET n = n + 10 WHERE id = 3`},
	{"UPDATE by a generated column", write, `UPDATE t SET n = 7 WHERE g = 8`},
	{"UPDATE of JSON", write, `UPDATE t SET j = JSON_SET(j, '$[1]', n) WHERE id = 2`},
	{"INSERT of JSON", write, `INSERT INTO t (id, n, j) VALUES (7, 7, '{"k": 7, "a": [1]}')`},
	{"INSERT with defaults", write, `INSERT INTO t (id, n) VALUES (8, 8), (9, NULL)`},
	{"REPLACE", write, `REPLACE INTO t (id, n, d) VALUES (4, 40, 5)`},
	{"DELETE by a generated column", write, `DELETE FROM t WHERE g = 6`},
	{"a locking read", locking, `SELECT id, g, v FROM t WHERE g BETWEEN 4 AND 8 FOR UPDATE`},
	{"a locking read of JSON", locking, `SELECT * FROM t WHERE id > 1 AND JSON_VALID(j) FOR UPDATE`},
	{"a read of JSON", plain, `SELECT id, j FROM t WHERE JSON_EXTRACT(j, '$.k') = 1`},
	{"a read of all", plain, `SELECT * FROM t`},
}

// The server computes what the oracle cannot: an honest one is right in all of this, a
// history without its answers is unknown, and one that lies while another transaction is
// open is found out at the very statement, or, for a lost commit, in the end.
func TestServerComputes(t *testing.T) {
	for _, name := range serversAmong(t, "mysql:9.7", "mariadb:11.8", "mariadb:10.5") {
		b, err := harness.Open(t.Context(), name, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			lie    lying.Lie
			around string
			levels []corpus.Level
			of     []form
		}{
			{lying.Honest, amidUnknownSQL, []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}, []form{plain, unchanged, locking, write}},
			{lying.Honest, behindUnknownSQL, []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}, []form{plain, unchanged}},
			{lying.Honest, besideUnknownSQL, []corpus.Level{corpus.RepeatableRead, corpus.Serializable}, []form{locking, write}},
			{lieNamed(t, "row-missing-from-an-answer"), amidUnknownSQL, []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}, []form{plain, unchanged, locking}},
			{lieNamed(t, "repeatable-read-served-as-read-committed"), behindUnknownSQL, []corpus.Level{corpus.RepeatableRead}, []form{plain}},
			{lieNamed(t, "commit-is-lost"), besideUnknownSQL, []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}, []form{write}},
		} {
			liar := lying.Through(b, x.lie)
			pool, err := harness.NewPool(t.Context(), liar, harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			target := &Target{Name: name, backend: liar, server: b.Server(), pool: pool}
			for _, q := range sqlForServers {
				if !slices.Contains(x.of, q.kind) || x.lie.Name == "row-missing-from-an-answer" && !strings.HasPrefix(q.sql, "SELECT") { // which is not told of others
					continue
				}
				c := parseCase(t, strings.Replace(x.around, "%", q.sql, 1))
				for _, level := range x.levels {
					r := target.Judge(t.Context(), c, LevelsFor(c, level))
					v := &r.Verdict
					what := fmt.Sprintf("%s, %s, %s at %s: %s %s at %d (%s; expected %s, actual %s)", name, x.lie.Name, q.name, level, v.Outcome, v.Kind, v.Stmt, v.Reason, v.Expected, v.Actual)
					at := v.Stmt >= 0 && corpus.SQL(c.Steps[r.History.Stmts[v.Stmt].Line].Stmt, corpus.Text) == corpus.SQL(unknownSQL(t, q.sql), corpus.Text)
					switch {
					case x.lie.Name == lying.Honest.Name:
						again := *r.History
						again.Answers = nil
						if v.Outcome != oracle.OK || v.Asked == 0 {
							t.Error(what)
						} else if w := oracle.Check(r.Case, &again); w.Outcome != oracle.Unknown || len(oracle.Questions(r.Case, &again)) == 0 {
							t.Errorf("%s; and without answers %s", what, w.Outcome)
						}
					case v.Outcome != oracle.Violation || q.kind != write && !at:
						t.Error(what)
					}
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

// Tables with JSON, generated columns, defaults that are computed and CHECK are judged:
// the server makes their rows, and a row that is left out or a lost commit is found.
func TestServerMakesRows(t *testing.T) {
	const steps = tablesOfMadeRows + `
/* tx1 */ UPDATE t SET n = 100, j = '{"k": 100}' WHERE id = 1;
/* tx2 */ %;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t WHERE id > 1;
/* tx2 */ COMMIT;
`
	for _, name := range serversAmong(t, "mysql:9.7", "mariadb:11.8", "mariadb:10.5") {
		b, err := harness.Open(t.Context(), name, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, lie := range []lying.Lie{lying.Honest, lieNamed(t, "row-missing-from-an-answer"), lieNamed(t, "commit-is-lost")} {
			liar := lying.Through(b, lie)
			pool, err := harness.NewPool(t.Context(), liar, harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			target := &Target{Name: name, backend: liar, server: b.Server(), pool: pool}
			for _, q := range sqlOfMadeRows {
				if q.kind == write && lie.Name == "row-missing-from-an-answer" {
					continue
				}
				c := parseCase(t, strings.Replace(steps, "%", q.sql, 1))
				for _, level := range []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead} {
					v := target.Judge(t.Context(), c, LevelsFor(c, level)).Verdict
					want := oracle.Violation
					if lie.Name == lying.Honest.Name {
						want = oracle.OK
					}
					if v.Outcome != want {
						t.Errorf("%s, %s, %s at %s: %s %s (%s; expected %s, actual %s)", name, lie.Name, q.name, level, v.Outcome, v.Kind, v.Reason, v.Expected, v.Actual)
					}
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

func unknownSQL(t *testing.T, sql string) ast.StmtNode {
	t.Helper()
	stmt, err := corpus.ParseStatement(sql)
	if err != nil {
		t.Fatal(err)
	}
	return stmt
}

// What the manuals leave to the server settles nothing.
func TestOpenAnswers(t *testing.T) {
	for _, name := range serversAmong(t, "mysql:9.7", "mariadb:11.8") {
		target, err := Open(t.Context(), name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{
			`SELECT id, SOUNDEX(a) FROM t LIMIT 2`,
			`SELECT id, ROW_NUMBER() OVER (ORDER BY n % 1) FROM t`,
			`SELECT GROUP_CONCAT(id) FROM t LEFT JOIN s USING (id)`,
			`SELECT id, UUID() FROM t`,
			`SELECT id FROM t WHERE a REGEXP CONNECTION_ID()`,
			`SELECT SOUNDEX(a), @x FROM t`,
		} {
			c := parseCase(t, strings.Replace(amidUnknownSQL, "%", sql, 1))
			if v := target.Judge(t.Context(), c, LevelsFor(c, corpus.RepeatableRead)).Verdict; v.Outcome != oracle.Unknown {
				t.Errorf("%s: %s: %s", name, sql, v.Outcome)
			}
		}
		if err := target.Close(); err != nil {
			t.Error(err)
		}
	}
}
