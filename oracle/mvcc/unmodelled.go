package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// unmodelled names a clause of a statement that no part of the replay looks at and
// that changes what the statement reads or does; "" for none.
func unmodelled(n ast.Node) string {
	out := ""
	contains(n, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.WithClause:
			out = "a common table expression (WITH)"
		case *ast.TableName:
			if len(x.PartitionNames) > 0 {
				out = "PARTITION behind a table's name"
			}
			if x.AsOf != nil || x.TableSample != nil {
				out = "AS OF or TABLESAMPLE behind a table's name"
			}
		case *ast.InsertStmt:
			if len(x.PartitionNames) > 0 {
				out = "PARTITION behind a table's name"
			}
		}
		return out != "", false
	})
	return out
}

// unmodelledLoss is the loss that a statement with such a clause is.
func unmodelledLoss(n ast.Node) error {
	if what := unmodelled(n); what != "" {
		return &Loss{Slug: "unsupported: " + what}
	}
	return nil
}
