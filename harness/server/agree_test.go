package server

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
)

// agreeCase has indexes of all kinds, NULLs, changed keys, a rolled back
// transaction, and deleted rows that purge may not have removed.
const agreeCase = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(10), d BIGINT UNSIGNED, UNIQUE u(b), KEY k(c, b), KEY p(c(2)), KEY e(d DESC));
/* init */ CREATE TABLE u (a INT, b INT);
/* init */ INSERT INTO t VALUES (1, 1, 'abc', 1), (2, NULL, NULL, 18446744073709551615), (3, NULL, 'abd', NULL), (4, 5, '', 7);
/* init */ INSERT INTO u VALUES (1, 1), (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = a + 10, b = 7 WHERE a = 1;
/* tx1 */ DELETE FROM t WHERE a = 4;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c = 'x', d = 3;
/* tx2 */ INSERT INTO t VALUES (20, 20, 'y', 1);
/* tx2 */ ROLLBACK;
`

// TestTablesAgreeWithIndexes runs cases until some were checked: a sound server
// agrees each time, one that loses a row of an index is told of.
func TestTablesAgreeWithIndexes(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		b := start(t, target)
		if said, checked := disagreement(t, b); said != "" || checked == 0 {
			t.Errorf("a sound server: %d checks, %q", checked, said)
		}
		lossy := lying.Through(b, lying.LossyIndex)
		if said, _ := disagreement(t, lossy); !strings.Contains(said, "table t: index ") {
			t.Errorf("an index that loses a row: %q", said)
		}
	})
}

// disagreement runs variants of the case, of which one in sixteen is checked. It
// returns the first disagreement, and how many were checked.
func disagreement(t *testing.T, b harness.Backend) (string, int64) {
	t.Helper()
	p, err := harness.NewPool(t.Context(), b, harness.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range 64 {
		text := agreeCase + strings.Repeat("/* tx1 */ SELECT * FROM u;\n", i)
		c, err := corpus.Parse("agree", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		h, err := p.Run(t.Context(), c, harness.At(corpus.RepeatableRead))
		if err != nil {
			t.Fatal(err)
		}
		if h.Disagreement != "" {
			return h.Disagreement, p.Stats().Agreed
		}
	}
	return "", p.Stats().Agreed
}
