package corpus

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Contains reports whether match finds a node in a tree; skip leaves out what lies
// beneath a node.
func Contains(n ast.Node, match func(ast.Node) (found, skip bool)) bool {
	f := &nodeFinder{match: match}
	n.Accept(f)
	return f.found
}

// Names reports whether a statement names a table or a view. Of one that the parser does not read any word
// may be a name.
func Names(n ast.StmtNode, table string) bool {
	if raw, ok := n.(*stmt.RawStmt); ok {
		return slices.Contains(raw.Words(), strings.ToLower(table))
	}
	return Contains(n, func(n ast.Node) (found, skip bool) {
		t, ok := n.(*ast.TableName)
		return ok && strings.EqualFold(t.Name.O, table), false
	})
}

// QueriesWithin reports whether a statement that the parser reads has a query within.
func QueriesWithin(root ast.Node) bool {
	return Contains(root, func(n ast.Node) (found, skip bool) {
		switch n.(type) {
		case *ast.SelectStmt, *ast.SetOprStmt:
			return n != root, false
		}
		return false, false
	})
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
