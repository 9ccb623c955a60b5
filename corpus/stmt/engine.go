package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// Engine returns the storage engine that the definition of a table names, "" for none.
func Engine(s *ast.CreateTableStmt) string {
	for _, o := range s.Options {
		if o.Tp == ast.TableOptionEngine {
			return o.StrValue
		}
	}
	return ""
}
