package promise

import (
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// TestFindingWords says of which statements it is known by which words they find the rows of t.
func TestFindingWords(t *testing.T) {
	for _, x := range []struct {
		sql         string
		ok          bool
		holds, free []string // words that it finds rows by, and words that it does not
	}{
		{"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND t.b > 1 THEN UPDATE SET b = u.c", true, []string{"a"}, []string{"b", "c"}},
		{"MERGE INTO t AS x USING (SELECT a FROM t) AS y ON x.a = y.a WHEN MATCHED THEN DELETE", false, nil, nil},
		{"DELETE FROM t USING u WHERE u.a = t.a RETURNING b", true, []string{"a"}, []string{"b"}},
		{"DELETE FROM t WHERE a IN (SELECT a FROM u LIMIT 1)", false, nil, nil},
		{"UPDATE t SET b = b + 1 WHERE a = 1 RETURNING c", true, []string{"a"}, []string{"b", "c"}},
		{"UPDATE t SET b = (SELECT MAX(b) FROM t) WHERE a = 1", false, nil, nil},
		{"UPDATE t SET b = 1 FROM u WHERE t.a = u.a", false, nil, nil},
		{"SELECT t.b FROM t JOIN u ON t.a = u.a ORDER BY c FOR NO KEY UPDATE OF t", true, []string{"a"}, []string{"b", "c"}},
		{"SELECT t.b FROM t JOIN u ON t.a = u.a FOR UPDATE OF u", false, nil, nil},
		{"SELECT t.b FROM t JOIN u ON t.a = u.a FOR UPDATE OF t FOR SHARE OF u", false, nil, nil},
		{"SELECT b FROM u WHERE a IN (SELECT a FROM t) FOR UPDATE", false, nil, nil},
		{"SELECT b FROM t FOR UPDATE SKIP LOCKED", false, nil, nil},
		{`SELECT "b" FROM t WHERE "a" = 1 FOR UPDATE`, false, nil, nil},
		{"SELECT b FROM t", false, nil, nil},
		{"SELECT b FROM t NATURAL JOIN u FOR UPDATE", false, nil, nil},
		{"WITH v AS (UPDATE t SET b = 1 RETURNING a) SELECT a FROM v", false, nil, nil},
		{"INSERT INTO t VALUES (1) ON CONFLICT (a) DO NOTHING", false, nil, nil},
	} {
		finds, ok := findingWords(&stmt.RawStmt{SQL: x.sql}, "t")
		if ok != x.ok {
			t.Errorf("%s: known is %t", x.sql, ok)
			continue
		}
		for _, w := range x.holds {
			if !slices.Contains(finds, w) {
				t.Errorf("%s finds rows by %s: %v", x.sql, w, finds)
			}
		}
		for _, w := range x.free {
			if slices.Contains(finds, w) {
				t.Errorf("%s finds no rows by %s: %v", x.sql, w, finds)
			}
		}
	}
}

// TestSoleTable says of which statements a table is all that they find rows in.
func TestSoleTable(t *testing.T) {
	for sql, want := range map[string]bool{
		"UPDATE t SET b = 1 WHERE a = 1":                                true,
		"UPDATE t AS x SET b = 1":                                       true,
		"DELETE FROM t":                                                 true,
		"DELETE FROM t AS x WHERE x.a = 1 RETURNING *":                  true,
		"SELECT * FROM t WHERE a = 1 FOR UPDATE":                        true,
		"SELECT * FROM t AS x ORDER BY a FOR SHARE":                     true,
		"SELECT * FROM t, u WHERE t.a = u.a FOR UPDATE OF t":            false,
		"SELECT * FROM t JOIN (VALUES (1)) AS v (x) ON x = a FOR SHARE": false,
		"SELECT * FROM u WHERE a IN (SELECT a FROM t) FOR UPDATE":       false,
		"DELETE FROM t USING u WHERE u.a = t.a":                         false,
		"DELETE FROM t AS x USING u WHERE u.a = x.a":                    false,
	} {
		if got := soleTable((&stmt.RawStmt{SQL: sql}).Words(), "t"); got != want {
			t.Errorf("%s: %t", sql, got)
		}
	}
}
