package main

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/mysql"
)

// table is what the set-up says of a table, before the columns id and v are added.
type table struct {
	name    string
	columns []column
	keys    []key // unique ones only
}

type column struct {
	name string
	// def is the default, nil: none is declared.
	def           ast.ExprNode
	notNull, auto bool
}

type key struct {
	primary bool
	// whole says that it holds no prefix of a column.
	whole   bool
	columns []int
}

// readTables reads the definitions.
func (p *plan) readTables() error {
	for _, l := range p.c.Init {
		s, ok := l.Stmt.(*ast.CreateTableStmt)
		if !ok {
			continue
		}
		if len(s.Cols) == 0 {
			return unusable("a table is made of another")
		}
		p.tables = append(p.tables, readTable(s))
	}
	return nil
}

func readTable(s *ast.CreateTableStmt) *table {
	t := &table{name: s.Table.Name.O}
	for i, d := range s.Cols {
		c := column{name: d.Name.Name.O, notNull: mysql.HasNotNullFlag(d.Tp.GetFlag())}
		for _, o := range d.Options {
			switch o.Tp {
			case ast.ColumnOptionPrimaryKey:
				c.notNull = true
				t.keys = append(t.keys, key{primary: true, whole: true, columns: []int{i}})
			case ast.ColumnOptionUniqKey:
				t.keys = append(t.keys, key{whole: true, columns: []int{i}})
			case ast.ColumnOptionNotNull:
				c.notNull = true
			case ast.ColumnOptionDefaultValue:
				c.def = o.Expr
			case ast.ColumnOptionAutoIncrement:
				c.auto = true
			}
		}
		t.columns = append(t.columns, c)
	}
	for _, k := range s.Constraints {
		t.constraint(k)
	}
	return t
}

func (t *table) constraint(c *ast.Constraint) {
	k := key{whole: true}
	switch c.Tp {
	case ast.ConstraintPrimaryKey:
		k.primary = true
	case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
	default:
		return
	}
	for _, part := range c.Keys {
		if part.Column == nil {
			return // an expression
		}
		i := t.column(part.Column.Name.O)
		if i < 0 {
			return
		}
		k.whole = k.whole && part.Length <= 0
		k.columns = append(k.columns, i)
	}
	if k.primary {
		for _, i := range k.columns {
			t.columns[i].notNull = true
		}
	}
	t.keys = append(t.keys, k)
}

func (t *table) column(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
}

// primary returns the primary key, nil if there is none.
func (t *table) primary() *key {
	if i := slices.IndexFunc(t.keys, func(k key) bool { return k.primary }); i >= 0 {
		return &t.keys[i]
	}
	return nil
}

// clustered returns the key by which InnoDB keeps the rows, nil: a hidden number.
// https://dev.mysql.com/doc/refman/en/innodb-index-types.html
func (t *table) clustered() *key {
	if k := t.primary(); k != nil {
		return k
	}
	for i := range t.keys {
		k := &t.keys[i]
		if k.whole && !slices.ContainsFunc(k.columns, func(c int) bool { return !t.columns[c].notNull }) {
			return k
		}
	}
	return nil
}

func ident(name string) model.CIStr { return model.NewCIStr(name) }
