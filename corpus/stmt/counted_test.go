package stmt_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

func TestCounted(t *testing.T) {
	for sql, want := range map[string]string{
		"WITH w AS (UPDATE t SET a = (1) RETURNING *) SELECT COUNT(*) FROM w":                                 "UPDATE t SET a = (1) RETURNING *",
		"with W as (DELETE FROM t RETURNING a, ')') select count(*) from W":                                   "DELETE FROM t RETURNING a, ')'",
		"WITH w AS (INSERT INTO t VALUES (1) RETURNING a) SELECT COUNT(*) FROM w":                             "INSERT INTO t VALUES (1) RETURNING a",
		"WITH w AS (UPDATE t SET a = 1) SELECT COUNT(*) FROM w":                                               "",
		"WITH w AS (UPDATE t SET a = 1 RETURNING *) SELECT COUNT(*) FROM t":                                   "",
		"WITH w AS (UPDATE t SET a = 1 RETURNING *) SELECT COUNT(*) FROM w WHERE a > 1":                       "",
		"WITH w AS (UPDATE t SET a = 1 RETURNING *) SELECT COUNT(a) FROM w":                                   "",
		"WITH w AS (SELECT * FROM t) SELECT COUNT(*) FROM w":                                                  "",
		"WITH w AS (UPDATE t SET a = 1 RETURNING *), v AS (DELETE FROM u RETURNING *) SELECT COUNT(*) FROM w": "",
		"UPDATE t SET a = 1 RETURNING *":                                                                      "",
	} {
		got := ""
		if write := (&stmt.RawStmt{SQL: sql}).Counted(); write != nil {
			got = write.SQL
		}
		if got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}
