//go:build !notidb

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCorpusVerify(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "corpus", "known", "tidb-33315.sql"))
	if err != nil {
		t.Fatal(err)
	}
	good := writeFile(t, "good.sql", string(text))
	if got := txnfuzz(t, "corpus", "verify", good); got.code != 0 || !strings.Contains(got.stdout, "1 case read, 1 run; 0 complaints") {
		t.Errorf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	changed := writeFile(t, "changed.sql", strings.ReplaceAll(string(text), "known key-change-leaves-old-row", "ok"))
	got := txnfuzz(t, "corpus", "verify", good, changed)
	if got.code != 1 {
		t.Errorf("status %d, want 1: %s", got.code, got.stderr)
	}
	inOrder(t, got.stdout, changed+" has the statements of "+good, changed+" on embedded at RR: the verdict is not the one", "recorded: ok\n",
		"now:      known key-change-leaves-old-row", "2 cases read, 2 run; 2 complaints")
	malformed := writeFile(t, "malformed.sql", "/* tx1 */ SELEC 1;\n")
	if got := txnfuzz(t, "corpus", "verify", malformed); got.code != 2 || !strings.Contains(got.stderr, malformed+":1:11:") {
		t.Errorf("malformed, status %d: %s", got.code, got.stderr)
	}
}

// A seed that is made of a stored case decodes to that case, or one near it.
func TestCorpusDecode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := txnfuzz(t, "corpus", "seed", "corpus/known/tidb-33315.sql", "--out", dir); got.code != 0 {
		t.Fatalf("status %d: %s", got.code, got.stderr)
	}
	got := txnfuzz(t, "corpus", "decode", dir)
	if got.code != 0 {
		t.Errorf("status %d: %s", got.code, got.stderr)
	}
	inOrder(t, got.stdout, "-- input: "+filepath.Join(dir, "tidb-33315")+", case 1 of ", "/* init */ CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);", "/* tx1 */", "/* tx2 */")
	out := filepath.Join(dir, "cases")
	if got := txnfuzz(t, "corpus", "decode", filepath.Join(dir, "tidb-33315"), "--out", out); got.code != 0 || !strings.Contains(got.stdout, filepath.Join(out, "tidb-33315-1.sql")) {
		t.Errorf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := txnfuzz(t, "corpus", "decode", "corpus/known"); got.code != 2 || !strings.Contains(got.stderr, ".sql:1: want \"go test fuzz v1\"") {
		t.Errorf("no inputs, status %d: %s", got.code, got.stderr)
	}
}
