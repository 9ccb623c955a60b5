package campaign

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
)

func TestMergeTakesWhatIsNew(t *testing.T) {
	into, other := t.TempDir(), t.TempDir()
	keep := func(dir string, codes ...uint16) {
		g := newGuide(t, dir, onFake)
		for _, code := range codes {
			if err := g.note(seen(t, code), &inputPlan{data: []byte{byte(code)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	keep(into, 1213)
	keep(other, 1213, 1205, 1020)
	for i, want := range []findings.Merged{{Inputs: 3, Taken: 2}, {Inputs: 3}} {
		got, err := findings.Merge(into, []string{other})
		if err != nil || got != want {
			t.Fatalf("merge %d: %+v, %v; want %+v", i, got, err, want)
		}
	}
	if g := newGuide(t, into, onFake); len(g.entries) != 3 || len(g.waiting) != 0 {
		t.Errorf("%d entries, %d waiting after the merge", len(g.entries), len(g.waiting))
	}
	// The same behaviour of another server is new.
	foreign := newGuide(t, other, "mysql 9.7.0")
	if err := foreign.note(seen(t, 1213), &inputPlan{}); err != nil {
		t.Fatal(err)
	}
	if got, err := findings.Merge(into, []string{other}); err != nil || got.Taken != 1 {
		t.Errorf("%+v, %v; want 1 taken", got, err)
	}
}

const largerCase = `-- fingerprint: f1
/* init */ CREATE TABLE t (a INT, b INT);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`

const smallerCase = `-- fingerprint: f1
/* init */ CREATE TABLE t (a INT);
/* tx1 */ UPDATE t SET a = 1;
`

func TestMergeKeepsTheSmallestFinding(t *testing.T) {
	shards := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	write := func(dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(shards[0], "finding.sql", largerCase)
	write(shards[0], "finding.json", "{}")
	write(shards[1], "finding.sql", smallerCase)
	write(shards[1], "other.sql", smallerCase)
	write(shards[1], "other.log", "the end of a log")
	write(shards[2], "finding.sql", largerCase)
	into := filepath.Join(t.TempDir(), "merged")
	got, err := findings.Merge(into, shards)
	if want := (findings.Merged{Findings: 4, New: 2, Smaller: 1}); err != nil || got != want {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	c, err := corpus.Load(filepath.Join(into, "finding.sql"))
	if err != nil || len(c.Steps) != 1 {
		t.Errorf("the finding has %d steps, %v", len(c.Steps), err)
	}
	if _, err := os.Stat(filepath.Join(into, "finding.json")); err == nil {
		t.Error("the recording of the larger case stands beside the smaller")
	}
	if text, err := os.ReadFile(filepath.Join(into, "other.log")); err != nil || string(text) != "the end of a log" {
		t.Errorf("log %q, %v", text, err)
	}
	if _, err := findings.Merge(into, []string{filepath.Join(into, "missing")}); err == nil {
		t.Error("a folder that is missing was merged")
	}
}
