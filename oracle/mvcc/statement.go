package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// KindOf returns the kind of a statement, Other if it has something about it of which
// the rules do not know what it does.
func KindOf(n ast.StmtNode) stmt.Kind {
	kind := stmt.KindOf(n)
	switch kind {
	case stmt.Begin, stmt.BeginSnapshot:
		if b, ok := n.(*ast.BeginStmt); ok && (b.CausalConsistencyOnly || b.AsOf != nil || b.Mode != "" && b.Mode != ast.Pessimistic) {
			return stmt.Other
		}
	case stmt.SelectForUpdate:
		if stmt.LockOf(n.(*ast.SelectStmt)).Wait == stmt.Bounded {
			return stmt.Other
		}
	case stmt.SetLevel, stmt.SetVariable:
		s := n.(*ast.SetStmt)
		if _, ok := LevelOfSet(s); ok {
			return stmt.SetLevel
		}
		if _, ok := changesOf(s); !ok {
			return stmt.Other
		}
		return stmt.SetVariable
	}
	return kind
}

// LevelOfSet returns the level that SET SESSION TRANSACTION ISOLATION LEVEL sets.
func LevelOfSet(s *ast.SetStmt) (corpus.Level, bool) {
	if stmt.KindOf(s) != stmt.SetLevel {
		return 0, false
	}
	text := []byte(s.Variables[0].Value.(ast.ValueExpr).GetString())
	for i := range text {
		if text[i] == '-' {
			text[i] = ' '
		}
	}
	l, err := corpus.ParseLevel(string(text))
	return l, err == nil
}
