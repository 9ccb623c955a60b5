package stmt_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

func TestMayGiveNull(t *testing.T) {
	for sql, want := range map[string]bool{
		"INSERT INTO t VALUES (1, 2, NULL)":                            true,
		"INSERT INTO t VALUES (1, NULL, 2)":                            false,
		"INSERT INTO t VALUES (1, 2, 3), (1, 2, a + 1)":                true,
		"INSERT INTO t (c, a) VALUES (NULL, 1)":                        true,
		"INSERT INTO t (a, c) VALUES (NULL, 1)":                        false,
		"INSERT INTO T SET C = NULL":                                   true,
		"INSERT INTO u VALUES (1, 2, NULL)":                            false,
		"INSERT INTO t SELECT * FROM u":                                true,
		"INSERT INTO t VALUES (1, 2, 3) ON DUPLICATE KEY UPDATE c = b": true,
		"INSERT INTO t VALUES (1, 2, 3) ON DUPLICATE KEY UPDATE b = c": false,
		"REPLACE INTO t VALUES (1, 2, NULL)":                           true,
		"UPDATE t SET c = NULL":                                        true,
		"UPDATE t SET b = NULL, c = '2020-01-01 00:00:00'":             false,
		"UPDATE t JOIN u ON t.a = u.a SET t.c = u.b":                   true,
		"DELETE FROM t WHERE c IS NULL":                                false,
	} {
		n, err := corpus.ParseStatement(sql)
		if err != nil {
			t.Fatal(err)
		}
		if got := stmt.MayGiveNull(n, "t", []string{"a", "b", "c"}, func(i int) bool { return i == 2 }); got != want {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
}
