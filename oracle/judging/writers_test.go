package judging

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneWriter: outside of the judges' packages nobody makes a verdict, or changes one: who runs cases takes it from
// here.
func TestOneWriter(t *testing.T) {
	const root = "../.."
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name == "oracle" || strings.HasPrefix(d.Name(), ".") && path != root {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		ast.Inspect(f, func(n ast.Node) bool {
			if writes(n) {
				t.Errorf("%s makes or changes a verdict", set.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || files < 300 {
		t.Fatalf("%d files: %v", files, err)
	}
	for _, text := range []string{"oracle.Verdict{Stmt: -1}", "func() { r.Verdict.Reason = x }", "func() { r.Verdict.Stmt, y = 1, 2 }"} {
		n, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		ast.Inspect(n, func(n ast.Node) bool { found = found || writes(n); return true })
		if !found {
			t.Errorf("%s is not noticed", text)
		}
	}
}

// writes says that a node is an oracle.Verdict with something in it, or gives a field of a Verdict a value.
func writes(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.CompositeLit:
		s, ok := x.Type.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Verdict" && isNamed(s.X, "oracle") && len(x.Elts) > 0
	case *ast.AssignStmt:
		for _, to := range x.Lhs {
			if field, ok := to.(*ast.SelectorExpr); ok {
				if of, ok := field.X.(*ast.SelectorExpr); ok && of.Sel.Name == "Verdict" {
					return true
				}
			}
		}
	}
	return false
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
