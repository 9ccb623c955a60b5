package corpus

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what was seen into testdata")

// runGolden reads a file of entries, each an input, a line ----, the expected
// output and a line ====, and compares. Lines with # before an input are
// comments.
func runGolden(t *testing.T, path string, run func(t *testing.T, input string) string) {
	var out strings.Builder
	for i, e := range goldenEntries(t, path) {
		got := run(t, e.input)
		fmt.Fprintf(&out, "%s%s----\n%s====\n", e.comment, e.input, got)
		if got != e.want && !*rewrite {
			t.Errorf("%s, entry %d:\n%s---- got\n%s---- want\n%s", path, i+1, e.input, got, e.want)
		}
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

type goldenEntry struct{ comment, input, want string }

func goldenEntries(t *testing.T, path string) []goldenEntry {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.Split(string(data), "====\n")
	if tail := entries[len(entries)-1]; tail != "" {
		t.Fatalf("%s: text behind the last entry: %q", path, tail)
	}
	var out []goldenEntry
	for i, entry := range entries[:len(entries)-1] {
		input, want, ok := strings.Cut(entry, "----\n")
		if !ok {
			t.Fatalf("%s: entry %d has no ---- line", path, i+1)
		}
		comment := ""
		for strings.HasPrefix(input, "#") || strings.HasPrefix(input, "\n") {
			line, rest, _ := strings.Cut(input, "\n")
			comment, input = comment+line+"\n", rest
		}
		out = append(out, goldenEntry{comment, input, want})
	}
	return out
}

// TestErrors holds what a person sees who wrote a malformed case.
func TestErrors(t *testing.T) {
	runGolden(t, "testdata/errors", func(t *testing.T, input string) string {
		input = strings.NewReplacer(`\xff`, "\xff").Replace(input)
		c, err := Parse("case.sql", []byte(input))
		if err == nil {
			return string(Print(c, Text))
		}
		var p *ParseError
		if !errors.As(err, &p) {
			t.Fatalf("%T is not a *ParseError", err)
		}
		return err.Error() + "\n"
	})
}

// TestPrint holds one statement a line, and what is printed for each dialect
// where that differs from the text form.
func TestPrint(t *testing.T) { runGolden(t, "testdata/print", printed) }

// TestParserVersion holds where the parser of TiDB's commit of 2025-11 reads or prints
// something else than that of 2024-07, with which many of the stored cases were written.
// Every other statement in the two parsers' own tests is read and printed alike, but for those
// that no case may hold, about resource groups, bindings and the like. So is every statement of
// the stored cases.
func TestParserVersion(t *testing.T) { runGolden(t, "testdata/parser", printed) }

func printed(_ *testing.T, input string) string {
	var out strings.Builder
	for _, sql := range strings.Split(strings.TrimSuffix(input, "\n"), "\n") {
		stmt, err := ParseStatement(sql)
		if err != nil {
			fmt.Fprintf(&out, "error: %v\n", err)
			continue
		}
		text := SQL(stmt, Text)
		fmt.Fprintln(&out, text)
		for i, name := range []string{"MySQL", "MariaDB", "TiDB"} {
			if s := SQL(stmt, MySQL+Dialect(i)); s != text {
				fmt.Fprintf(&out, "  %s: %s\n", name, s)
			}
		}
	}
	return out.String()
}
