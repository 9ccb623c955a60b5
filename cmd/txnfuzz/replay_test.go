//go:build !notidb

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const staleCase = "/* init */ CREATE TABLE t (a INT);\n/* init */ INSERT INTO t VALUES (1, 2);\n/* tx1 */ SELECT * FROM t;\n"

// A case that goes stale among good ones fails the whole replay, with the
// server's message; what its header records, does not.
func TestReplayReportsStaleCases(t *testing.T) {
	t.Parallel()
	stale := writeFile(t, "stale.sql", staleCase)
	got := txnfuzz(t, "replay", "corpus/known/base-G-single.sql", stale, "--levels", "RC")
	if got.code != 3 || !strings.Contains(got.stderr, stale+" on embedded at RC could not be run: init-error: set-up line 2") ||
		!strings.Contains(got.stderr, "Column count doesn't match") {
		t.Errorf("status %d, want 3; standard error: %s", got.code, got.stderr)
	}
	if !strings.Contains(got.stdout, "- ! - -") || !strings.Contains(got.stdout, "set-up failed") {
		t.Errorf("the matrix does not tell:\n%s", got.stdout)
	}
	message := got.stderr[strings.Index(got.stderr, "set-up line 2"):]
	message = strings.TrimSpace(message[:strings.Index(message+"\n", "\n")])
	recorded := writeFile(t, "recorded.sql", "-- verdict (embedded, RC): unknown init-error: "+message+"\n"+staleCase)
	if got := txnfuzz(t, "replay", "corpus/known/base-G-single.sql", recorded, "--levels", "RC"); got.code != 0 {
		t.Errorf("status %d of a failure that is recorded: %s", got.code, got.stderr)
	}
}

func TestReplayReadsBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blocks := "CREATE TABLE t(c1 INT PRIMARY KEY, c2 INT)\nINSERT INTO t VALUES (1, 1)\n\nRR\nBEGIN\nUPDATE t SET c1=2, c2=2\nCOMMIT\n\n" +
		"RR\nBEGIN\nDELETE FROM t\nSELECT * FROM t\nCOMMIT\n\n1-2-1-2-1-2-2\nEND\n\nError: Inconsistent query result\n"
	if err := os.WriteFile(filepath.Join(dir, "tidb33315.txt"), []byte(blocks), 0o644); err != nil {
		t.Fatal(err)
	}
	html := filepath.Join(dir, "matrix.html")
	got := txnfuzz(t, "replay", dir, "corpus/known", "--only", "33315", "--json", "-", "--html", html)
	if got.code != 0 {
		t.Errorf("status %d: %s", got.code, got.stderr)
	}
	var verdicts []string
	for _, r := range decode[[]map[string]any](t, got.stdout) {
		verdicts = append(verdicts, filepath.Base(r["file"].(string))+" "+r["level"].(string)+" "+r["verdict"].(string))
	}
	want := []string{"tidb33315.txt RC ok", "tidb33315.txt RR known", "tidb-33315.sql RC ok", "tidb-33315.sql RR known"}
	if !slices.Equal(verdicts, want) {
		t.Errorf("verdicts %q, want %q", verdicts, want)
	}
	page, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "embedded at RR: known key-change-leaves-old-row") {
		t.Errorf("the page:\n%s", page)
	}
	if !strings.Contains(got.stderr, "embedded: 2 cases, 4 runs in ") {
		t.Errorf("no word of progress: %s", got.stderr)
	}
}
