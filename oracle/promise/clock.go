package promise

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	pm "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// stampsNull says that a statement may write NULL into a column of the type TIMESTAMP that has none: it may then hold the
// time of the statement.
func (j *judge) stampsNull(n ast.StmtNode) bool {
	if !j.h.Server.StampsNull() {
		return false
	}
	for _, def := range j.defs {
		var columns []string
		for _, d := range def.Cols {
			columns = append(columns, d.Name.Name.O)
		}
		if stmt.MayGiveNull(n, def.Table.Name.O, columns, func(i int) bool { return stamped(def.Cols[i]) }) {
			return true
		}
	}
	return false
}

// stamped says that a column is a TIMESTAMP that is not told to take NULL: before MariaDB 10.10 it takes none then, either.
func stamped(d *ast.ColumnDef) bool {
	return d.Tp.GetType() == pm.TypeTimestamp && !slices.ContainsFunc(d.Options, func(o *ast.ColumnOption) bool {
		return o.Tp == ast.ColumnOptionNull
	})
}

// clocked says that a table has columns that hold the time of a statement which does not name them. MariaDB before 10.10
// makes the first TIMESTAMP of a table such a column if the set-up does not say otherwise, and so does MySQL where
// explicit_defaults_for_timestamp is off: what the server shows of the table says so.
// https://mariadb.com/docs/server/reference/data-types/date-and-time-data-types/timestamp
func clocked(def *ast.CreateTableStmt) bool {
	return slices.ContainsFunc(def.Cols, func(d *ast.ColumnDef) bool {
		return slices.ContainsFunc(d.Options, func(o *ast.ColumnOption) bool {
			return o.Tp == ast.ColumnOptionOnUpdate || o.Tp == ast.ColumnOptionDefaultValue && undetermined(o.Expr, nil) != ""
		})
	})
}
