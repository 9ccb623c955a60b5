package promise

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// LevelAt is the level of the transaction that has a statement, 0 where a history cannot be read as transactions; chained
// is the statement that ended the one before AND CHAIN, whose characteristics it has, nil if none did.
func LevelAt(c *corpus.Case, h *history.History, stmt int) (level corpus.Level, chained ast.StmtNode) {
	t, err := read(c, h)
	if err != nil || stmt < 0 {
		return 0, nil
	}
	var before *unit
	for _, u := range t.units {
		switch {
		case u.session != h.Stmts[stmt].Session:
		case len(u.events) > 0 && u.events[0].index <= stmt && stmt <= u.events[len(u.events)-1].index:
			if before != nil && before.end != nil && chains(before.end.node) {
				chained = before.end.node
			}
			return u.level, chained
		default:
			before = u
		}
	}
	return 0, nil
}
