//go:build linux

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

// TestReportOfWhatWasFoundBefore: a file's mistake that shows in the middle of a campaign has
// status 2, and the report of what was found until then is written.
func TestReportOfWhatWasFoundBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, page := filepath.Join(dir, "w.workload"), filepath.Join(dir, "w.html")
	text := `/* schema */ CREATE TABLE stock (id INT PRIMARY KEY, n INT NOT NULL); INSERT INTO stock VALUES (1, 1);
/* transaction sell () */ SELECT n FROM stock WHERE id = 1 INTO :x;
/* unless :x >= 1: rollback */
UPDATE stock SET n = n - 1 WHERE id = 1;
/* transaction list (:n one of (` + strings.Repeat("1, ", 90) + `7)) */ SELECT n FROM stock ORDER BY :n;
/* invariant enough */ SELECT id FROM stock WHERE n < 0;`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := txnfuzz(t, "workload", file, "--target", serverTarget(t), "--levels", "RC", "--txns", "2", "--seed", "1", "--cases", "1000000", "--out", dir, "--html", page)
	if got.code != exitUsage || !strings.Contains(got.stderr, "w.workload:5:") || !strings.Contains(got.stderr, "refuses it with error 1054") || !strings.Contains(got.stdout, "isolation anomaly at RC: invariant enough") {
		t.Errorf("status %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if _, err := os.Stat(page); err != nil {
		t.Error(err)
	}
}
