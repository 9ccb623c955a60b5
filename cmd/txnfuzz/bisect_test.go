package main

import (
	"os"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
)

// TestBisect: a bug of PostgreSQL is told apart by version, and the result stands in the file; a build that is not there
// does not keep the others from telling.
func TestBisect(t *testing.T) {
	t.Parallel()
	if len(targettest.Among(t, "postgres:18", "postgres:10")) < 2 {
		t.Skip("postgres:18 and postgres:10 are not both installed")
	}
	const found = "corpus/found/postgres-recheck-loses-union-row.sql"
	text, err := os.ReadFile("../../" + found)
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, "found.sql", string(text))
	args := []string{"bisect", file, "--builds", "postgres:18", "--builds", "postgres:10", "--builds", "postgres:9", "--write", "--json", "-"}
	got := txnfuzz(t, args...)
	list := decode[[]findings.OnBuild](t, got.stdout)
	want := []findings.Presence{findings.Untestable, findings.Absent, findings.Shows}
	if got.code != 0 || len(list) != len(want) {
		t.Fatalf("status %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
	for i := range list {
		if list[i].Presence != want[i] {
			t.Errorf("%s: %s (%s)", list[i].Build, list[i].Presence, list[i].Said)
		}
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "; absent in 10.23; shows in 18.") {
		t.Errorf("%v\n%s", err, text)
	}
	if got := txnfuzz(t, "bisect", file, "--builds", "postgres:9"); got.code != 3 || !strings.Contains(got.stderr, "no build could tell") {
		t.Errorf("status %d: %s", got.code, got.stderr)
	}
}
