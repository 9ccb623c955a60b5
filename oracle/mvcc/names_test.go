package mvcc

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// TestTablesExist holds which statements name tables that are all there: of such
// a one an error 1146 or 1051 is no error of its text.
func TestTablesExist(t *testing.T) {
	r := &Replay{Store: versions.Store{Tables: map[string]*versions.Table{"t": {}, "Orders": {}}}}
	for sql, want := range map[string]bool{
		"SELECT * FROM t":                              true,
		"SELECT * FROM T":                              false, // which some servers tell from t
		"SELECT * FROM u":                              false,
		"SELECT * FROM t AS x FOR UPDATE OF x":         true,
		"SELECT * FROM t FOR UPDATE OF t":              true,
		"SELECT * FROM t AS x FOR UPDATE OF t":         false,
		"SELECT * FROM t AS x FOR UPDATE OF y":         false,
		"SELECT x.* FROM t AS x":                       true,
		"SELECT t.* FROM t AS x":                       false,
		"SELECT u.* FROM t":                            false,
		"SELECT * FROM t WHERE a IN (SELECT a FROM u)": false,
		"SELECT s.* FROM (SELECT a FROM Orders) AS s":  true,
		"UPDATE t SET a = 1":                           true,
		"INSERT INTO t SELECT a FROM u":                false,
		"DELETE x FROM t AS x":                         true,
		"DELETE t FROM t AS x":                         false,
		"WITH s AS (SELECT a FROM t) SELECT * FROM s":  false, // of which no table is known
		"DROP TABLE u":                                 false,
	} {
		node, err := corpus.ParseStatement(sql)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.tablesExist(node); got != want {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
}
