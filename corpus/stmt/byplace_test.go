package stmt_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

func TestByCondition(t *testing.T) {
	for sql, want := range map[string]string{
		"UPDATE t SET b = 1 WHERE ctid = (SELECT x.ctid FROM t AS x WHERE x.a = 1) RETURNING a": "UPDATE t SET b = 1 WHERE a = 1 RETURNING a",
		"DELETE FROM t WHERE ctid = (SELECT x.ctid FROM t AS x WHERE x.a = 1)":                  "DELETE FROM t WHERE a = 1",
		"SELECT * FROM t WHERE ctid = (SELECT x.ctid FROM t AS x WHERE x.a = 1) FOR UPDATE":     "SELECT * FROM t WHERE a = 1 FOR UPDATE",
		"DELETE FROM t WHERE ctid = (SELECT x.ctid FROM u AS x WHERE x.a = 1)":                  "",
		"DELETE FROM t WHERE ctid <= (SELECT MIN(x.ctid) FROM t AS x)":                          "",
		"DELETE FROM t WHERE b = 1 AND ctid = (SELECT x.ctid FROM t AS x WHERE x.a = 1)":        "",
		"DELETE FROM t WHERE ctid = (SELECT x.ctid FROM t AS x WHERE x.a = (SELECT 1))":         "",
		"DELETE FROM t WHERE ctid = '(0,1)'":                                                    "",
		"DELETE FROM t WHERE a = 1":                                                             "",
	} {
		got := ""
		if by := (&stmt.RawStmt{SQL: sql}).ByCondition(); by != nil {
			got = by.SQL
		}
		if all := (&stmt.RawStmt{SQL: sql}).OfAll(); (all != nil) != (sql == "DELETE FROM t WHERE ctid <= (SELECT MIN(x.ctid) FROM t AS x)") ||
			all != nil && all.SQL != "DELETE FROM t" {
			t.Errorf("%s: of all rows %v", sql, all)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}
