package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// deferrableIn is the name of the DEFERRABLE constraint that a definition adds, "" for none.
func deferrableIn(def ast.StmtNode) string {
	raw, ok := def.(*stmt.RawStmt)
	if !ok {
		return ""
	}
	words := raw.Words()
	at := slices.Index(words, "constraint")
	if at < 0 || !slices.Contains(words, "deferrable") {
		return ""
	}
	return words[at+1]
}

// setConstraints has sessions say when DEFERRABLE constraints are checked, most of them within a transaction.
// https://www.postgresql.org/docs/current/sql-set-constraints.html
func (w *ownWords) setConstraints(of *corpus.Case) {
	for range 1 + w.c.below(3) {
		at := w.c.below(len(of.Steps)) + 1
		s := &stmt.ConstraintsStmt{Deferred: w.c.odds(110)}
		if w.c.odds(90) {
			s.Names = []string{oneOf(w.c, w.constraints)}
		}
		of.Steps = slices.Insert(of.Steps, at, corpus.Line{Session: of.Steps[at-1].Session, Stmt: s})
	}
}
