package harness

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestLeftovers holds for which cases a table is truncated, because what an earlier case
// has left in an index could fail a SELECT.
func TestLeftovers(t *testing.T) {
	for _, c := range []struct {
		table, query string
		want         bool
	}{
		{"b BIGINT, INDEX(b)", "SELECT * FROM t WHERE b > 5 AND b * 4 > 5", true},
		{"b BIGINT UNIQUE KEY", "SELECT * FROM t WHERE (b + 1) > 5", true},
		{"b INT UNSIGNED, UNIQUE KEY(b)", "SELECT * FROM t WHERE b - 1 > 5", true},
		{"b BIGINT, INDEX(b)", "SELECT * FROM t WHERE ABS(b) > 5", true},
		{"b BIGINT, INDEX(b)", "SELECT * FROM t WHERE b > 5 AND a * 4 > 5", false},
		{"b BIGINT, INDEX(b)", "SELECT b * 4 FROM t WHERE b > 5", false},
		{"b BIGINT, INDEX(b)", "SELECT * FROM t WHERE b * 4 > 5 FOR UPDATE", false},
		{"b BIGINT, INDEX(b)", "DELETE FROM t WHERE b * 4 > 5", false},
		{"b BIGINT, INDEX(a)", "SELECT * FROM t WHERE b * 4 > 5", false},
		{"b INT, INDEX(b)", "SELECT * FROM t WHERE b * 4 > 5", false},
		{"b BIGINT PRIMARY KEY, INDEX(a)", "SELECT * FROM t WHERE a > 5 AND b * 4 > 5", true},
		{"b BIGINT PRIMARY KEY", "SELECT * FROM t WHERE b * 4 > 5", false},
	} {
		k, err := corpus.Parse("case", []byte("/* init */ CREATE TABLE t (a INT, "+c.table+");\n/* tx1 */ "+c.query+";\n"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := newScript(k, history.MySQL)
		if err != nil {
			t.Fatal(err)
		}
		if s.leftovers != c.want {
			t.Errorf("%s; %s: %v, want %v", c.table, c.query, s.leftovers, c.want)
		}
	}
}
