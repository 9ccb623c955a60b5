package tidb

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// kindOf is that of the statement of a line to TiDB. Where share modifiers are parsed and ignored,
// but that FOR SHARE without NOWAIT is refused (rules.ShareRefused), SELECT … FOR SHARE NOWAIT is a
// plain SELECT. Of the versions that refuse both, both are what they are elsewhere.
// https://docs.pingcap.com/tidb/stable/sql-statement-select#description-of-the-syntax-elements
func (r *engine) kindOf(st *history.Stmt) stmt.Kind {
	node := r.Case.Steps[st.Line].Stmt
	kind := mvcc.KindOf(node)
	if kind == stmt.SelectForShare && stmt.Of(node).Lock.Wait == stmt.Fails &&
		r.RulesAt(r.Session(st.Session).Level).Of(rules.ShareNowait) != rules.ShareAlike {
		return stmt.Select
	}
	return kind
}

// readsNewestUnlocked reports whether a plain read is a FOR SHARE NOWAIT that reads newer rows than
// its snapshot has: TiDB plans it as a locking read, which look-ups by a whole unique key then are
// not (tryPointGetPlan in pkg/planner/core/point_get_plan.go).
func (r *engine) readsNewestUnlocked(tx *versions.Txn, node ast.StmtNode) bool {
	s, ok := node.(*ast.SelectStmt)
	if !ok || mvcc.KindOf(node) != stmt.SelectForShare || tx.Rules.Of(rules.ShareNowait) != rules.ShareNewest {
		return false
	}
	name := stmt.SoleTable(s.From)
	if name == nil || r.Table(name.Name.O) == nil || !mvcc.PlainRows(s) || s.OrderBy != nil || s.Limit != nil {
		return true
	}
	f, _ := cheapestFilter(r.Table(name.Name.O).Def, r.Possible(s.Where))
	return f == nil || len(f.rest) > 0
}
