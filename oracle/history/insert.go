package history

import (
	"regexp"
	"strings"
)

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// Insert is the INSERT of the rows of a table, which has some. A text that reads
// like a number is written as one, which any column takes; other values as strings,
// which the server refuses for few.
func (t *Table) Insert() string {
	rows := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		values := make([]string, len(row))
		for j, v := range row {
			switch {
			case v.Null:
				values[j] = "NULL"
			case number.MatchString(v.Text):
				values[j] = v.Text
			default:
				values[j] = "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(v.Text) + "'"
			}
		}
		rows[i] = "(" + strings.Join(values, ", ") + ")"
	}
	return "INSERT INTO " + Quoted(t.Name) + " VALUES " + strings.Join(rows, ", ")
}

// Quoted is a name as SQL takes any.
func Quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
