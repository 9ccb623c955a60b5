package history

import (
	"fmt"
	"strings"
)

// RowText prints a row as (1,NULL,abc), each value as text prints it: String for people, Key to
// compare rows whatever types their columns have, Raw for the bytes.
func RowText(row []Cell, text func(Cell) string) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, c := range row {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text(c))
	}
	b.WriteByte(')')
	return b.String()
}

// RowTexts gives each row as a text that no other row has, in the order of the rows.
func RowTexts(rows [][]Cell) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for _, c := range row {
			fmt.Fprintf(&b, "%t%q", c.Null, c.Text)
		}
		out[i] = b.String()
	}
	return out
}
