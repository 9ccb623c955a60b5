package solve

import (
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Table is the definition of one table.
type Table struct {
	Name    string
	Columns []Column
	Keys    []Key
	byName  map[string]int
}

// Column is one column of a table.
type Column struct {
	Name    string
	Type    Type
	NotNull bool
	// Auto says AUTO_INCREMENT.
	Auto bool
	// HasDefault says that a missing value is Default; a nullable column has
	// the default NULL. Without it a missing value is error 1364 in strict mode.
	HasDefault bool
	Default    sqlvalue.Value
}

// Key is one index of a table.
type Key struct {
	Name    string
	Primary bool
	Unique  bool
	// Columns holds indexes into Table.Columns, in the key's order.
	Columns []int
}

// ColumnIndex returns the position of a column by name (case-insensitive), or -1.
func (t *Table) ColumnIndex(name string) int {
	if i, ok := t.byName[lower(name)]; ok {
		return i
	}
	return -1
}
