package mvcc

import (
	"maps"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Levels returns every isolation level that a transaction of a history may have
// had: those at which its sessions began, and those that they set on their way.
// Ascending, each once.
func Levels(c *corpus.Case, h *history.History) []corpus.Level {
	seen := map[corpus.Level]bool{}
	for _, l := range h.Levels {
		seen[l] = true
	}
	for i := range h.Stmts {
		if s, ok := c.Steps[h.Stmts[i].Line].Stmt.(*ast.SetStmt); ok {
			if c, ok := changesOf(s); ok {
				for _, l := range []corpus.Level{c.level, c.once} {
					if l != 0 {
						seen[l] = true
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
