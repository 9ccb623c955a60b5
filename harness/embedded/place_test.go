//go:build !notidb

package embedded

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestPlaces: of each wait the row or the unique entry is told.
func TestPlaces(t *testing.T) {
	b, err := harness.Open(t.Context(), "embedded", harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	p, err := harness.NewPool(t.Context(), b, harness.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	for _, x := range []struct {
		table, rows, holds, waits string
		want                      history.Place
	}{
		{"a INT PRIMARY KEY, b INT", "(1, 10), (-5, 50)", "UPDATE t SET b = 1 WHERE a = -5", "DELETE FROM t WHERE a = -5", history.Place{Index: "PRIMARY", Fields: []string{"-5"}}},
		{"a VARCHAR(9), b INT, PRIMARY KEY (a, b)", "('x''y', 10)", "SELECT * FROM t FOR UPDATE", "DELETE FROM t", history.Place{Index: "PRIMARY", Fields: []string{"'x''y'", "10"}}},
		{"a INT UNSIGNED, b INT, UNIQUE KEY k (a)", "(4294967295, 10)", "UPDATE t SET a = 7", "INSERT INTO t VALUES (7, 0)", history.Place{Index: "k", Fields: []string{"7"}}},
		{"a DATE, b DECIMAL(5,2), UNIQUE KEY k (a, b)", "('2020-01-01', 1.5)", "UPDATE t SET b = 2.25", "INSERT INTO t VALUES ('2020-01-01', 2.25)", history.Place{Index: "k", Fields: []string{"2020-01-01", "2.25"}}},
		{"a VARCHAR(9) COLLATE utf8mb4_general_ci PRIMARY KEY", "('a')", "SELECT * FROM t WHERE a = 'a' FOR UPDATE", "DELETE FROM t", history.Place{Index: "PRIMARY", Fields: []string{"0x0041"}}},
		{"a INT", "(1)", "DELETE FROM t", "UPDATE t SET a = 2", history.Place{Index: "_tidb_rowid"}},
	} {
		text := "/* init */ CREATE TABLE t (" + x.table + ");\n/* init */ INSERT INTO t VALUES " + x.rows + ";\n/* tx1 */ BEGIN;\n/* tx1 */ " + x.holds + ";\n/* tx2 */ " + x.waits + ";\n/* tx1 */ ROLLBACK;\n"
		c, err := corpus.Parse("case.sql", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		h, err := p.Run(t.Context(), c, harness.At(corpus.RepeatableRead))
		if err != nil {
			t.Fatal(err)
		}
		waits := h.Stmts[2].Waits
		if len(waits) == 0 || waits[0].At == nil {
			t.Errorf("%s: no place in %+v", x.table, waits)
			continue
		}
		x.want.Table, x.want.Kind, x.want.Mode = "t", history.RecordLock, "pessimistic"
		if diff := cmp.Diff(&x.want, waits[0].At); diff != "" {
			t.Errorf("%s: -want +got:\n%s", strings.TrimSpace(x.table), diff)
		}
	}
}
