package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyNamesTransactions: a name in --only that no transaction has is wrong usage, told
// before any server starts.
func TestOnlyNamesTransactions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.workload")
	if err := os.WriteFile(file, []byte("/* schema */ CREATE TABLE t (a INT);\n/* transaction plug_in () */ UPDATE t SET a = 1;\n/* transaction shrink () */ UPDATE t SET a = 2;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for only, want := range map[string]string{
		"plug_in,shrnk": `w.workload: --only: unknown transaction "shrnk" (did you mean "shrink"?); want some of plug_in, shrink` + "\n",
		"elsewhere":     `w.workload: --only: unknown transaction "elsewhere"; want some of plug_in, shrink` + "\n",
	} {
		got := txnfuzz(t, "workload", file, "--only", only, "--target", "root@tcp(127.0.0.1:1)/")
		if got.code != exitUsage || got.stdout != "" || !strings.HasSuffix(got.stderr, want) {
			t.Errorf("--only %s: status %d\n%s%s", only, got.code, got.stdout, got.stderr)
		}
	}
}
