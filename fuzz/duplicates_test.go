package fuzz

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
)

func TestDuplicates(t *testing.T) {
	stored := func(path, text string) corpus.Stored {
		return corpus.Stored{Path: path, Case: targettest.Case(t, text)}
	}
	got := telling.Duplicates([]corpus.Stored{
		stored("a", "-- source: one\n/* tx1 */ SELECT 1;"), stored("b", "/* tx1 */ select 1; -- the same"), stored("c", "/* tx2 */ SELECT 1;"),
		stored("d", "-- target: mariadb:11.8\n-- fingerprint: x/RR\n/* tx1 */ SELECT 2;"),
		stored("e", "-- target: mariadb:10.5\n-- fingerprint: x/RR\n/* tx1 */ SELECT 3;"),
		stored("f", "-- target: mysql:9.7\n-- fingerprint: x/RR\n/* tx1 */ SELECT 4;"),
	})
	want := "b has the statements of a|e has the fingerprint of d: x/RR"
	if strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := telling.Duplicates(storedCases(t)); len(got) > 0 {
		t.Errorf("in the corpus: %q", got)
	}
}
