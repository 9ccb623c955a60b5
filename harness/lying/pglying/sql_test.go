package pglying

import (
	"slices"
	"testing"
)

func TestHarmless(t *testing.T) {
	for _, x := range []struct {
		sql, query string
		counts     bool
	}{
		{"UPDATE t SET a = 1, b = b + 1 WHERE a = 2", "SELECT COUNT(*) FROM t WHERE a = 2", true},
		{"UPDATE t SET a = 1", "SELECT COUNT(*) FROM t", true},
		{"DELETE FROM t", "SELECT COUNT(*) FROM t", true},
		{"DELETE FROM t WHERE a = 2;", "SELECT COUNT(*) FROM t WHERE a = 2", true},
		{"SELECT a FROM t WHERE a = 2 FOR SHARE NOWAIT", "SELECT a FROM t WHERE a = 2", false},
		{"SELECT a FROM t", "", false},
		{"INSERT INTO t VALUES (1)", "", false},
		{"UPDATE t SET a = (SELECT 1 FROM u WHERE b = 1) WHERE a = 2", "", false},
	} {
		if query, counts := harmless(x.sql); query != x.query || counts != x.counts {
			t.Errorf("%s: %q, %v; want %q, %v", x.sql, query, counts, x.query, x.counts)
		}
	}
}

// TestWithoutRecheck: a constant stays where it is, since a query of its own would make text of it.
func TestWithoutRecheck(t *testing.T) {
	for sql, want := range map[string]string{
		"UPDATE t SET b = b + 1, c = 'x, (' WHERE a = 2": "UPDATE t SET b = txnfuzz_old.v0, c = 'x, (' FROM " +
			"(SELECT k, b + 1 AS v0 FROM t WHERE a = 2 OFFSET 0) txnfuzz_old WHERE t.k = txnfuzz_old.k",
		"DELETE FROM t WHERE a = 2": "DELETE FROM t USING " +
			"(SELECT k FROM t WHERE a = 2 OFFSET 0) txnfuzz_old WHERE t.k = txnfuzz_old.k",
	} {
		if got := withoutRecheck(sql, []string{"k"}); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", sql, got, want)
		}
	}
}

func TestTopLevel(t *testing.T) {
	got := topLevel("a = f(b, 1), b = 'x'', (', c = NULL")
	if want := []string{"a = f(b, 1)", "b = 'x'', ('", "c = NULL"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPlain(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT * FROM t": true, "SELECT * FROM t FOR UPDATE": false, "SELECT 1": false, "DELETE FROM t": false,
		"SELECT * FROM t WHERE a = ' FOR UPDATE' OR b = 1": true,
	} {
		if plain(sql) != want {
			t.Errorf("%s: %v", sql, !want)
		}
	}
}
