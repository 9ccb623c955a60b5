package promise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// keysToHold returns the foreign keys that have to hold: none in a case that switches the checks off.
func (j *judge) keysToHold() []foreignKey {
	for _, l := range slices.Concat(j.c.Init, j.c.Steps) {
		if s, ok := l.Stmt.(*ast.SetStmt); ok && slices.ContainsFunc(s.Variables, func(v *ast.VariableAssignment) bool {
			return strings.EqualFold(v.Name, "foreign_key_checks")
		}) {
			return nil
		}
	}
	return foreignKeys(j.layout, j.defs)
}

// orphan names a row of some tables whose foreign key refers to no row, "" for none.
func (j *judge) orphan(final state) string {
	values := func(row []history.Cell, columns []int) (text string, null bool) {
		for _, c := range columns {
			null = null || row[c].Null
			text += row[c].Text + ","
		}
		return text, null
	}
	for _, f := range j.foreign {
		there := map[string]bool{}
		for _, e := range final[f.parent] {
			text, _ := values(e.cells, f.referred)
			there[text] = true
		}
		for _, k := range slices.Sorted(maps.Keys(final[f.child])) {
			row := final[f.child][k].cells
			if text, null := values(row, f.columns); !null && !there[text] {
				child := history.RowText(row, history.Cell.String)
				return fmt.Sprintf("%s %s refers to no row of %s", j.layout[f.child].name, child, j.layout[f.parent].name)
			}
		}
	}
	return ""
}
