package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// switchVariable names in the environment of a test binary the mistake that is switched on.
const switchVariable = "TXNFUZZ_PLANTED"

// switchFile is added to each package with mistakes. The variable is read before any other of the
// package has its value, since what asks for it depends on it.
const switchFile = `package %s

import (
	"os"
	"strconv"
)

var plantedMistake, _ = strconv.Atoi(os.Getenv(%q))

func plantedEither[T any](no int, right, wrong T) T {
	if plantedMistake == no {
		return wrong
	}
	return right
}
`

// plant returns the files of an overlay, by path, in which each of ms stands behind a switch.
func plant(root string, ms []mutant) (map[string]string, error) {
	files := map[string]*planted{}
	overlay := map[string]string{}
	for _, m := range ms {
		f := files[m.File]
		if f == nil {
			src, err := m.source(root)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			if f, err = read(m.File, src); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			files[m.File] = f
			overlay[filepath.Join(root, m.folder(), "planted_mistakes.go")] =
				fmt.Sprintf(switchFile, f.tree.Name.Name, switchVariable)
		}
		if err := f.plant(m); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	for name, f := range files {
		overlay[filepath.Join(root, name)] = f.text()
	}
	return overlay, nil
}

// planted is one source file and what is put into it; no text of the file is taken out.
type planted struct {
	name, src string
	tree      *ast.File
	fset      *token.FileSet
	insert    map[int]string  // by offset
	copies    strings.Builder // functions with a mistake in each, behind the file's end
}

func read(name, src string) (*planted, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse the source: %w", err)
	}
	return &planted{name: name, src: src, tree: tree, fset: fset, insert: map[int]string{}}, nil
}

// plant puts a switch into the function or the variable's value that holds the place of m.
func (f *planted) plant(m mutant) error {
	if n := strings.Count(f.src, m.Old); n != 1 {
		return fmt.Errorf("%s holds the text %q %d times, want once", m.File, m.Old, n)
	}
	at := strings.Index(f.src, m.Old)
	holds := func(n ast.Node) bool {
		return f.offset(n.Pos()) <= at && at+len(m.Old) <= f.offset(n.End())
	}
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil && holds(d.Body) {
				f.function(d, m, at)
				return nil
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				spec, ok := spec.(*ast.ValueSpec)
				if !ok || d.Tok != token.VAR {
					continue
				}
				if i := slices.IndexFunc(spec.Values, func(v ast.Expr) bool { return holds(v) }); i >= 0 {
					f.value(spec, spec.Values[i], m, at)
					return nil
				}
			}
		}
	}
	return fmt.Errorf("%s: %q stands neither in a function's body nor in a variable's value, "+
		"so no switch can stand before it", m.File, m.Old)
}

// function adds a copy of d with the mistake, which d calls in its own place if m is switched on.
func (f *planted) function(d *ast.FuncDecl, m mutant, at int) {
	name := fmt.Sprintf("planted%d_%s", m.No, d.Name.Name)
	fmt.Fprintf(&f.copies, "\n//line %s\n%s%s%s\n", f.line(m, d.Pos()),
		f.src[f.offset(d.Pos()):f.offset(d.Name.Pos())], name, f.mistaken(d.Name.End(), d.End(), m, at))

	call := name
	if d.Recv != nil {
		call = f.named(d.Recv, "plantedReceiver")[0] + "." + name
	}
	if d.Type.TypeParams != nil {
		call += "[" + strings.Join(f.named(d.Type.TypeParams, "planted"), ", ") + "]"
	}
	call += "(" + strings.Join(f.named(d.Type.Params, "planted"), ", ") + ")"
	if d.Type.Results.NumFields() > 0 {
		call = "return " + call
	} else {
		call += "; return"
	}
	f.insert[f.offset(d.Body.Lbrace)+1] += fmt.Sprintf(" if plantedMistake == %d { %s }; ", m.No, call)
}

// named returns the names of parameters, the last with ... if it takes several
// values, and names those that have none.
func (f *planted) named(list *ast.FieldList, prefix string) []string {
	var names []string
	for _, field := range list.List {
		before := len(names)
		for _, n := range field.Names {
			name := n.Name
			if name == "_" {
				name = fmt.Sprintf("_%s%d", prefix, len(names))
				f.insert[f.offset(n.End())] = name[1:]
			}
			names = append(names, name)
		}
		if len(names) == before {
			name := fmt.Sprintf("%s%d", prefix, len(names))
			f.insert[f.offset(field.Type.Pos())] = name + " "
			names = append(names, name)
		}
		if _, ok := field.Type.(*ast.Ellipsis); ok {
			names[len(names)-1] += "..."
		}
	}
	return names
}

// value makes of the value v of a variable a choice between v and v with the mistake.
func (f *planted) value(spec *ast.ValueSpec, v ast.Expr, m mutant, at int) {
	typeArg := ""
	if spec.Type != nil {
		typeArg = "[" + f.src[f.offset(spec.Type.Pos()):f.offset(spec.Type.End())] + "]"
	}
	begin, end := f.offset(v.Pos()), f.offset(v.End())
	f.insert[begin] = fmt.Sprintf("plantedEither%s(%d, ", typeArg, m.No) + f.insert[begin]
	back := f.fset.Position(v.End())
	f.insert[end] += fmt.Sprintf(", /*line %s:1*/%s)/*line %s:%d:%d*/", f.line(m, v.Pos()),
		f.mistaken(v.Pos(), v.End(), m, at), filepath.Base(f.name), back.Line, back.Column)
}

// line is where a mistake stands in the compiler's errors and the traces of panics.
func (f *planted) line(m mutant, p token.Pos) string {
	return fmt.Sprintf("mistake%d-%s:%d", m.No, filepath.Base(f.name), f.fset.Position(p).Line)
}

// mistaken is the source from begin to end with the mistake m, whose place is at.
func (f *planted) mistaken(begin, end token.Pos, m mutant, at int) string {
	return f.src[f.offset(begin):at] + m.New + f.src[at+len(m.Old):f.offset(end)]
}

func (f *planted) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// text is the file with all that was put into it.
func (f *planted) text() string {
	var b strings.Builder
	last := 0
	for _, at := range slices.Sorted(maps.Keys(f.insert)) {
		b.WriteString(f.src[last:at] + f.insert[at])
		last = at
	}
	return b.String() + f.src[last:] + f.copies.String()
}
