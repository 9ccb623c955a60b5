package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Describe prints the answer to a statement of a kind on one line, as a person reads it.
func Describe(kind stmt.Kind, r *Result) string {
	switch {
	case r.Err != nil:
		return r.Err.String()
	case kind == stmt.Update && r.Matched >= 0:
		return fmt.Sprintf("%d matched, %d changed", r.Matched, r.Changed)
	case kind.Writes(), kind == stmt.Raw && r.Affected >= 0 && len(r.Columns) == 0:
		return fmt.Sprintf("%d affected", r.Affected)
	case kind.Control() && (kind != stmt.Advisory && kind != stmt.Sequence || isVoid(r.Rows)):
		return "ok"
	case len(r.Rows) == 0:
		return "no rows"
	}
	rows := make([]string, len(r.Rows))
	for i, row := range r.Rows {
		rows[i] = RowText(row, Cell.String)
	}
	return strings.Join(rows, " ")
}

// isVoid reports whether rows are the one of a function that returns nothing.
func isVoid(rows [][]Cell) bool { return len(rows) != 1 || rows[0][0].Text == "" }

// SameAnswer compares two answers: the rows in order or as a bag, the numbers that an OK packet tells,
// and of errors which one it is.
func SameAnswer(a, b *Result, ordered bool) bool {
	if a.Err != nil || b.Err != nil {
		return a.Err != nil && b.Err != nil && a.Err.Means() == b.Err.Means() && (a.Err.Code != letters || a.Err.State == b.Err.State)
	}
	return a.Matched == b.Matched && a.Changed == b.Changed && a.Affected == b.Affected && SameRows(a.Rows, b.Rows, ordered)
}

// SameRows compares rows, in order or as bags.
func SameRows(a, b [][]Cell, ordered bool) bool {
	x, y := RowTexts(a), RowTexts(b)
	if !ordered {
		slices.Sort(x)
		slices.Sort(y)
	}
	return slices.Equal(x, y)
}

// ofValues holds the errors by which servers say that they cannot compute or store a value. Which row
// such an error is of depends on which rows a plan computes values for.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
// https://mariadb.com/docs/server/reference/error-codes
// https://www.postgresql.org/docs/current/errcodes-appendix.html (see NumberOf)
var ofValues = []uint16{1048, 1242, 1264, 1265, 1292, 1365, 1366, 1367, 1406, 1411, 1441, 1525, 1690, 1916, 1918,
	21000, 22001, 22003, 22007, 22008, 22012, 22902, 23502}

// OfValue reports whether an error is one of a value, and not of a name, a lock or a key.
func (e *Error) OfValue() bool { return e != nil && slices.Contains(ofValues, e.Means()) }
