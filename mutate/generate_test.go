package mutate

import (
	"bytes"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const simplest = `-- level: READ COMMITTED

/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
`

func TestZeroBytesGiveTheSimplestCase(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, InputLen, 5000} {
		if got := print(Generate(NewBytes(make([]byte, n)), Options{})); got != simplest {
			t.Errorf("%d zero bytes:\n%s", n, got)
		}
	}
}

func TestSameInputSameCase(t *testing.T) {
	entries := published(t)
	for seed := range uint64(300) {
		in := InputOf(seed, InputLen)
		a, b := FromInput(in, entries, Options{Orders: 3}), FromInput(in, entries, Options{Orders: 3})
		if len(a) != len(b) {
			t.Fatalf("seed %d: %d and %d cases", seed, len(a), len(b))
		}
		for i := range a {
			if print(a[i]) != print(b[i]) {
				t.Fatalf("seed %d:\n%s\n%s", seed, print(a[i]), print(b[i]))
			}
		}
	}
}

// variants are option sets that the properties are checked under.
var variants = []Options{
	{},
	{NumTx: 3, Tables: 2, Levels: corpus.Levels, Orders: 4, AllTypes: true},
	{DBMS: history.TiDB, Conflict: CTC},
	{MaxStatements: 1, MaxRows: 2, Conflict: PSF},
	{MaxStatements: 3, NumTx: 3, Conflict: FSF, DBMS: history.MariaDB, Levels: []corpus.Level{corpus.Serializable}},
}

func TestEveryInputGivesValidCases(t *testing.T) {
	n := uint64(600)
	if testing.Short() {
		n = 200
	}
	for seed := range n {
		for i, o := range variants {
			for _, c := range FromInput(InputOf(seed, int(seed)%(InputLen+200)), nil, o) {
				if err := checkCase(c, o.withDefaults().Levels); err != nil {
					t.Fatalf("seed %d, options %d: %v\n%s", seed, i, err, print(c))
				}
			}
		}
	}
}

func TestLimitsAreKept(t *testing.T) {
	o := Options{MaxStatements: 3, MaxRows: 2, NumTx: 3}
	for seed := range uint64(500) {
		c := Generate(NewSeeded(seed), o)
		d := draftOf(c)
		if len(d.sessions) != 3 {
			t.Fatalf("seed %d: %d sessions", seed, len(d.sessions))
		}
		for i := range d.sessions {
			if lo, hi, _ := d.sessions[i].body(); hi-lo > 3 {
				t.Errorf("seed %d: %d statements in a transaction\n%s", seed, hi-lo, print(c))
			}
		}
		for _, tab := range d.tables {
			if len(tab.rows) > 2 {
				t.Errorf("seed %d: %d rows", seed, len(tab.rows))
			}
		}
	}
}

// FuzzGenerate decodes arbitrary bytes.
func FuzzGenerate(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(bytes.Repeat([]byte{255}, InputLen))
	for seed := range uint64(20) {
		f.Add(InputOf(seed, InputLen))
		f.Add(WideInput(seed, 3+int(seed%2)))
	}
	entries := published(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, o := range variants {
			c := Generate(NewBytes(data), o)
			if err := checkCase(c, o.withDefaults().Levels); err != nil {
				t.Fatalf("%v\n%s", err, print(c))
			}
			for _, c := range FromInput(data, entries, o) {
				if err := c.Validate(); err != nil {
					t.Fatalf("%v\n%s", err, print(c))
				}
				if again, err := corpus.Parse("printed", corpus.Print(c, corpus.Text)); err != nil || !again.Equal(c) {
					t.Fatalf("does not parse back: %v\n%s", err, print(c))
				}
			}
		}
	})
}
