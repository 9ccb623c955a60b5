package foreign

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

const tables = "CREATE TABLE t (a int PRIMARY KEY, b text); CREATE TABLE u (a int); CREATE TABLE f (a int, yes bool);"

// script is one of PostgreSQL whose first session sends blocks that ;; ends, and whose second those behind >.
func script(setUp, sql string) *Script {
	s := &Script{Path: "x#1", SetUp: []string{setUp}}
	for block := range strings.SplitSeq(sql, ";;") {
		session := 1
		if rest, second := strings.CutPrefix(block, ">"); second {
			session, block = 2, rest
		}
		s.Blocks = append(s.Blocks, Block{Session: session, SQL: block})
	}
	return s
}

// stepsOf returns the lines of the sessions as one text, behind the level.
func stepsOf(c *corpus.Case) string {
	var out []string
	for _, l := range c.Steps {
		sql := corpus.SQL(l.Stmt, corpus.Text)
		if l.Session > 1 {
			sql = ">" + sql
		}
		out = append(out, sql)
	}
	level, _ := c.Get("level")
	return level + ": " + strings.Join(out, "|")
}

func TestSessions(t *testing.T) {
	for sql, want := range map[string]string{
		// transactions and levels
		"BEGIN;;COMMIT WORK;;START TRANSACTION READ WRITE;;ABORT":        "READ COMMITTED: BEGIN|COMMIT|START TRANSACTION READ WRITE|ROLLBACK",
		"BEGIN; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY": "SERIALIZABLE: START TRANSACTION READ ONLY",
		"SET default_transaction_isolation = 'repeatable read';;BEGIN":   "REPEATABLE READ: BEGIN",
		"BEGIN;;SAVEPOINT S;;ROLLBACK TO s;;RELEASE s;;END":              "READ COMMITTED: BEGIN|SAVEPOINT s|ROLLBACK TO s|RELEASE SAVEPOINT s|COMMIT",
		"BEGIN ISOLATION LEVEL SERIALIZABLE;;COMMIT;;BEGIN":              "SERIALIZABLE: BEGIN|COMMIT|SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED|BEGIN",
		// a query alone answers alike at any level; beside others at SERIALIZABLE it does not
		"BEGIN ISOLATION LEVEL SERIALIZABLE;;COMMIT;;SELECT a FROM u": "SERIALIZABLE: BEGIN|COMMIT|SELECT a FROM u",
		"BEGIN ISOLATION LEVEL SERIALIZABLE;;COMMIT;;>BEGIN;;SELECT a FROM u": "tx1=SER, tx2=RC: BEGIN|COMMIT|>BEGIN|" +
			"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED|SELECT a FROM u",
		"BEGIN ISOLATION LEVEL REPEATABLE READ;;COMMIT;;>BEGIN;;SELECT a FROM u": "tx1=RR, tx2=RC: BEGIN|COMMIT|>BEGIN|SELECT a FROM u",
		"BEGIN ISOLATION LEVEL REPEATABLE READ;;COMMIT;;>BEGIN;;DELETE FROM u": "tx1=RR, tx2=RC: BEGIN|COMMIT|>BEGIN|" +
			"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED|DELETE FROM u",
		// several statements of a block outside of a transaction are one
		"SELECT a FROM u; DELETE FROM u": "READ COMMITTED: BEGIN|SELECT a FROM u|DELETE FROM u|COMMIT",
		"BEGIN; DELETE FROM u;;COMMIT; SELECT a FROM u; DELETE FROM u; ": "READ COMMITTED: BEGIN|DELETE FROM u|COMMIT|" +
			"BEGIN|SELECT a FROM u|DELETE FROM u|COMMIT",
		// what MySQL's SQL has, and what it has with another meaning
		"SELECT a FROM t WHERE b = 'x' FOR UPDATE":  "READ COMMITTED: SELECT a FROM t WHERE b = 'x' FOR UPDATE",
		"SELECT b || 'x' FROM t":                    "READ COMMITTED: /* raw reads=t */ SELECT b || 'x' FROM t",
		"SELECT a / 2, a::text FROM T":              "READ COMMITTED: /* raw reads=t */ SELECT a / 2, a::text FROM T",
		"UPDATE f SET yes = true":                   "READ COMMITTED: UPDATE f SET yes = TRUE",
		"SELECT true FROM u":                        "READ COMMITTED: /* raw reads=u */ SELECT true FROM u",
		"DELETE FROM t USING u WHERE t.a = u.a":     "READ COMMITTED: /* raw reads=t,u writes=t locks=exclusive */ DELETE FROM t USING u WHERE t.a = u.a",
		"INSERT INTO u VALUES (1) RETURNING a":      "READ COMMITTED: /* raw writes=u */ INSERT INTO u VALUES (1) RETURNING a",
		"INSERT INTO u SELECT a FROM t RETURNING *": "READ COMMITTED: /* raw reads=t writes=u */ INSERT INTO u SELECT a FROM t RETURNING *",
		"INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 'y'": "READ COMMITTED: /* raw reads=t writes=t locks=exclusive */ " +
			"INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 'y'",
		"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE": "READ COMMITTED: /* raw reads=t,u writes=t locks=exclusive */ " +
			"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE",
		"WITH w AS (UPDATE ONLY u SET a = 1 RETURNING a) SELECT * FROM w JOIN t ON t.a = w.a": "READ COMMITTED: " +
			"/* raw reads=u,t writes=u locks=exclusive */ WITH w AS (UPDATE ONLY u SET a = 1 RETURNING a) SELECT * FROM w JOIN t ON t.a = w.a",
		"SELECT * FROM t FOR NO KEY UPDATE":                   "READ COMMITTED: /* raw reads=t locks=exclusive */ SELECT * FROM t FOR NO KEY UPDATE",
		"SELECT pg_advisory_lock(1)":                          "READ COMMITTED: SELECT pg_advisory_lock(1)",
		"BEGIN;;PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'": "READ COMMITTED: BEGIN|PREPARE TRANSACTION 'x'|COMMIT PREPARED 'x'",
		"SELECT * FROM t WHERE pg_advisory_lock(1, 2) IS NOT NULL FOR UPDATE": "READ COMMITTED: /* raw reads=t locks=exclusive */ " +
			"SELECT * FROM t WHERE pg_advisory_lock(1, 2) IS NOT NULL FOR UPDATE",
		"SELECT * FROM t FOR KEY SHARE": "READ COMMITTED: /* raw reads=t locks=share */ SELECT * FROM t FOR KEY SHARE",
	} {
		c, no := PostgreSQL.Case(script(tables, sql))
		if no != nil {
			t.Errorf("%s: %v", sql, no)
		} else if got := stepsOf(c); got != want {
			t.Errorf("%s\n%s\nwant %s", sql, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for sql, want := range map[string]string{
		"PREPARE TRANSACTION x":      "SQL of a session that is not read",
		"PREPARE TRANSACTION":        "PREPARE in a session",
		"PREPARE p AS SELECT 1":      "PREPARE in a session",
		"COMMIT AND CHAIN":           "COMMIT with more behind it",
		"BEGIN READ ONLY DEFERRABLE": "a mode of transactions that a case cannot name",
		"BEGIN;;BEGIN":               "BEGIN in a transaction",
		"BEGIN;;SELECT a FROM u;;SET TRANSACTION ISOLATION LEVEL SERIALIZABLE": "SET TRANSACTION outside of a transaction's beginning",
		"DELETE FROM u; BEGIN":                       "transaction control behind statements of a block without a transaction",
		"SELECT a FROM u; DELETE FROM u; COMMIT":     "transaction control behind statements of a block without a transaction",
		"SET lock_timeout = 10":                      "SET lock_timeout",
		"SAVEPOINT \"\"":                             "SAVEPOINT in a session",
		"SET SESSION CHARACTERISTICS AS TRANSACTION": "a mode of transactions that a case cannot name",
		"LOCK TABLE t":                               "LOCK TABLE in a session",
		"CREATE INDEX i ON t (b)":                    "CREATE INDEX in a session",
		"VACUUM t":                                   "VACUUM in a session",
		"COPY t FROM stdin":                          "COPY in a session",
		"DECLARE c CURSOR FOR SELECT a FROM t":       "DECLARE in a session",
		"DO $$ BEGIN; END $$":                        "DO in a session",
		"SELECT pg_advisory_lock(a) FROM t":          "the function pg_advisory_lock",
		"SELECT now() FROM t":                        "the function now",
		"SELECT ctid FROM t":                         "a column of the system",
		"SELECT * FROM pg_class":                     "a table of the system",
		"SELECT 1 || 2":                              "a raw statement that names no table",
		"SELECT a FROM t WHERE b = E'x'":             "a string that servers read differently",
		"SELECT a FROM t WHERE b = 'x\\'":            "a string that servers read differently",
		"SELECT a AS \"A\" FROM t":                   "a quoted name with capitals",
		"DELETE FROM f RETURNING yes":                "a raw statement on a column of type BOOLEAN",
		"DELETE FROM t RETURNING old.a":              "OLD and NEW in RETURNING",
		"SELECT 'x":                                  "SQL that cannot be taken apart",
		"":                                           "no statement",
	} {
		if _, no := PostgreSQL.Case(script(tables, sql)); no == nil || no.Reason != want || no.From != "x#1" {
			t.Errorf("%s: %v, want %s", sql, no, want)
		}
	}
}

// TestSetUps leaves out of a set-up what no case can say, if nobody uses it.
func TestSetUps(t *testing.T) {
	const use = "SELECT a FROM t"
	for _, x := range []struct{ setUp, sessions, want, leftOut string }{
		{"DROP TABLE IF EXISTS t; CREATE TABLE t (a int); ANALYZE t", use, "CREATE TABLE t (a INT)", ""},
		{"CREATE TABLE t (a int PRIMARY KEY, b varchar) WITH (fillfactor = 10)", use, "CREATE TABLE t (a INT PRIMARY KEY, b TEXT)", "WITH (fillfactor = 10)"},
		{"CREATE TABLE t (a int, b int, PRIMARY KEY (a) INCLUDE (b))", use, "CREATE TABLE t (a INT, b INT, PRIMARY KEY(a))", "INCLUDE(b)"},
		{"CREATE TABLE t (a int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, b text COLLATE \"C\")", use, "CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b TEXT)", ""},
		{"CREATE TABLE t (a int); CREATE INDEX ON t USING hash (a); CREATE INDEX i ON t (a) WHERE a = 1", use,
			"CREATE TABLE t (a INT)|CREATE INDEX t_a_idx ON t (a)", "USING hash; CREATE INDEX i ON t (a) WHERE a = 1"},
		{"CREATE TABLE t (a int); INSERT INTO t SELECT g FROM generate_series(1, 3) g", use,
			"CREATE TABLE t (a INT)|INSERT INTO t SELECT g FROM (SELECT 1 AS g UNION ALL SELECT 2 UNION ALL SELECT 3) AS g", ""},
		{"CREATE TABLE t (a int); INSERT INTO t VALUES ((SELECT 1))", use, "CREATE TABLE t (a INT)|INSERT INTO t SELECT (SELECT 1)", ""},
		{"CREATE TABLE t (a int); CREATE FUNCTION g() RETURNS int LANGUAGE SQL AS $$ SELECT a FROM t; $$; CREATE TABLE p (a int); " +
			"CREATE TABLE c () INHERITS (p); INSERT INTO p VALUES (1)", use, "CREATE TABLE t (a INT)", ""},
		{"CREATE TABLE p (a int); CREATE TABLE c () INHERITS (p)", "SELECT a FROM p", "refused: a table that inherits", ""},
		{"CREATE TABLE t (a int); CREATE TRIGGER r BEFORE INSERT ON t EXECUTE FUNCTION f()", use, "refused: CREATE TRIGGER in the set-up", ""},
		{"CREATE TABLE t (a int); CREATE UNIQUE INDEX i ON t (a) WHERE a > 1", use, "refused: SQL of the set-up that is not read", ""},
		{"CREATE TABLE t (a int); DROP TABLE IF EXISTS t; CREATE TABLE t (a int)", use, "refused: DROP in the set-up", ""},
		{"SELECT pg_sleep(1); CREATE TABLE t (a int)", use, "refused: SELECT in the set-up", ""},
		{"CREATE TABLE t (a point)", use, "refused: SQL of the set-up that is not read", ""},
	} {
		c, no := PostgreSQL.Case(script(x.setUp, x.sessions))
		var got []string
		if no != nil {
			got = []string{"refused: " + no.Reason}
			c = &corpus.Case{}
		}
		for _, l := range c.Init {
			got = append(got, corpus.SQL(l.Stmt, corpus.Text))
		}
		if left, _ := c.Get("x-left-out"); strings.Join(got, "|") != x.want || left != x.leftOut {
			t.Errorf("%s\n%s, left out %q\nwant %s, %q", x.setUp, strings.Join(got, "|"), left, x.want, x.leftOut)
		}
	}
}
