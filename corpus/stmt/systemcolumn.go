package stmt

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// systemColumns are those of each table of PostgreSQL that tell where a row lies and who wrote it: another row with the
// same values, and the same row a moment later, has others. No table can have a column of such a name.
// https://www.postgresql.org/docs/current/ddl-system-columns.html
var systemColumns = []string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}

// SystemColumn says that a name, in small letters, is that of such a column.
func SystemColumn(name string) bool { return slices.Contains(systemColumns, name) }

// NamesSystemColumn says that a statement of PostgreSQL names a column that tells where a row lies or who wrote it.
func NamesSystemColumn(n ast.Node) bool {
	if raw, ok := n.(*RawStmt); ok {
		return slices.ContainsFunc(raw.Words(), SystemColumn)
	}
	v := &columnNames{}
	n.Accept(v)
	return v.found
}

// columnNames looks for a system column.
type columnNames struct{ found bool }

// Enter implements ast.Visitor.
func (v *columnNames) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnName); ok {
		v.found = v.found || SystemColumn(c.Name.L)
	}
	return n, v.found
}

// Leave implements ast.Visitor.
func (v *columnNames) Leave(n ast.Node) (ast.Node, bool) { return n, true }
