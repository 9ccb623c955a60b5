package export

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// TestLeavesRecords: what InnoDB has to purge once it is committed.
func TestLeavesRecords(t *testing.T) {
	c, err := corpus.Parse("c.sql", []byte(`/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT UNIQUE, d INT, e INT, INDEX k (d));
/* init */ CREATE INDEX l ON t (e);
/* tx1 */ DELETE FROM t;
/* tx1 */ REPLACE INTO t VALUES (1, 1, 1, 1, 1);
/* tx1 */ UPDATE t SET a = 2;
/* tx1 */ UPDATE t SET b = 2;
/* tx1 */ UPDATE t SET b = 1, c = 2;
/* tx1 */ UPDATE t SET d = 2;
/* tx1 */ UPDATE t SET e = 2;
/* tx1 */ INSERT INTO t VALUES (1, 1, 1, 1, 1) ON DUPLICATE KEY UPDATE b = 1;
/* tx1 */ INSERT INTO t VALUES (1, 1, 1, 1, 1) ON DUPLICATE KEY UPDATE c = 1;
/* tx1 */ INSERT INTO t VALUES (1, 1, 1, 1, 1);
/* tx1 */ SELECT * FROM t FOR UPDATE;
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []bool{true, true, true, false, true, true, true, false, true, false, false}
	keyed := keyColumns(c)
	for i, l := range c.Steps {
		if got := leavesRecords(l.Stmt, keyed); got != want[i] {
			t.Errorf("%s: %t", corpus.SQL(l.Stmt, corpus.Text), got)
		}
	}
	if update := c.Steps[3].Stmt; !leavesRecords(update, nil) {
		t.Error("without names of columns, any UPDATE may change a key")
	}
}
