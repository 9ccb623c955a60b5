package fuzz

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// docBlocks returns the SQL of docs/cases.md by the word behind ```sql.
func docBlocks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fromRoot("docs/cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)```sql ([a-z]+)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		out[m[1]] = m[2]
	}
	return out
}

// fromRoot makes a path usable that a setting gives relative to the root of
// the project: a test runs in the folder of its package.
func fromRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join("..", path)
}

func parseCase(t *testing.T, text string) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// anyTarget opens the first target to be had here.
func anyTarget(t *testing.T) *target.Target {
	t.Helper()
	installed := target.Installed(t.Context())
	if len(installed) == 0 {
		t.Skip("nothing to run a case on: this build has no embedded TiDB, and no server is installed")
	}
	return openFor(t, installed[0], target.Options{Clean: true})
}

// openFor opens a target that ends with the test.
func openFor(t *testing.T, name string, o target.Options) *target.Target {
	t.Helper()
	on, err := target.Open(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	})
	return on
}
