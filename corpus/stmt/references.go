package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// References returns what the foreign keys of a table refer to. A REFERENCES behind a column is one, too, which the
// parser's visitors do not come to: PostgreSQL takes it for a foreign key, and so does MySQL from 9.0 on.
// https://dev.mysql.com/doc/refman/en/create-table-foreign-keys.html
func References(s *ast.CreateTableStmt) (refs []*ast.ReferenceDef) {
	for _, c := range s.Constraints {
		if c.Refer != nil {
			refs = append(refs, c.Refer)
		}
	}
	for _, col := range s.Cols {
		for _, o := range col.Options {
			if o.Refer != nil {
				refs = append(refs, o.Refer)
			}
		}
	}
	return refs
}
