package solve

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// stamps says that a column may hold the time of the statement that writes NULL into it: so does any TIMESTAMP of MariaDB
// that takes no NULL, and of MySQL where explicit_defaults_for_timestamp is off.
// https://mariadb.com/docs/server/reference/data-types/date-and-time-data-types/timestamp
// https://dev.mysql.com/doc/refman/en/server-system-variables.html#sysvar_explicit_defaults_for_timestamp
func (d Dialect) stamps(c *Column) bool {
	return c.NotNull && c.Type.Class == TimestampClass && d.DBMS != history.TiDB
}

// mayStamp says that a statement may write the time into a table: another session that is asked for what it does has another.
func (d Dialect) mayStamp(n ast.StmtNode, t *Table) bool {
	columns := make([]string, len(t.Columns))
	for i := range t.Columns {
		columns[i] = t.Columns[i].Name
	}
	return stmt.MayGiveNull(n, t.Name, columns, func(i int) bool { return d.stamps(&t.Columns[i]) })
}

func (d Dialect) mayStampAny(n ast.StmtNode, on []Found) bool {
	return slices.ContainsFunc(on, func(f Found) bool { return d.mayStamp(n, f.Table) })
}
