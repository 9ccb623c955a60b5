package history

import (
	"fmt"
	"strings"
)

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
