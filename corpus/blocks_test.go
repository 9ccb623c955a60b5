package corpus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBlocks holds files in the form of blocks and the cases that they hold, or
// what a person sees who wrote a malformed one.
func TestBlocks(t *testing.T) {
	runGolden(t, "testdata/blocks", func(t *testing.T, input string) string {
		cases, err := ParseBlocks("cases.txt", []byte(input))
		if err != nil {
			var p *ParseError
			if !errors.As(err, &p) {
				t.Fatalf("%T is not a *ParseError", err)
			}
			return err.Error() + "\n"
		}
		var out strings.Builder
		for i, c := range cases {
			if err := c.Validate(); err != nil {
				t.Error(err)
			}
			text := Print(c, Text)
			if _, err := Parse("printed", text); err != nil {
				t.Error(err)
			}
			fmt.Fprintf(&out, "case %d\n%s", i+1, text)
		}
		return out.String()
	})
}

func TestLoadAny(t *testing.T) {
	dir := t.TempDir()
	blocks := "CREATE TABLE t (a INT)\n\nBEGIN\nCOMMIT\n\nBEGIN\nCOMMIT\n\n1-2-1-2\nEND\n"
	for name, text := range map[string]string{
		"a.sql": "/* tx1 */ BEGIN;", "b.txt": blocks + blocks, "notes.txt": "no case", "c.md": blocks, ".hidden.txt": blocks, "blocks.sql": blocks,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names := func(stored []Stored) string {
		var out []string
		for _, s := range stored {
			out = append(out, filepath.Base(s.Path))
		}
		return strings.Join(out, " ")
	}
	stored, err := LoadAny(dir)
	var p *ParseError
	if got := names(stored); got != "a.sql b.txt b.txt#2" || !errors.As(err, &p) || filepath.Base(p.File) != "blocks.sql" {
		t.Errorf("folder: %q, %v", got, err)
	}
	for file, want := range map[string]string{"a.sql": "a.sql", "b.txt": "b.txt b.txt#2", "c.md": "c.md", "blocks.sql": "blocks.sql"} {
		stored, err := LoadAny(filepath.Join(dir, file))
		if got := names(stored); got != want || err != nil {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	if _, err := LoadAny(filepath.Join(dir, "notes.txt")); !errors.As(err, &p) {
		t.Errorf("a text without a case: %v", err)
	}
	if _, err := LoadAny(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}
