package target

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// A read that the parser does not read is judged by what the server answers on the rows
// that it should have seen; one from a wrong snapshot is found out.
func TestRawReads(t *testing.T) {
	raw := map[string]string{
		"mysql:9.7":    `/* raw reads=t */ SELECT t.id, x.c FROM t, LATERAL (SELECT t.n + 1 AS c) AS x`,
		"mariadb:11.8": `/* raw reads=t */ SELECT t.id, j.k FROM t, JSON_TABLE(CONCAT('[', t.n, ']'), '$[*]' COLUMNS (k INT PATH '$')) AS j`,
		"mariadb:10.5": `/* raw reads=t */ SELECT id, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY n) OVER (PARTITION BY id % 2) FROM t`,
	}
	for _, name := range serversAmong(t, "mysql:9.7", "mariadb:11.8", "mariadb:10.5") {
		b, err := harness.Open(t.Context(), name, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			lie    lying.Lie
			around string
			levels []corpus.Level
		}{
			{lying.Honest, amidUnknownSQL, corpus.Levels[:3]},
			{lying.Honest, behindUnknownSQL, corpus.Levels[:3]},
			{lieNamed(t, "repeatable-read-served-as-read-committed"), behindUnknownSQL, []corpus.Level{corpus.RepeatableRead}},
		} {
			liar := lying.Through(b, x.lie)
			pool, err := harness.NewPool(t.Context(), liar, harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			target := &Target{Name: name, backend: liar, server: b.Server(), pool: pool}
			c := parseCase(t, strings.Replace(x.around, "%", raw[name], 1))
			for _, level := range x.levels {
				r := target.Judge(t.Context(), c, LevelsFor(c, level))
				v := &r.Verdict
				honest := x.lie.Name == lying.Honest.Name
				if honest && (v.Outcome != oracle.OK || v.Asked == 0) || !honest && (v.Outcome != oracle.Violation || v.Kind != "non-repeatable-read" && v.Kind != "wrong-rows") {
					t.Errorf("%s, %s at %s: %s %s at %d (%s; expected %s, actual %s)", name, x.lie.Name, level, v.Outcome, v.Kind, v.Stmt, v.Reason, v.Expected, v.Actual)
				}
			}
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The documentation's example is run and judged.
func TestDocumentedRawCase(t *testing.T) {
	for _, name := range serversAmong(t, "mysql:9.7") {
		target, err := Open(t.Context(), name, Options{Clean: true})
		if err != nil {
			t.Fatal(err)
		}
		c := parseCase(t, docBlocks(t)["raw"])
		for _, level := range []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead} {
			if v := target.Judge(t.Context(), c, LevelsFor(c, level)).Verdict; v.Outcome != oracle.OK || v.Asked == 0 {
				t.Errorf("%s: %s, %d answers of the server (%s)", level, v.Outcome, v.Asked, v.Reason)
			}
		}
		if err := target.Close(); err != nil {
			t.Error(err)
		}
	}
}
