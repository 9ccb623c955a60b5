package solve

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// A statement that the parser does not read is not asked about where its answer is another one
// at another time, in another session, or by another plan.
func TestRepeatableRaw(t *testing.T) {
	for sql, want := range map[string]bool{
		"/* raw reads=t writes=t */ DELETE FROM t WHERE a = 1 RETURNING a":                                     true,
		"/* raw reads=t writes=t */ DELETE FROM t WHERE a > 1 LIMIT 1 RETURNING a":                             false,
		"/* raw reads=t writes=t */ DELETE FROM t WHERE a > 1 ORDER BY a LIMIT 1 RETURNING a":                  true,
		"/* raw reads=u writes=t */ INSERT INTO t SELECT ROW_NUMBER() OVER (), a FROM u RETURNING a":           false,
		"/* raw reads=u writes=t */ INSERT INTO t SELECT 1, GROUP_CONCAT(a) FROM u RETURNING a":                false,
		"/* raw writes=t */ INSERT INTO t VALUES (NOW()) RETURNING a":                                          false,
		"/* raw writes=t */ INSERT INTO t VALUES (@x) RETURNING a":                                             false,
		"/* raw reads=t */ SELECT t.a, x.n FROM t, LATERAL (SELECT COUNT(*) AS n FROM t AS o) AS x":            true,
		"/* raw reads=t */ SELECT t.a, x.n FROM t, LATERAL (SELECT o.a AS n FROM t AS o LIMIT 1) AS x":         false,
		"/* raw reads=t */ SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY b) FROM t": true,
	} {
		n, err := corpus.ParseStatement(sql)
		if err != nil {
			t.Fatal(err)
		}
		if got := repeatable(n); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}
