package corpus

import "github.com/pingcap/tidb/pkg/parser/ast"

// Contains reports whether match finds a node in a tree; skip leaves out what lies
// beneath a node.
func Contains(n ast.Node, match func(ast.Node) (found, skip bool)) bool {
	f := &nodeFinder{match: match}
	n.Accept(f)
	return f.found
}

type nodeFinder struct {
	match func(ast.Node) (found, skip bool)
	found bool
}

func (f *nodeFinder) Enter(n ast.Node) (ast.Node, bool) {
	if f.found {
		return n, true
	}
	found, skip := f.match(n)
	f.found = found
	return n, found || skip
}

func (f *nodeFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
