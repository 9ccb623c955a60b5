package solve

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// stamps says that a column may hold the time of the statement that writes NULL into it.
func (d Dialect) stamps(c *Column) bool {
	return c.NotNull && c.Type.Class == TimestampClass && d.stampsNull
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
