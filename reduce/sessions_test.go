package reduce

import (
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

const killed = `
-- level: READ COMMITTED

/* init */ CREATE TABLE t (a INT);
/* tx7 */ BEGIN;
/* tx7 */ UPDATE t SET a = 1;
/* tx3 */ UPDATE t SET a = 2;
/* tx5 */ KILL QUERY tx3;
/* tx5 */ KILL tx7;
/* tx7 */ connect;
/* tx7 */ SELECT a FROM t;
/* tx3 */ SELECT a FROM t;
`

func has(want func(stmt.Kind) bool) func(*corpus.Case) bool {
	return func(c *corpus.Case) bool {
		return c.Validate() == nil && slices.ContainsFunc(c.Steps, func(l corpus.Line) bool { return want(stmt.KindOf(l.Stmt)) })
	}
}

func TestReduceSessionEnds(t *testing.T) {
	for _, x := range []struct {
		name string
		want func(stmt.Kind) bool
		to   string
	}{
		{"a connection that is gone", func(k stmt.Kind) bool { return k == stmt.Kill || k == stmt.Disconnect }, "/* tx1 */ disconnect;"},
	} {
		t.Run(x.name, func(t *testing.T) {
			checkReduce(t, killed, has(x.want), "\n-- level: READ COMMITTED\n\n"+x.to+"\n")
		})
	}
}

// TestSimplerEnds lists what is tried in the place of a KILL and of a disconnect.
func TestSimplerEnds(t *testing.T) {
	c, err := corpus.Parse("x", []byte("/* tx2 */ BEGIN;\n/* tx1 */ KILL tx2;\n/* tx1 */ disconnect;\n/* tx1 */ KILL QUERY tx2;\n"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDraft(newLibrary(), c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range endingCandidates(d) {
		to := x.make()
		if to.measure().Compare(d.measure()) >= 0 {
			t.Errorf("%s: no smaller", to.text())
		}
		got = append(got, to.text())
	}
	want := []string{
		"\n/*2*/BEGIN\n/*2*/ROLLBACK\n/*1*/disconnect\n/*1*/KILL QUERY tx2",
		"\n/*2*/BEGIN\n/*2*/disconnect\n/*1*/disconnect\n/*1*/KILL QUERY tx2",
		"\n/*2*/BEGIN\n/*1*/KILL tx2\n/*1*/ROLLBACK\n/*1*/KILL QUERY tx2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestKillEndsTransaction: what waits for a session that is killed does not wait for good.
func TestKillEndsTransaction(t *testing.T) {
	for text, waits := range map[string]bool{
		"/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET a = 1;\n/* tx2 */ UPDATE t SET a = 2;\n/* tx3 */ KILL tx1;":       false,
		"/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET a = 1;\n/* tx2 */ UPDATE t SET a = 2;\n/* tx1 */ disconnect;":     false,
		"/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET a = 1;\n/* tx2 */ UPDATE t SET a = 2;\n/* tx3 */ KILL QUERY tx2;": true,
	} {
		c, err := corpus.Parse("x", []byte("/* init */ CREATE TABLE t (a INT);\n"+text+"\n/* tx3 */ BEGIN;\n"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := newDraft(newLibrary(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.waitsForGood(); got != waits {
			t.Errorf("%s\nwaits for good: %v, want %v", text, got, waits)
		}
	}
}
