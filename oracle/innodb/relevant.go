package innodb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// Relevant implements mvcc.Engine.
func (Engine) Relevant(c *corpus.Case, h *history.History, candidates []*rules.Rule) []*rules.Rule {
	var updates, upserts, setsLevel bool
	for _, l := range c.Steps {
		switch mvcc.KindOf(l.Stmt) {
		case stmt.Update:
			updates = true
		case stmt.Insert:
			upserts = upserts || len(l.Stmt.(*ast.InsertStmt).OnDuplicate) > 0
			updates = updates || upserts
		case stmt.Raw:
			updates = updates || len(l.Stmt.(*stmt.RawStmt).Writes) > 0
		case stmt.SetLevel, stmt.SetVariable:
			setsLevel = true
		}
	}
	waits := waited(h)
	failed := func(code uint16) bool {
		return slices.ContainsFunc(h.Stmts, func(s history.Stmt) bool { return mvcc.ErrCode(&s) == code })
	}
	return slices.DeleteFunc(slices.Clone(candidates), func(r *rules.Rule) bool {
		switch r.Dim {
		case rules.LockedRow:
			return !updates || !waits && r.Variant == rules.PassCommitted
		case rules.Resumption:
			return !waits
		case rules.NoOpUpdate, rules.KeyChange:
			return !updates
		case rules.NoOpUpsert:
			return !upserts
		case rules.LateLevel:
			return !setsLevel
		case rules.AfterDeadlock, rules.VictimRow:
			return !failed(mvcc.ErrDeadlock)
		case rules.SubqueryView:
			return !slices.ContainsFunc(c.Steps, func(l corpus.Line) bool { return mvcc.HasSubquery(l.Stmt) })
		case rules.IdleSavepoint:
			return !slices.ContainsFunc(c.Steps, func(l corpus.Line) bool { return mvcc.KindOf(l.Stmt) == stmt.RollbackTo })
		case rules.FilterScope:
			return !failed(mvcc.ErrOutOfRange)
		case rules.RowAmidKeyChange:
			return !waits || !updates || r.Variant == rules.NotFound && !failed(mvcc.ErrKeyNotFound)
		case rules.RefusedWait:
			return !waits || !slices.ContainsFunc(c.Steps, func(l corpus.Line) bool { return mvcc.RefusesToWait(l.Stmt) || stmt.Of(l.Stmt).Lock.Wait == stmt.Skips })
		case rules.ConsistentRead, rules.SnapshotPoint, rules.RecordChanged, rules.RecordGone, rules.UniqueLookup:
			return false
		}
		// The other dimensions are not InnoDB's.
		return true
	})
}

// waited reports whether any statement of a history waited, or was released by
// the rollback of a deadlock's victim, which may have gone unseen.
func waited(h *history.History) bool {
	return slices.ContainsFunc(h.Stmts, func(s history.Stmt) bool { return len(s.Waits) > 0 || mvcc.ErrCode(&s) == mvcc.ErrDeadlock })
}
