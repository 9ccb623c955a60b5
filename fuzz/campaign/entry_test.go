package campaign

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/mutate"
)

func TestEntries(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("\xff\x00\"\\\n'`"), mutate.InputOf(7, 200)} {
		back, err := DecodeEntry("f", EncodeEntry(data))
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%q read back as %q: %v", data, back, err)
		}
	}
	// As `go test -fuzz` writes it.
	if back, err := DecodeEntry("f", []byte("go test fuzz v1\n[]byte(\"0\\xff\")\n")); err != nil || string(back) != "0\xff" {
		t.Errorf("%q, %v", back, err)
	}
	for text, want := range map[string]string{
		"": "f:1:", "go test fuzz v2\n[]byte(\"\")\n": "f:1:", "go test fuzz v1\n": "f:2:", "go test fuzz v1\nstring(\"\")\n": "f:2:",
		"go test fuzz v1\n[]byte(\"a)\n": "f:2:", "go test fuzz v1\n[]byte(\"a\")\n[]byte(\"b\")\n": "f:2:",
	} {
		if _, err := DecodeEntry("f", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want an error at %s", text, err, want)
		}
	}
}

func TestLoadEntries(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string][]byte{"b": EncodeEntry([]byte("b")), "a": EncodeEntry([]byte("a")), "bad": []byte("no input")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := LoadEntries([]string{dir})
	if len(entries) != 2 || string(entries[0].Data) != "a" || err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "bad")+":1:") {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := LoadEntries([]string{filepath.Join(dir, "missing")}); err == nil {
		t.Error("a missing file is no error")
	}
}

// The seed of each stored case selects that case, and is an entry that survives
// its file.
func TestSeedsSelectTheirCases(t *testing.T) {
	known, err := LoadKnown(fromRoot(findings.StoredDir))
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range known {
		data, ok := SeedOf(k, known)
		if !ok {
			t.Fatalf("case %d is not found among the stored ones", i)
		}
		data, err := DecodeEntry("seed", EncodeEntry(data))
		if err != nil {
			t.Fatal(err)
		}
		cases := PairCases(data, known, mutate.Options{})
		if len(cases) == 0 {
			t.Fatalf("the seed of case %d makes no case", i)
		}
		for _, c := range cases {
			if got, want := tables(c), tables(k); got != want {
				t.Errorf("the seed of case %d makes one over %q, not %q", i, got, want)
			}
		}
	}
	other := targettest.Case(t, targettest.DirtyRead)
	if _, ok := SeedOf(other, known); ok {
		t.Error("a case that is not stored has a seed")
	}
}

func tables(c *corpus.Case) string {
	var out []string
	for _, l := range c.Init {
		if sql := corpus.SQL(l.Stmt, corpus.Text); strings.HasPrefix(sql, "CREATE") {
			out = append(out, sql)
		}
	}
	return strings.Join(out, "; ")
}
