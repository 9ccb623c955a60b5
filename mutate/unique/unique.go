package unique

import (
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/answers"
)

// Refusal says why a case cannot have unique values.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Case returns a copy of a case with unique values; one that has them already is numbered anew, as
// it has to be when its statements were changed. The error is a Refusal: the case makes
// rows that are not those of a VALUES list, or changes several tables at once.
func Case(c *corpus.Case) (*corpus.Case, error) {
	c = c.Clone()
	st := &Stamper{}
	for i := range c.Init {
		if err := st.SetUp(c.Init[i].Stmt); err != nil {
			return nil, err
		}
	}
	for i := range c.Steps {
		if err := st.Statement(c.Steps[i].Stmt); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Stamper numbers the rows and the statements of one case, in their order.
type Stamper struct {
	ids, versions uint64
	// widths holds how many columns each table has, by its name in lower case.
	widths map[string]int
}

// SetUp changes a statement of the set-up: a table gets the columns, a row its values.
func (st *Stamper) SetUp(s ast.StmtNode) error {
	switch s := s.(type) {
	case *ast.CreateTableStmt:
		return st.table(s)
	case *ast.InsertStmt:
		return st.insert(s)
	}
	return Refusal("the set-up is more than tables and rows")
}

func (st *Stamper) table(s *ast.CreateTableStmt) error {
	if len(s.Cols) == 0 {
		return Refusal("a table is made of another")
	}
	if !answers.HasColumns(s) {
		for _, col := range s.Cols {
			if name := col.Name.Name.L; name == answers.ID || name == answers.Version {
				return Refusal(fmt.Sprintf("a table has a column %s of its own", name))
			}
		}
		more, err := corpus.ParseStatement(fmt.Sprintf("CREATE TABLE x (%s INT, %s INT)", answers.ID, answers.Version))
		if err != nil {
			return fmt.Errorf("make the added columns: %w", err)
		}
		s.Cols = append(s.Cols, more.(*ast.CreateTableStmt).Cols...)
	}
	if st.widths == nil {
		st.widths = map[string]int{}
	}
	st.widths[s.Table.Name.L] = len(s.Cols)
	return nil
}

// Statement changes a statement of a transaction. A SELECT that returns more than columns
// of one table stays as it is.
func (st *Stamper) Statement(s ast.StmtNode) error {
	switch s := s.(type) {
	case *ast.InsertStmt:
		return st.insert(s)
	case *ast.UpdateStmt:
		if kind, _ := mutate.KindOf(s); kind != stmt.Update {
			return Refusal("an UPDATE of several tables")
		}
		for _, a := range s.List {
			if a.Column.Name.L == answers.ID {
				return Refusal("an UPDATE of the column id")
			}
		}
		s.List = st.write(s.List)
	case *ast.DeleteStmt:
		if kind, _ := mutate.KindOf(s); kind != stmt.Delete {
			return Refusal("a DELETE from several tables")
		}
	case *ast.SelectStmt:
		addFields(s)
	}
	return nil
}

// write lets a list of assignments write a new number into v.
func (st *Stamper) write(list []*ast.Assignment) []*ast.Assignment {
	st.versions++
	out := list[:0:0]
	for _, a := range list {
		if a.Column.Name.L != answers.Version {
			out = append(out, a)
		}
	}
	return append(out, &ast.Assignment{Column: columnName(answers.Version), Expr: corpus.UintLit(st.versions)})
}

// insert gives the rows of an INSERT or REPLACE an id each, and all of them one v.
func (st *Stamper) insert(s *ast.InsertStmt) error {
	_, name := mutate.KindOf(s)
	width, ok := st.widths[strings.ToLower(name)]
	switch {
	case !ok:
		return Refusal("an INSERT into several tables or none")
	case s.Select != nil || s.Setlist || len(s.Lists) == 0:
		return Refusal("an INSERT that is not of VALUES")
	}
	has := 0
	if n := len(s.Columns); n > 0 {
		width = n
		if n > 1 && s.Columns[n-2].Name.L == answers.ID && s.Columns[n-1].Name.L == answers.Version {
			has = 2
		} else {
			s.Columns = append(s.Columns, columnName(answers.ID), columnName(answers.Version))
			width += 2
		}
	} else if len(s.Lists[0]) == width {
		has = 2
	}
	st.versions++
	for i, row := range s.Lists {
		if len(row) == 0 || len(row)-has+2 != width {
			return Refusal("an INSERT of a row that has not a value for each column")
		}
		st.ids++
		s.Lists[i] = append(row[:len(row)-has:len(row)-has], corpus.UintLit(st.ids), corpus.UintLit(st.versions))
	}
	for _, a := range s.OnDuplicate {
		if a.Column.Name.L == answers.ID {
			return Refusal("an UPDATE of the column id")
		}
	}
	if len(s.OnDuplicate) > 0 {
		s.OnDuplicate = st.write(s.OnDuplicate)
	}
	return nil
}

// addFields adds id and v to what a SELECT of single columns of one table returns.
func addFields(s *ast.SelectStmt) {
	if kind, _ := mutate.KindOf(s); kind == stmt.Other || s.Distinct || s.Fields == nil {
		return
	}
	missing := map[string]bool{answers.ID: true, answers.Version: true}
	for _, f := range s.Fields.Fields {
		col, ok := f.Expr.(*ast.ColumnNameExpr)
		switch {
		case f.WildCard != nil:
			return
		case !ok:
			return
		case f.AsName.L == "":
			delete(missing, col.Name.Name.L)
		}
	}
	for _, name := range []string{answers.ID, answers.Version} {
		if missing[name] {
			s.Fields.Fields = append(s.Fields.Fields, &ast.SelectField{Expr: &ast.ColumnNameExpr{Name: columnName(name)}})
		}
	}
}

func columnName(name string) *ast.ColumnName {
	return &ast.ColumnName{Name: model.NewCIStr(name)}
}
