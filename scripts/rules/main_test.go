package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// TestPagesAreCurrent compares the pages in docs with the table and the stored cases.
func TestPagesAreCurrent(t *testing.T) {
	for _, p := range []struct {
		file, args string
		write      func(io.Writer, string) error
	}{{"rules.md", "", page}, {"tidb.md", " tidb", tidbPage}} {
		var b strings.Builder
		if err := p.write(&b, "../../corpus"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile("../../docs/" + p.file)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != b.String() {
			t.Errorf("docs/%s is out of date: go run -tags notidb ./scripts/rules%s > docs/%[1]s", p.file, p.args)
		}
	}
}

// TestPostgresTableIsCurrent looks for the table of PostgreSQL's published bugs in its page.
func TestPostgresTableIsCurrent(t *testing.T) {
	var b strings.Builder
	if err := postgresTable(&b, "../../corpus"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/postgresql.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n < 27 || !strings.Contains(string(text), "\n\n"+b.String()+"\n") {
		t.Errorf("docs/postgresql.md does not hold the %d lines of: go run -tags notidb ./scripts/rules postgres", n)
	}
}
