package promise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// orphan names a row of the final state whose foreign key refers to no row, "" for none. A case
// that switches the checks off is not asked. Values are compared without regard to case and blanks
// at the end, as the laxest collation does.
func (j *judge) orphan(final state) string {
	for _, l := range slices.Concat(j.c.Init, j.c.Steps) {
		if s, ok := l.Stmt.(*ast.SetStmt); ok && slices.ContainsFunc(s.Variables, func(v *ast.VariableAssignment) bool {
			return strings.EqualFold(v.Name, "foreign_key_checks")
		}) {
			return ""
		}
	}
	lax := func(row []history.Cell, columns []int) (text string, null bool) {
		for _, c := range columns {
			null = null || row[c].Null
			text += fmt.Sprintf("%q,", strings.ToLower(strings.TrimRight(row[c].Text, " ")))
		}
		return text, null
	}
	for _, f := range foreignKeys(j.layout, j.c, j.h) {
		there := map[string]bool{}
		for _, e := range final[f.parent] {
			text, _ := lax(e.cells, f.referred)
			there[text] = true
		}
		for _, k := range slices.Sorted(maps.Keys(final[f.child])) {
			row := final[f.child][k].cells
			if text, null := lax(row, f.columns); !null && !there[text] {
				return fmt.Sprintf("%s %s refers to no row of %s", j.layout[f.child].name, history.RowText(row, history.Cell.String), j.layout[f.parent].name)
			}
		}
	}
	return ""
}
