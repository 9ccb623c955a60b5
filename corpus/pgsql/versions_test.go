package pgsql_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
)

const onT, ofOld, ofNew = "t.tableoid, t.ctid, t.xmin", "old.tableoid, old.ctid, old.xmin", "new.tableoid, new.ctid, new.xmin"

// TestWithVersions prints statements that tell versions, "" for those that cannot. t and u are tables, v is none.
func TestWithVersions(t *testing.T) {
	var (
		read    = pgsql.Told{Found: true}
		made    = pgsql.Told{Made: true, Writes: true}
		changed = pgsql.Told{Found: true, Made: true, Writes: true}
		gone    = pgsql.Told{Found: true, Writes: true}
		none    = pgsql.Told{}
	)
	for _, x := range []struct {
		sql   string
		major int
		want  string
		told  pgsql.Told
	}{
		{"SELECT a, b + 1 FROM t WHERE a = 1 ORDER BY 2 LIMIT 1", 12, "SELECT a, b + 1, " + onT + " FROM t WHERE a = 1 ORDER BY 2 NULLS FIRST LIMIT 1", read},
		{"SELECT * FROM t FOR UPDATE", 18, "SELECT *, " + onT + " FROM t FOR UPDATE", read},
		{"SELECT a FROM t AS `select`", 18, `SELECT a, "select".tableoid, "select".ctid, "select".xmin FROM t AS "select"`, read},
		{"SELECT a FROM t WHERE a IN (SELECT MAX(b) FROM u)", 18, "SELECT a, " + onT + " FROM t WHERE a IN (SELECT MAX(b) FROM u)", read},
		{"SELECT (SELECT b FROM u) FROM t", 18, "SELECT (SELECT b FROM u), " + onT + " FROM t", read},
		{"SELECT COUNT(*) FROM t", 18, "", none},
		{"SELECT SUM(a) OVER () FROM t", 18, "", none},
		{"SELECT a FROM t GROUP BY a", 18, "", none},
		{"SELECT DISTINCT a FROM t", 18, "", none},
		{"SELECT a FROM v", 18, "", none},
		{"SELECT 1", 18, "", none},
		{"SELECT t.a FROM t JOIN u ON t.a = u.a", 18, "", none},
		{"SELECT a FROM (SELECT a FROM t) AS x", 18, "", none},
		{"SELECT a FROM t UNION SELECT a FROM u", 18, "", none},
		{"WITH x AS (SELECT 1) SELECT a FROM t", 18, "", none},
		{"INSERT IGNORE INTO t VALUES (1, 2)", 12, "INSERT INTO t VALUES (1, 2) ON CONFLICT DO NOTHING RETURNING " + onT, made},
		{"INSERT INTO t SELECT a, b FROM u", 18, "INSERT INTO t SELECT a, b FROM u RETURNING " + onT, made},
		{"UPDATE t SET b = 1 WHERE a = 1", 12, "UPDATE t SET b = 1 WHERE a = 1 RETURNING " + onT, made},
		{"UPDATE t SET b = 1 WHERE a = 1", 18, "UPDATE t SET b = 1 WHERE a = 1 RETURNING " + ofOld + ", " + ofNew, changed},
		{"UPDATE t AS old SET b = 1", 18, "UPDATE t AS old SET b = 1 RETURNING " + ofOld, made},
		{"UPDATE t JOIN u ON t.a = u.a SET t.b = 1", 18, "", none},
		{"DELETE FROM t WHERE a = 1", 18, "DELETE FROM t WHERE a = 1 RETURNING " + onT, gone},
		{"DELETE FROM v", 18, "", none},
		{"COMMIT", 18, "", none},
	} {
		n, err := corpus.ParseStatement(x.sql)
		if err != nil {
			t.Fatal(err)
		}
		got, told, ok := pgsql.WithVersions(n, func(name string) bool { return name == "t" || name == "u" }, x.major)
		if !ok {
			got, told = "", none
		}
		if got != x.want || told != x.told {
			t.Errorf("%s, %d: %s %+v\nwant %s %+v", x.sql, x.major, got, told, x.want, x.told)
		}
	}
}
