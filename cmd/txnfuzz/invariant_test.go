package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/harness"
)

// TestReplayTellsInvariant: what a workload's finding breaks is told, and fails nothing.
func TestReplayTellsInvariant(t *testing.T) {
	t.Parallel()
	const target = "mariadb:11.8"
	there := false
	for _, x := range harness.Available(t.Context()) {
		there = there || x.Available && x.Name == target
	}
	if !there {
		if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
			t.Fatalf("TXNFUZZ_REQUIRE_SERVERS is set and %s is not there", target)
		}
		return
	}
	dir := t.TempDir()
	for name, header := range map[string]string{"broken": "-- invariant: positive: SELECT a FROM t WHERE a < 0\n", "kept": "-- invariant: few: SELECT a FROM t WHERE a > 9\n", "none": ""} {
		text := "-- level: RC\n" + header + "\n/* init */ CREATE TABLE t (a INT);\n/* init */ INSERT INTO t VALUES (1);\n/* tx1 */ UPDATE t SET a = a - 3;\n"
		if err := os.WriteFile(filepath.Join(dir, name+".sql"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"broken.sql": "\ninvariant positive: broken (its SELECT gives (\"-2\"))\n", "kept.sql": "\ninvariant few: kept\n"} {
		if got := txnfuzz(t, "replay", filepath.Join(dir, name), "--target", target); got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: status %d\n%s%s", name, got.code, got.stdout, got.stderr)
		}
	}
	if got := txnfuzz(t, "replay", dir, "--target", target); got.code != 0 || !strings.Contains(got.stdout, "broken.sql on "+target+" at RC: invariant positive: broken") {
		t.Errorf("status %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	got := txnfuzz(t, "replay", dir, "--target", target, "--json", "-")
	for _, r := range decode[[]findings.Replayed](t, got.stdout) {
		name, k := filepath.Base(r.File), r.Invariant
		if r.Verdict != "ok" || (k == nil) != (name == "none.sql") || k != nil && (k.Broken != (name == "broken.sql") || k.NotKnown != "") {
			t.Errorf("%s: %s, %+v", name, r.Verdict, k)
		}
	}
}
