package fuzz

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rowversions"
)

const versionsTold = `-- row-versions: told
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ CREATE VIEW v AS SELECT a FROM t;
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 10 WHERE a = 1;
/* tx2 */ SELECT b FROM t AS x ORDER BY a;
/* tx1 */ SAVEPOINT s;
/* tx1 */ INSERT IGNORE INTO t VALUES (3, 30), (2, 20);
/* tx1 */ DELETE FROM t WHERE a = 2;
/* tx1 */ SELECT * FROM t ORDER BY a FOR UPDATE;
/* tx1 */ ROLLBACK TO SAVEPOINT s;
/* tx1 */ SELECT a, b FROM t ORDER BY a;
/* tx1 */ COMMIT;
/* tx2 */ SELECT a + b FROM t ORDER BY a;
/* tx2 */ SELECT COUNT(*) FROM t;
/* tx2 */ SELECT a FROM v;
/* tx2 */ SELECT 1 FROM t JOIN t AS y ON t.a = y.a;`

// versionsMet is what the steps of versionsTold meet: p and q are the rows of the set-up, 2 the version that step 2 made.
var versionsMet = map[string]string{
	"postgres:18": "2 p>2; 3 p q; 5 >5; 6 q; 7 2 5; 9 2 q; 11 2 q",
	"postgres:12": "2 >2; 3 p q; 5 >5; 6 q; 7 2 5; 9 2 q; 11 2 q",
}

// TestRowVersionsAreTold holds what versions statements tell against what they meet, and that their answers are those of
// statements that tell none.
func TestRowVersionsAreTold(t *testing.T) {
	for _, name := range targettest.Among(t, "postgres:18", "postgres:12") {
		on := targettest.Open(t, name, target.Options{Clean: true})
		c := targettest.Case(t, versionsTold)
		levels := map[int]corpus.Level{1: corpus.ReadCommitted, 2: corpus.ReadCommitted}
		r := on.Judge(t.Context(), c, levels)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if got := met(r.History); got != versionsMet[name] {
			t.Errorf("%s: %s, want %s", name, got, versionsMet[name])
		}
		c.SetVersions(false)
		plain := on.Judge(t.Context(), c, levels)
		if plain.Err != nil {
			t.Fatal(plain.Err)
		}
		if got := met(plain.History); got != "" {
			t.Errorf("%s: told without being asked: %s", name, got)
		}
		for i := range plain.History.Stmts {
			want, got := fmt.Sprintf("%+v", plain.History.Stmts[i].Result), fmt.Sprintf("%+v", r.History.Stmts[i].Result)
			if got != want {
				t.Errorf("%s, step %d: %s, want %s", name, i+1, got, want)
			}
		}
	}
}

// met tells the versions of a history as versionsMet does.
func met(h *history.History) string {
	names := map[string]string{}
	rows := 0
	var out []string
	for i, st := range h.Stmts {
		step := fmt.Sprint(i + 1)
		line := step
		for _, v := range st.Versions {
			if v.Found != "" && names[v.Found] == "" {
				names[v.Found] = string(rune('p' + rows))
				rows++
			}
			if v.Made != "" {
				names[v.Made] = step
			}
			line += " " + names[v.Found]
			if v.Made != "" {
				line += ">" + names[v.Made]
			}
		}
		if line != step {
			out = append(out, line)
		}
	}
	return strings.Join(out, "; ")
}

// TestAlteredRowVersions has statements of random cases find the version before or behind the one that they found: the
// values stay as they are, and yet it is noticed.
func TestAlteredRowVersions(t *testing.T) {
	const cases = 300
	for _, name := range targettest.Among(t, "postgres:18") {
		b, err := harness.Open(t.Context(), name, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		pool, err := harness.NewPool(t.Context(), b, harness.PoolOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pool.Close() })
		for _, level := range []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable} {
			altered, noticed := 0, 0
			o := mutate.Options{DBMS: b.Server().DBMS, Levels: []corpus.Level{level}}
			for n, left := uint64(0), cases; left > 0; n++ {
				for _, c := range campaign.Sayable(b.Server().DBMS, mutate.FromInput(mutate.InputOf(n, mutate.InputLen), nil, o)) {
					left--
					c.SetVersions(true)
					h, err := pool.Run(t.Context(), c, harness.Levels{By: target.LevelsFor(c, level)})
					if err != nil {
						t.Fatal(err)
					}
					if d := rowversions.Check(c, h); d != nil {
						t.Fatalf("%s: %+v\n%s", level, d, corpus.Print(c, corpus.Text))
					}
					if d := rowversions.Cycle(c, h); d != nil {
						t.Fatalf("%s: %+v\n%s", level, d, corpus.Print(c, corpus.Text))
					}
					a, k := alter(c, h)
					altered, noticed = altered+a, noticed+k
				}
			}
			t.Logf("%s, %s: %d of %d noticed", name, level, noticed, altered)
			if altered < cases/2 || noticed*100 < altered*95 {
				t.Errorf("%s, %s: %d of %d noticed, want 95 %% of at least %d", name, level, noticed, altered, cases/2)
			}
		}
	}
}

// alter alters each version that was found to its neighbours, one at a time, and counts how often that is noticed.
func alter(c *corpus.Case, h *history.History) (altered, noticed int) {
	neighbours := map[string][]string{}
	for _, st := range h.Stmts {
		for _, v := range st.Versions {
			if v.Found != "" && v.Made != "" {
				neighbours[v.Found] = append(neighbours[v.Found], v.Made)
				neighbours[v.Made] = append(neighbours[v.Made], v.Found)
			}
		}
	}
	for i := range h.Stmts {
		versions := h.Stmts[i].Versions
		for k, v := range versions {
			if v.Found == "" {
				continue
			}
			for _, other := range neighbours[v.Found] {
				if other == v.Made {
					continue
				}
				lying := *h
				lying.Stmts = slices.Clone(h.Stmts)
				lying.Stmts[i].Versions = slices.Clone(versions)
				lying.Stmts[i].Versions[k].Found = other
				altered++
				if rowversions.Check(c, &lying) != nil {
					noticed++
				}
			}
		}
	}
	return altered, noticed
}
