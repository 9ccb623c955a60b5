package export

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// leavesRecords reports whether a statement marks records or index entries as deleted,
// which InnoDB purges once it is committed: a DELETE, and a change of a key. Without
// names of the columns in keys any UPDATE may be one.
func leavesRecords(n ast.StmtNode, keyed map[string]bool) bool {
	assigns := func(list []*ast.Assignment) bool {
		for _, a := range list {
			if keyed == nil || keyed[a.Column.Name.L] {
				return true
			}
		}
		return false
	}
	switch stmt := n.(type) {
	case *ast.DeleteStmt:
		return true
	case *ast.UpdateStmt:
		return assigns(stmt.List)
	case *ast.InsertStmt:
		return stmt.IsReplace || assigns(stmt.OnDuplicate)
	}
	return false
}

// keyColumns returns the names, lower-case, of the columns that are in some key of a
// case's tables. It goes by the text, since exports take definitions, too, that the solver
// does not.
func keyColumns(c *corpus.Case) map[string]bool {
	out := map[string]bool{}
	parts := func(list []*ast.IndexPartSpecification) {
		for _, p := range list {
			if p.Column != nil {
				out[p.Column.Name.L] = true
			}
		}
	}
	for _, l := range c.Init {
		switch stmt := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			for _, col := range stmt.Cols {
				for _, o := range col.Options {
					if o.Tp == ast.ColumnOptionPrimaryKey || o.Tp == ast.ColumnOptionUniqKey {
						out[strings.ToLower(col.Name.Name.O)] = true
					}
				}
			}
			for _, k := range stmt.Constraints {
				parts(k.Keys)
			}
		case *ast.CreateIndexStmt:
			parts(stmt.IndexPartSpecifications)
		}
	}
	return out
}
