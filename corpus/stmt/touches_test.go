package stmt_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// TestAssigns says which statements may give the column a a value.
func TestAssigns(t *testing.T) {
	for sql, want := range map[string]bool{
		"UPDATE t SET a = 1":                                                               true,
		"UPDATE t SET b = 1, A = 2":                                                        true,
		"UPDATE t SET (b, c) = (1, 2)":                                                     true,
		"UPDATE t SET b = 1, (c, a) = (2, 3)":                                              true,
		"INSERT INTO t VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET a = 3":                  true,
		"WITH w AS (UPDATE t SET a = 1 RETURNING b) SELECT * FROM w":                       true,
		"UPDATE t SET b = 1 WHERE a = 1":                                                   false,
		"UPDATE t SET b = (a = 1)":                                                         false,
		"INSERT INTO t VALUES (1, 2), (3, 4) ON CONFLICT (a) DO UPDATE SET b = EXCLUDED.b": false,
		"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET b = u.b":           false,
		"DELETE FROM t WHERE a = 1":                                                        false,
	} {
		if got := stmt.Assigns((&stmt.RawStmt{SQL: sql}).Words(), []string{"a"}); got != want {
			t.Errorf("%s: %t", sql, got)
		}
	}
}
