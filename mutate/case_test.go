package mutate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// checkCase returns what is wrong with a generated case.
func checkCase(c *corpus.Case, levels []corpus.Level) error {
	if err := c.Validate(); err != nil {
		return err
	}
	printed := corpus.Print(c, corpus.Text)
	again, err := corpus.Parse("printed", printed)
	if err != nil {
		return fmt.Errorf("the printed case does not parse: %w", err)
	}
	if !again.Equal(c) {
		return fmt.Errorf("the printed case parses to another:\n%s", corpus.Print(again, corpus.Text))
	}
	for _, s := range c.Sessions() {
		if l, ok := c.LevelOf(s); !ok || !slices.Contains(levels, l) {
			return fmt.Errorf("session %d has level %v", s, l)
		}
	}
	if err := checkSetUp(c); err != nil {
		return err
	}
	return checkSteps(c)
}

// checkSetUp inserts the rows of the set-up one by one into a table of its own
// making, and compares every new row with every old one in every unique key.
func checkSetUp(c *corpus.Case) error {
	defs := map[string]*ast.CreateTableStmt{}
	rows := map[string][][]value{}
	for _, l := range c.Init {
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			defs[s.Table.Name.L] = s
		case *ast.InsertStmt:
			name, _ := soleTable(stmt.Of(s))
			def := defs[name]
			if def == nil {
				return fmt.Errorf("the set-up inserts into %q, which does not exist", name)
			}
			for _, list := range s.Lists {
				var row []value
				for _, e := range list {
					v, ok := valueOf(e)
					if !ok {
						return fmt.Errorf("the set-up inserts an expression")
					}
					row = append(row, v)
				}
				if err := admits(def, rows[name], row); err != nil {
					return fmt.Errorf("%s row %d: %w", name, len(rows[name])+1, err)
				}
				rows[name] = append(rows[name], row)
			}
		}
	}
	if len(defs) == 0 {
		return fmt.Errorf("no table")
	}
	return nil
}

// admits says whether a table takes one more row, straight from its definition.
func admits(def *ast.CreateTableStmt, rows [][]value, row []value) error {
	at := map[string]int{}
	notNull := map[int]bool{}
	var unique [][]int
	for i, col := range def.Cols {
		at[col.Name.Name.L] = i
		for _, o := range col.Options {
			switch o.Tp {
			case ast.ColumnOptionNotNull:
				notNull[i] = true
			case ast.ColumnOptionPrimaryKey:
				notNull[i] = true
				unique = append(unique, []int{i})
			case ast.ColumnOptionUniqKey:
				unique = append(unique, []int{i})
			}
		}
	}
	for _, k := range def.Constraints {
		if k.Tp == ast.ConstraintIndex {
			continue
		}
		var cols []int
		for _, p := range k.Keys {
			i := at[p.Column.Name.L]
			cols = append(cols, i)
			if k.Tp == ast.ConstraintPrimaryKey {
				notNull[i] = true
			}
		}
		unique = append(unique, cols)
	}
	if len(row) != len(def.Cols) {
		return fmt.Errorf("%d values for %d columns", len(row), len(def.Cols))
	}
	for i, v := range row {
		if notNull[i] && v == null {
			return fmt.Errorf("NULL in column %d", i)
		}
		if !dataTypeOf(def.Cols[i].Tp).holds(v) {
			return fmt.Errorf("%v is out of the range of column %d", v, i)
		}
	}
	for _, r := range rows {
		for _, cols := range unique {
			equal := true
			for _, i := range cols {
				equal = equal && row[i] != null && r[i] == row[i]
			}
			if equal {
				return fmt.Errorf("duplicate in the key over columns %v", cols)
			}
		}
	}
	return nil
}

// checkSteps demands that every session begins and ends its transactions in
// turn, and that statements name columns that their table has.
func checkSteps(c *corpus.Case) error {
	tables := readTables(c)
	open := map[int]bool{}
	for i, l := range c.Steps {
		switch {
		case stmt.KindOf(l.Stmt).Begins():
			if open[l.Session] {
				return fmt.Errorf("step %d begins inside a transaction", i)
			}
			open[l.Session] = true
		case stmt.KindOf(l.Stmt).Ends():
			if !open[l.Session] {
				return fmt.Errorf("step %d ends nothing", i)
			}
			open[l.Session] = false
		default:
			if is, err := checkOther(l.Stmt, tables, open[l.Session]); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			} else if is {
				continue
			}
			k, name := KindOf(l.Stmt)
			t := tableNamed(tables, name)
			if k == stmt.Other || t == nil {
				return fmt.Errorf("step %d is no statement on a table: %s", i, corpus.SQL(l.Stmt, corpus.Text))
			}
			v := &columnVisitor{t: t}
			l.Stmt.Accept(v)
			if v.unknown != "" {
				return fmt.Errorf("step %d names column %s, which %s has not", i, v.unknown, name)
			}
		}
	}
	for s, o := range open {
		if o {
			return fmt.Errorf("session %d never ends its transaction", s)
		}
	}
	return nil
}

// checkOther recognises the statements that KindOf does not: savepoints, which
// stand in a transaction, and joins of two tables, whose columns have the table
// before them.
func checkOther(s ast.StmtNode, tables []*table, open bool) (is bool, err error) {
	switch s := s.(type) {
	case *ast.SavepointStmt, *ast.ReleaseSavepointStmt, *ast.RollbackStmt:
		if !open {
			return true, fmt.Errorf("%s outside of a transaction", corpus.SQL(s, corpus.Text))
		}
		return true, nil
	case *ast.SelectStmt:
		if s.From == nil || s.From.TableRefs.Right == nil {
			return false, nil
		}
		v := joinVisitor{named: map[string]*table{}}
		for _, side := range []ast.ResultSetNode{s.From.TableRefs.Left, s.From.TableRefs.Right} {
			src := side.(*ast.TableSource)
			t := tableNamed(tables, src.Source.(*ast.TableName).Name.O)
			name := src.AsName.O
			if name == "" {
				name = t.name
			}
			if t == nil || v.named[name] != nil {
				return true, fmt.Errorf("join of %q", name)
			}
			v.named[name] = t
		}
		s.Accept(&v)
		return true, v.err
	}
	return false, nil
}

type joinVisitor struct {
	named map[string]*table
	err   error
}

func (v *joinVisitor) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnName); ok {
		if t := v.named[c.Table.O]; t == nil || t.column(c.Name.O) < 0 {
			v.err = fmt.Errorf("no column %s in a join", c)
		}
	}
	return n, false
}

func (v *joinVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

type columnVisitor struct {
	t       *table
	unknown string
}

func (v *columnVisitor) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnName); ok && v.t.column(c.Name.O) < 0 {
		v.unknown = c.Name.O
	}
	return n, false
}

func (v *columnVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func print(c *corpus.Case) string { return string(corpus.Print(c, corpus.Text)) }

// sql joins the statements of one session.
func sql(c *corpus.Case, session int) string {
	var out string
	for _, l := range c.Steps {
		if l.Session == session {
			out += corpus.SQL(l.Stmt, corpus.Text) + ";\n"
		}
	}
	return out
}

func setUp(c *corpus.Case) string {
	var out string
	for _, l := range c.Init {
		out += corpus.SQL(l.Stmt, corpus.Text) + ";\n"
	}
	return out
}

// published reads the published cases.
func published(t testing.TB) []*corpus.Case {
	t.Helper()
	files, err := filepath.Glob("../corpus/known/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no published cases: %v", err)
	}
	var out []*corpus.Case
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f), "postgres-") {
			continue // came later, and those with words of PostgreSQL's own are no seeds
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		c, err := corpus.Parse(f, text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func parse(t testing.TB, text string) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
