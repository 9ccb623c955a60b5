package target

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

const (
	rawTables = `/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT, INDEX(n));
/* init */ CREATE TABLE u (id INT PRIMARY KEY, m INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
/* init */ INSERT INTO u VALUES (1, 100), (2, 200);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
`
	// amidRaw has the raw statement wait, or pass over what another holds.
	amidRaw = rawTables + `/* tx1 */ UPDATE t SET n = n + 1 WHERE id = 1;
/* tx2 */ %;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
`
	// behindRaw has it meet what another has committed since its snapshot.
	behindRaw = rawTables + `/* tx2 */ SELECT * FROM u;
/* tx1 */ UPDATE t SET n = n + 1 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ %;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM u;
`
	// aheadOfOthers has others meet what it has written and not committed.
	aheadOfOthers = rawTables + `/* tx1 */ SELECT * FROM t;
/* tx2 */ %;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET n = n + 5 WHERE id <= 2;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
`
)

// A statement that the parser does not read and that writes or locks is judged by what the
// server makes of the rows that are newest.
func TestRawWrites(t *testing.T) {
	mysql := []string{
		`/* raw reads=t writes=t */ UPDATE t, LATERAL (SELECT t.n + 1 AS c) AS x SET t.n = x.c WHERE t.id = 1`,
		`/* raw reads=t writes=t */ UPDATE t, LATERAL (SELECT t.n + 1 AS c) AS x SET t.n = x.c WHERE t.id > 1`,
		`/* raw reads=t writes=u */ INSERT INTO u SELECT t.id + 5, x.c FROM t, LATERAL (SELECT t.n + 1 AS c) AS x`,
		`/* raw reads=t,u writes=t */ DELETE t FROM t, LATERAL (SELECT m FROM u WHERE u.id = t.id) AS x WHERE x.m = 100`,
		`/* raw reads=t locks=exclusive */ SELECT t.id, x.c FROM t, LATERAL (SELECT t.n + 1 AS c) AS x FOR UPDATE`,
	}
	maria := []string{
		`/* raw writes=t reads=t */ DELETE FROM t WHERE id = 1 RETURNING n`,
		`/* raw writes=t reads=t */ DELETE FROM t WHERE n > 15 RETURNING id, n`,
		`/* raw writes=t */ INSERT INTO t VALUES (7, 70) RETURNING id, n`,
		`/* raw writes=t */ REPLACE INTO t VALUES (1, 70) RETURNING id, n`,
		`/* raw reads=t,u writes=u */ INSERT INTO u SELECT id + 5, n FROM t RETURNING id, m`,
	}
	statements := map[string][]string{"mysql:9.7": mysql, "mariadb:11.8": maria, "mariadb:10.5": maria}
	for _, name := range serversAmong(t, "mysql:9.7", "mariadb:11.8", "mariadb:10.5") {
		b, err := harness.Open(t.Context(), name, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		judged, all := 0, 0
		for _, x := range []struct {
			lie     lying.Lie
			arounds []string
			levels  []corpus.Level
			counts  bool // a lie that is told of statements that answer with a count only
		}{
			{lying.Honest, []string{amidRaw, behindRaw, aheadOfOthers}, corpus.Levels, false},
			{lieNamed(t, "commit-is-lost"), []string{behindRaw, aheadOfOthers}, corpus.Levels[1:3], false},
			{lieNamed(t, "writes-committed-at-once"), []string{aheadOfOthers}, corpus.Levels[1:3], true},
			{lieNamed(t, "affected-rows-miscounted"), []string{behindRaw}, corpus.Levels[1:3], true},
		} {
			if x.counts && name != "mysql:9.7" {
				continue
			}
			liar := lying.Through(b, x.lie)
			pool, err := harness.NewPool(t.Context(), liar, harness.PoolOptions{})
			if err != nil {
				t.Fatal(err)
			}
			target := &Target{Name: name, backend: liar, server: b.Server(), pool: pool}
			honest, found, lied := x.lie.Name == lying.Honest.Name, 0, 0
			for _, sql := range statements[name] {
				for _, around := range x.arounds {
					c := parseCase(t, strings.Replace(around, "%", sql, 1))
					for _, level := range x.levels {
						told := liar.Told()
						v := target.Judge(t.Context(), c, LevelsFor(c, level)).Verdict
						if liar.Told() > told {
							lied++
						}
						switch {
						case honest && v.Outcome == oracle.Violation, v.Reason == judging.ReasonSolver:
							t.Errorf("%s, %s at %s: %s %s at %d (%s; expected %s, actual %s)\n%s", name, x.lie.Name, level, v.Outcome, v.Kind, v.Stmt, v.Reason, v.Expected, v.Actual, corpus.Print(c, corpus.Text))
						case honest:
							all++
							if v.Outcome != oracle.Unknown && v.Asked > 0 {
								judged++
							}
						case v.Outcome == oracle.Violation:
							found++
						}
					}
				}
			}
			if !honest && (lied == 0 || found*2 < lied) {
				t.Errorf("%s, %s: %d of %d found", name, x.lie.Name, found, lied)
			}
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
		}
		t.Logf("%s: %d of %d judged", name, judged, all)
		if judged*10 < all*8 {
			t.Errorf("%s: %d of %d judged", name, judged, all)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What a raw statement inserts of a query is asked without the tables' keys, too, as which row
// comes first may be the plan's affair; rows that it gives itself need their keys.
func TestRawInsertsAreAskedWithoutKeys(t *testing.T) {
	for sql, want := range map[string]bool{
		"/* raw writes=t */ INSERT INTO t VALUES (1) RETURNING a":              true,
		"/* raw writes=t */ REPLACE INTO t VALUES (1) RETURNING a":             true,
		"/* raw reads=u writes=t */ INSERT INTO t SELECT a FROM u RETURNING a": false,
		"/* raw reads=u writes=t */ INSERT INTO t TABLE u RETURNING a":         false,
		"/* raw reads=t writes=t */ DELETE FROM t WHERE a = 1 RETURNING a":     false,
		"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 2":               true,
		"INSERT INTO t VALUES (1)":                                             false,
	} {
		if got := needsKeys(&history.Question{SQL: sql}); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}
