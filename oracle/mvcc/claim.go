package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// LocksAllItMeets reports whether a statement surely locks every row that its condition
// holds for; kind is what it comes to at its level.
func LocksAllItMeets(v stmt.View, kind stmt.Kind, node ast.StmtNode) bool {
	switch v.Kind {
	case stmt.Select, stmt.SelectForShare, stmt.SelectForUpdate:
		return kind != stmt.Select && LocksWhatItReturns(node.(*ast.SelectStmt)) && (v.Lock.Wait == stmt.Waits || v.Lock.Wait == stmt.Fails)
	case stmt.Update:
		return v.Limit == nil && !HasSubquery(node)
	case stmt.Delete:
		return v.Limit == nil && !v.Several && !HasSubquery(node)
	}
	return false
}

func Changes(a, b solve.Row, cols map[int]bool) bool {
	for i := range a {
		if (cols == nil || cols[i]) && a[i] != b[i] {
			return true
		}
	}
	return false
}
