package fuzz

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
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
