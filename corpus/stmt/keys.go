package stmt

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// KeyColumns returns the names, in lower case, of the columns of a key; nil if it has parts of columns or expressions.
func KeyColumns(parts []*ast.IndexPartSpecification) (names []string) {
	for _, p := range parts {
		if p.Column == nil || p.Length > 0 {
			return nil
		}
		names = append(names, p.Column.Name.L)
	}
	return names
}

// PrimaryKey returns the columns of a table's primary key as KeyColumns does; nil if there is none.
func PrimaryKey(s *ast.CreateTableStmt) []string {
	for _, c := range s.Constraints {
		if c.Tp == ast.ConstraintPrimaryKey {
			return KeyColumns(c.Keys)
		}
	}
	for _, col := range s.Cols {
		if hasOption(col, ast.ColumnOptionPrimaryKey) {
			return []string{col.Name.Name.L}
		}
	}
	return nil
}

// UniqueKeys returns the columns of each key of a table that is unique, the primary key first, but for those of which
// KeyColumns knows none.
func UniqueKeys(s *ast.CreateTableStmt) (keys [][]string) {
	if primary := PrimaryKey(s); primary != nil {
		keys = append(keys, primary)
	}
	for _, col := range s.Cols {
		if hasOption(col, ast.ColumnOptionUniqKey) {
			keys = append(keys, []string{col.Name.Name.L})
		}
	}
	for _, c := range s.Constraints {
		if IsUnique(c) {
			if key := KeyColumns(c.Keys); key != nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// IsUnique reports whether a constraint is a unique key, and not the primary one.
func IsUnique(c *ast.Constraint) bool {
	return c.Tp == ast.ConstraintUniq || c.Tp == ast.ConstraintUniqKey || c.Tp == ast.ConstraintUniqIndex
}

func hasOption(col *ast.ColumnDef, option ast.ColumnOptionType) bool {
	return slices.ContainsFunc(col.Options, func(o *ast.ColumnOption) bool { return o.Tp == option })
}
