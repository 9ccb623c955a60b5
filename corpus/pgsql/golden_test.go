package pgsql_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

var rewrite = flag.Bool("rewrite", false, "write what is printed into the files of testdata")

// arrow begins the line with what is printed of the line above it, refused the one with why nothing is.
const (
	arrow   = "=> "
	refused = "=> (" // no statement begins so
)

// statements returns the lines of a file that are statements.
func statements(t *testing.T, path string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, arrow) {
			lines = append(lines, l)
		}
	}
	return lines
}

// printed returns what a statement is for PostgreSQL, or why it is nothing in parentheses.
func printed(t *testing.T, sql string) (text string, ok bool) {
	t.Helper()
	n, err := corpus.ParseStatement(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	text, err = corpus.Format(n, corpus.PostgreSQL)
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), ": ")
		return "(" + why + ")", false
	}
	return text, true
}

func goldens(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	return files
}

// TestGolden compares what is printed with the files, in which an arrow is below each statement.
func TestGolden(t *testing.T) {
	for _, path := range goldens(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			for l := range strings.Lines(string(text)) {
				l = strings.TrimSpace(l)
				if strings.HasPrefix(l, arrow) {
					continue
				}
				want.WriteString(l + "\n")
				if l != "" && !strings.HasPrefix(l, "#") {
					got, _ := printed(t, l)
					want.WriteString(arrow + got + "\n")
				}
			}
			switch {
			case want.String() == string(text):
			case *rewrite:
				if err := os.WriteFile(path, []byte(want.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s differs; with -rewrite it becomes\n%s", path, want.String())
			}
		})
	}
}
