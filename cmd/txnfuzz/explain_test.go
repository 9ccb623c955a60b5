//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExplain: what a run of a workload told of a finding is told again without a server, its change applies to the
// workload's file, and show has a word of it. Without what lies beside the file, the case is run again.
func TestExplain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.workload")
	text := `-- A shop.
/* schema */ CREATE TABLE stock (id INT PRIMARY KEY, n INT NOT NULL); INSERT INTO stock VALUES (1, 1);
/* transaction sell () */
SELECT n FROM stock WHERE id = 1 INTO :x; -- how many
/* unless :x >= 1: rollback */
UPDATE stock SET n = n - 1 WHERE id = 1;
/* invariant enough */ SELECT id FROM stock WHERE n < 0;
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "found")
	target := serverTarget(t)
	got := txnfuzz(t, "workload", file, "--target", target, "--levels", "RC", "--txns", "2", "--seed", "1", "--cases", "60", "--tries", "30", "--explain", "8s", "--out", out, "--snippets", "go")
	if got.code != exitFound || !strings.Contains(got.stdout, "1 red cell, 1 cause (") || !strings.Contains(got.stdout, "func sell(ctx context.Context, db *sql.DB) error {") {
		t.Fatalf("status %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	saved, err := filepath.Glob(filepath.Join(out, "*-enough-*.sql"))
	if err != nil || len(saved) != 1 {
		t.Fatal(saved, err)
	}
	const title, advice = "lost update: sell reads stock (line 4), which another sell then changes", "Lock what sell reads from stock in line 4 (FOR UPDATE): not seen in "
	got = txnfuzz(t, "workload", "explain", saved[0])
	for _, want := range []string{"shop.workload on " + target, "cause 1 of 1\n\n" + title, advice, "    tx2  BEGIN\n", "+SELECT n FROM stock WHERE id = 1 INTO :x FOR UPDATE; -- how many\n", "spring (https://docs.spring.io/", "def sell()", "ActiveRecord", "database/sql"} {
		if got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("status %d, no %q\n%s%s", got.code, want, got.stdout, got.stderr)
		}
	}
	if got := txnfuzz(t, "workload", "explain", saved[0], "--snippets", "django"); got.code != 0 || !strings.Contains(got.stdout, "transaction.atomic()") || strings.Contains(got.stdout, "database/sql") {
		t.Errorf("status %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := txnfuzz(t, "show", saved[0], "--target", target); got.code != 0 || !strings.Contains(got.stdout, "\n"+title+". "+advice) || !strings.HasSuffix(got.stdout, "\nmore: txnfuzz workload explain "+saved[0]+"\n") {
		t.Errorf("status %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	beside := filepath.Join(out, "shop-mended-rc-mariadb.diff")
	if printed, err := exec.Command("patch", "--dry-run", file, beside).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, printed)
	}
	diff := txnfuzz(t, "workload", "explain", saved[0], "--diff")
	patch := exec.Command("patch", "-p0")
	patch.Dir, patch.Stdin = dir, strings.NewReader(diff.stdout)
	if printed, err := patch.CombinedOutput(); err != nil {
		t.Errorf("%v: %s\n%s", err, printed, diff.stdout)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != strings.Replace(text, " INTO :x;", " INTO :x FOR UPDATE;", 1) {
		t.Errorf("%v\n%s", err, now)
	}
	other := filepath.Join(dir, "other.sql")
	if err := os.WriteFile(other, []byte("-- level: RC\n\n/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT a FROM t;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{saved[0], "--snippets", "djang"}, `unknown framework "djang" (did you mean "django"?)`},
		{[]string{other}, "is no finding of txnfuzz workload: see txnfuzz show"},
		{[]string{file}, ""},
	} {
		if got := txnfuzz(t, append([]string{"workload", "explain"}, x.args...)...); got.code != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, x.want) {
			t.Errorf("%v: status %d\n%s%s", x.args, got.code, got.stdout, got.stderr)
		}
	}
	if err := os.Remove(strings.TrimSuffix(saved[0], ".sql") + ".explain.json"); err != nil {
		t.Fatal(err)
	}
	got = txnfuzz(t, "workload", "explain", saved[0])
	if got.code != 0 || !strings.HasPrefix(got.stdout, "no explanation lies beside this file; its header says\n  workload: shop.workload\n") ||
		!strings.Contains(got.stdout, "  not seen with FOR UPDATE on: line 4, sell: ") || !strings.Contains(got.stdout, "│ step │") {
		t.Errorf("status %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := txnfuzz(t, "workload", "explain", saved[0], "--diff"); got.code != exitUsage || got.stdout != "" {
		t.Errorf("status %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
