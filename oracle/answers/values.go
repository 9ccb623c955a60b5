package answers

import (
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// The columns that make values unique, the last two of each table.
const (
	ID      = "id"
	Version = "v"
)

// values holds which line of a case writes which version.
type values struct {
	tables map[string]bool // in lower case
	// lines holds the step that writes a v, -1 being the set-up.
	lines map[string]int
	ids   map[string]bool
}

// Unique says whether the values of a case are unique.
func Unique(c *corpus.Case) bool { return valuesOf(c) != nil }

// valuesOf returns nil for a case whose values are not unique, or not known to be.
func valuesOf(c *corpus.Case) *values {
	if !hasColumns(c) {
		return nil
	}
	u := &values{tables: map[string]bool{}, lines: map[string]int{}, ids: map[string]bool{}}
	for i := range c.Init {
		switch s := c.Init[i].Stmt.(type) {
		case *ast.CreateTableStmt:
			if !HasColumns(s) {
				return nil
			}
			u.tables[s.Table.Name.L] = true
		case *ast.InsertStmt:
			if !u.inserts(s, -1) {
				return nil
			}
		default:
			return nil
		}
	}
	for i := range c.Steps {
		switch s := c.Steps[i].Stmt.(type) {
		case *ast.InsertStmt:
			if !u.inserts(s, i) {
				return nil
			}
		case *ast.UpdateStmt:
			if s.MultipleTable || !u.assigns(s.List, i) {
				return nil
			}
		case *ast.DeleteStmt:
			if s.IsMultiTable {
				return nil
			}
		}
	}
	return u
}

// hasColumns is what most cases fail, and costs little.
func hasColumns(c *corpus.Case) bool {
	for i := range c.Init {
		if s, ok := c.Init[i].Stmt.(*ast.CreateTableStmt); ok {
			return HasColumns(s)
		}
	}
	return false
}

// HasColumns says that a table has the two columns, at its end.
func HasColumns(s *ast.CreateTableStmt) bool {
	n := len(s.Cols)
	return n > 2 && s.Cols[n-2].Name.Name.L == ID && s.Cols[n-1].Name.Name.L == Version
}

// inserts notes what an INSERT of a line writes; false: not each row has values of its own.
func (u *values) inserts(s *ast.InsertStmt, line int) bool {
	if n := len(s.Columns); n > 0 && (n < 2 || s.Columns[n-2].Name.L != ID || s.Columns[n-1].Name.L != Version) {
		return false
	}
	if s.Select != nil || s.Setlist || len(s.Lists) == 0 {
		return false
	}
	version := ""
	for _, row := range s.Lists {
		if len(row) < 2 {
			return false
		}
		id, v := number(row[len(row)-2]), number(row[len(row)-1])
		if id == "" || u.ids[id] || v == "" || version != "" && v != version {
			return false
		}
		u.ids[id], version = true, v
	}
	return u.writes(version, line) && (len(s.OnDuplicate) == 0 || u.assigns(s.OnDuplicate, line))
}

func (u *values) writes(version string, line int) bool {
	if _, taken := u.lines[version]; taken || version == "" {
		return false
	}
	u.lines[version] = line
	return true
}

// assigns notes what a list of assignments writes into v.
func (u *values) assigns(list []*ast.Assignment, line int) bool {
	version := ""
	for _, a := range list {
		switch a.Column.Name.L {
		case ID:
			return false
		case Version:
			if version != "" {
				return false
			}
			version = number(a.Expr)
		}
	}
	return u.writes(version, line)
}

// number returns an integer literal as the server prints it, empty for anything else.
func number(e ast.ExprNode) string {
	lit, ok := e.(ast.ValueExpr)
	if !ok {
		return ""
	}
	if n, ok := lit.GetValue().(int64); ok {
		return strconv.FormatInt(n, 10)
	}
	return ""
}

// shown returns the table of a SELECT whose answer tells versions, in lower case; empty
// for other statements.
func (u *values) shown(n ast.StmtNode) string {
	s, ok := n.(*ast.SelectStmt)
	if !ok || s.GroupBy != nil || s.Having != nil || s.With != nil {
		return ""
	}
	if !mvcc.KindOf(n).Reads() {
		return ""
	}
	t := stmt.SoleTable(s.From)
	if t == nil || !u.tables[t.Name.L] {
		return ""
	}
	for _, f := range s.Fields.Fields {
		if f.WildCard == nil {
			// id AS v would be told from no version
			if _, ok := f.Expr.(*ast.ColumnNameExpr); !ok || f.AsName.L != "" {
				return ""
			}
		}
	}
	return t.Name.L
}
