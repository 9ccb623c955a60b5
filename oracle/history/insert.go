package history

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
)

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// Written is a way to write the values of a column.
type Written uint8

const (
	// AsDefault is for a generated column, whose values the server makes itself.
	AsDefault Written = iota + 1
	// AsText is for a JSON column, which takes no number that is not quoted, and for one of
	// texts or members: the number 00 would be the text '0', the number 1 an ENUM's first.
	AsText
)

// asText holds the types of columns that are written AsText.
var asText = map[byte]bool{
	mysql.TypeJSON: true, mysql.TypeString: true, mysql.TypeVarchar: true, mysql.TypeVarString: true,
	mysql.TypeTinyBlob: true, mysql.TypeBlob: true, mysql.TypeMediumBlob: true, mysql.TypeLongBlob: true,
	mysql.TypeEnum: true, mysql.TypeSet: true,
}

// WrittenFor says how the values of a table's columns are written, by what the set-up of
// a case declares.
func WrittenFor(c *corpus.Case, table string) map[string]Written {
	out := map[string]Written{}
	for _, l := range c.Init {
		s, ok := l.Stmt.(*ast.CreateTableStmt)
		if !ok || !strings.EqualFold(s.Table.Name.O, table) {
			continue
		}
		for _, col := range s.Cols {
			switch {
			case slices.ContainsFunc(col.Options, func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionGenerated }):
				out[col.Name.Name.O] = AsDefault
			case asText[col.Tp.GetType()]:
				out[col.Name.Name.O] = AsText
			}
		}
	}
	return out
}

// Insert is the INSERT of the rows of a table, which has some. A text that reads
// like a number is written as one, which any column takes; other values as strings,
// which the server refuses for few. as says of columns that they are written otherwise.
func (t *Table) Insert(as map[string]Written) string {
	rows := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		values := make([]string, len(row))
		for j, v := range row {
			switch {
			case as[t.Columns[j]] == AsDefault:
				values[j] = "DEFAULT"
			case v.Null:
				values[j] = "NULL"
			case number.MatchString(v.Text) && as[t.Columns[j]] != AsText:
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
