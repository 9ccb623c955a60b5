package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// DerivedOnly reports whether a query reads derived tables and no table beside them, so that its
// locking clause has nothing to lock.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html
func DerivedOnly(s *ast.SelectStmt) bool {
	return s.From != nil && derived(s.From.TableRefs)
}

func derived(n ast.ResultSetNode) bool {
	switch x := n.(type) {
	case *ast.Join:
		return derived(x.Left) && (x.Right == nil || derived(x.Right))
	case *ast.TableSource:
		switch x.Source.(type) {
		case *ast.SelectStmt, *ast.SetOprStmt:
			return true
		}
	}
	return false
}
