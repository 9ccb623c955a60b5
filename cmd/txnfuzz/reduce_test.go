package main

import (
	"path/filepath"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
)

// TestReducedShowsAlone: which transaction of a deadlock InnoDB chooses depends on what earlier cases left in the
// tables. What is left of a case must show without them.
func TestReducedShowsAlone(t *testing.T) {
	t.Parallel()
	const mysql = "mysql:9.7"
	if len(targettest.Among(t, mysql)) == 0 {
		t.Skip(mysql + " is not installed")
	}
	out := filepath.Join(t.TempDir(), "small.sql")
	got := txnfuzz(t, "reduce", "cmd/txnfuzz/testdata/delete-told-ok.sql", "--target", mysql, "--out", out)
	if got.code != 0 {
		t.Fatal(got)
	}
	c, err := corpus.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if rate, _ := c.Get("reproduced"); rate != "10/10" || len(c.Steps) > 10 {
		t.Errorf("reproduced %q, %d steps", rate, len(c.Steps))
	}
}
