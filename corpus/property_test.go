package corpus

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"pgregory.net/rapid"
)

func trim(s string) string { return strings.TrimSpace(s) }

// A tree without parentheses is printed so that it is read as the same tree.
func TestPrintedTreeIsReadAsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stmt := drawStmt(t)
		for _, d := range []Dialect{Text, MySQL, MariaDB, TiDB} {
			sql, err := Format(stmt, d)
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(sql, "\n\r\x00") {
				t.Fatalf("more than a line: %q", sql)
			}
			again, err := ParseStatement(sql)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			if path := differentMeaning(stmt, again); path != "" {
				t.Fatalf("%s is read with another %s", sql, path)
			}
			if s := SQL(again, d); s != sql {
				t.Fatalf("printed again:\n%s\n%s", sql, s)
			}
		}
	})
}

func TestCaseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		text := Print(c, Text)
		d, err := Parse("printed", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !c.Equal(d) {
			t.Fatalf("printed again:\n%s\n%s", text, Print(d, Text))
		}
		if len(c.Header)+len(d.Header) > 0 && !reflect.DeepEqual(c.Header, d.Header) {
			t.Fatalf("header %q read as %q", c.Header, d.Header)
		}
		for i := range c.Steps {
			a, b := c.Steps[i], d.Steps[i]
			if a.Session != b.Session || a.Note != b.Note || strings.Join(a.Above, "\n") != strings.Join(b.Above, "\n") {
				t.Fatalf("line %+v read as %+v", a, b)
			}
		}
	})
}

func TestCloneIsEqualAndIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		before := string(Print(c, Text))
		d := c.Clone()
		if !d.Equal(c) {
			t.Fatalf("the clone is\n%s", Print(d, Text))
		}
		if shared := sharedMemory(c, d); shared != "" {
			t.Fatalf("the clone shares %s", shared)
		}
		for _, lines := range [][]Line{d.Init, d.Steps} {
			for i := range lines {
				lines[i].Stmt.Accept(spoiler{})
				lines[i].Note, lines[i].Session = "spoilt", 9
				for j := range lines[i].Above {
					lines[i].Above[j] = "spoilt"
				}
			}
		}
		d.SetLevels(map[int]Level{1: ReadCommitted})
		for i := range d.Header {
			d.Header[i].Value = "spoilt"
		}
		if after := string(Print(c, Text)); after != before {
			t.Fatalf("changing the clone changed\n%sto\n%s", before, after)
		}
	})
}

// spoiler changes what it visits.
type spoiler struct{}

func (spoiler) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.BinaryOperationExpr:
		n.Op = 1
	case *ast.ColumnNameExpr:
		n.Name.Name.O = "spoilt"
	case *ast.TableName:
		n.Name.O = "spoilt"
	case ast.ValueExpr:
		n.SetValue(int64(99))
	case *ast.IsNullExpr:
		n.Not = !n.Not
	}
	return n, false
}

func (spoiler) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// sharedMemory returns the path of a pointer or slice that both cases reach
// through exported fields, or "".
func sharedMemory(a, b *Case) string {
	seen := map[uintptr]bool{}
	var walk func(v reflect.Value, path string, visit func(uintptr, string) bool) string
	walk = func(v reflect.Value, path string, visit func(uintptr, string) bool) string {
		switch v.Kind() {
		case reflect.Interface:
			return walk(v.Elem(), path, visit)
		case reflect.Pointer:
			if v.IsNil() {
				return ""
			}
			if visit(v.Pointer(), path) {
				return path
			}
			return walk(v.Elem(), path, visit)
		case reflect.Slice:
			if v.Len() > 0 && visit(v.Pointer(), path) {
				return path
			}
			for i := range v.Len() {
				if p := walk(v.Index(i), path+"[]", visit); p != "" {
					return p
				}
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					if p := walk(v.Field(i), path+"."+f.Name, visit); p != "" {
						return p
					}
				}
			}
		}
		return ""
	}
	walk(reflect.ValueOf(a), "", func(p uintptr, _ string) bool { seen[p] = true; return false })
	return walk(reflect.ValueOf(b), "", func(p uintptr, _ string) bool { return seen[p] })
}

// Printing must not change a tree: several goroutines print shared ones.
func TestPrintLeavesTheTreeAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stmt := drawStmt(t)
		kept := CloneStmt(stmt)
		SQL(stmt, MariaDB)
		if !reflect.DeepEqual(stmt, kept) {
			t.Fatalf("printing changed the tree of %s", SQL(kept, Text))
		}
	})
}

func TestFoldIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\\\n\rnr]*`)).Draw(t, "value")
		folded := fold(s)
		if strings.ContainsAny(folded, "\n\r") || unfold(folded) != s {
			t.Fatalf("%q folds to %q, which unfolds to %q", s, folded, unfold(folded))
		}
	})
}
