package corpus

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// The parser gives BEGIN, START TRANSACTION and START TRANSACTION WITH
// CONSISTENT SNAPSHOT one and the same tree, although the last of them decides
// where the snapshot is. The difference is kept in the text of the node, which
// a parser sets anyway and which survives copying.
const (
	textBegin    = "BEGIN"
	textStart    = "START TRANSACTION"
	textSnapshot = "START TRANSACTION WITH CONSISTENT SNAPSHOT"
)

// Begin returns BEGIN.
func Begin() *ast.BeginStmt { return newBegin(textBegin) }

// BeginSnapshot returns START TRANSACTION WITH CONSISTENT SNAPSHOT.
func BeginSnapshot() *ast.BeginStmt { return newBegin(textSnapshot) }

func newBegin(text string) *ast.BeginStmt {
	s := &ast.BeginStmt{}
	s.SetText(nil, text)
	return s
}

// ConsistentSnapshot reports whether a statement is START TRANSACTION WITH
// CONSISTENT SNAPSHOT. The tree alone does not tell.
func ConsistentSnapshot(s ast.StmtNode) bool {
	b, ok := s.(*ast.BeginStmt)
	return ok && b.OriginalText() == textSnapshot
}
