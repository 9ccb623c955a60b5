package pgsql_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
)

var rewrite = flag.Bool("rewrite", false, "write what is printed into the files of testdata")

// arrow begins the line with what is printed of the line above it, or why nothing is in parentheses.
const arrow = "=> "

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
	before := corpus.SQL(n, corpus.Text)
	text, err = corpus.Format(n, corpus.PostgreSQL)
	if after := corpus.SQL(n, corpus.Text); after != before {
		t.Errorf("printing made %s of %s", after, before)
	}
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

// TestFormat asks for what no file holds: an expression, a broken tree, the kind of the error.
func TestFormat(t *testing.T) {
	n, err := corpus.ParseStatement("SELECT a = 1 XOR b FROM t WHERE k REGEXP 'a'")
	if err != nil {
		t.Fatal(err)
	}
	s := n.(*ast.SelectStmt)
	got, err := corpus.FormatExpr(s.Fields.Fields[0].Expr, corpus.PostgreSQL)
	if got != "((a = 1) <> (b <> 0))::int" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	var unsayable *pgsql.UnsayableError
	if _, err := corpus.FormatExpr(s.Where, corpus.PostgreSQL); !errors.As(err, &unsayable) || unsayable.What != "REGEXP" {
		t.Errorf("%v", err)
	}
	if _, err := corpus.Format(s, corpus.PostgreSQL); !errors.As(err, &unsayable) {
		t.Errorf("%v", err)
	}
	s.Where = &ast.BinaryOperationExpr{Op: opcode.Plus, L: corpus.IntLit(1)}
	if got, err := corpus.Format(s, corpus.PostgreSQL); err == nil {
		t.Errorf("a sum of one number is %s", got)
	}
}
