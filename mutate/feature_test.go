package mutate

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Inputs that end where the feature lane begins give the cases that they gave
// before there were features: what was stored of them goes on meaning the same.
func TestPlainInputsDecodeAsBefore(t *testing.T) {
	sum := sha256.New()
	for seed := range uint64(200) {
		for _, c := range FromInput(InputOf(seed, PlainLen), nil, Options{Levels: corpus.Levels, NumTx: 2 + int(seed%2), Tables: 1 + int(seed/7%2)}) {
			sum.Write([]byte(print(c)))
		}
	}
	const want = "b74a1261a3abeb332bc1b7622cb65f8e2b3658c7dc306c8c3cd3c0435bb7570e"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("the cases of 200 inputs have the sum %s, before it was %s", got, want)
	}
}

func TestZeroFeatureLaneIsPlain(t *testing.T) {
	for seed := range uint64(200) {
		plain := InputOf(seed, PlainLen)
		if a, b := Generate(NewBytes(plain), Options{}), Generate(NewBytes(append(slices.Clone(plain), make([]byte, featureLen)...)), Options{}); print(a) != print(b) {
			t.Fatalf("seed %d: zeros in the feature lane change\n%s\nto\n%s", seed, print(a), print(b))
		}
	}
}

// The feature lane adds to a case and takes nothing away from its tables.
func TestFeaturesLeaveTheTables(t *testing.T) {
	changed := 0
	for seed := range uint64(300) {
		plain, all := Generate(NewBytes(InputOf(seed, PlainLen)), Options{Tables: 2}), Generate(NewSeeded(seed), Options{Tables: 2})
		if setUp(plain) != setUp(all) {
			t.Fatalf("seed %d: another set-up\n%s\n%s", seed, setUp(plain), setUp(all))
		}
		if print(plain) != print(all) {
			changed++
		}
	}
	within(t, "cases with a feature", share(changed, 300), 0.2, 0.5)
}

// Every feature applies to most drafts that have a table with a key, keeps the
// case valid, and returns a pair of statements of the two sessions.
func TestEveryFeature(t *testing.T) {
	base := parse(t, `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(10));
/* init */ INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b');
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 5 WHERE a = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t WHERE b = 2;
/* tx2 */ COMMIT;
`)
	// Below REPEATABLE READ some are made rarely.
	o := Options{Levels: []corpus.Level{corpus.RepeatableRead, corpus.Serializable}}.withDefaults()
	for n, f := range features {
		made := 0
		for seed := range uint64(50) {
			r := splitMix(seed)
			c := random(&r)
			d := draftOf(base)
			d.chooseLevels(c, o)
			p, ok := f.value(c, d, o, 0, 1)
			if !ok {
				continue
			}
			made++
			if p.a.session != 0 || p.b.session != 1 {
				t.Fatalf("feature %d: the pair %v is not of the two sessions", n, p)
			}
			if k, _ := KindOf(d.stmt(p.b)); !k.Writes() {
				t.Fatalf("feature %d: meets %s", n, corpus.SQL(d.stmt(p.b), corpus.Text))
			}
			if lo, hi, _ := d.sessions[0].body(); p.a.stmt < lo || p.a.stmt >= hi {
				t.Fatalf("feature %d: statement %d outside of %d to %d", n, p.a.stmt, lo, hi)
			}
			if err := checkCase(d.build(serialOrder(d)), corpus.Levels); err != nil {
				t.Fatalf("feature %d: %v", n, err)
			}
		}
		if made < 45 {
			t.Errorf("feature %d applies to %d of 50", n, made)
		}
	}
}

// A savepoint is set before it is gone back to or released, in one transaction.
func TestSavepointsExist(t *testing.T) {
	for seed := range uint64(3000) {
		c := Generate(NewSeeded(seed), Options{})
		set := map[int]map[string]bool{}
		for _, l := range c.Steps {
			var name string
			switch s := l.Stmt.(type) {
			case *ast.SavepointStmt:
				set[l.Session][s.Name] = true
			case *ast.ReleaseSavepointStmt:
				name = s.Name
			case *ast.RollbackStmt:
				name = s.SavepointName
			}
			if stmt.KindOf(l.Stmt).Begins() {
				set[l.Session] = map[string]bool{}
			}
			if name != "" && !set[l.Session][name] {
				t.Fatalf("seed %d: no savepoint %s\n%s", seed, name, print(c))
			}
		}
	}
}
