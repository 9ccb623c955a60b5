package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// table is what statements are generated against: a definition and the rows
// that the set-up leaves in it.
type table struct {
	name string
	cols []column
	keys []key
	// rows holds the rows of the set-up as far as they are plain literals.
	rows [][]value
}

type column struct {
	name    string
	typ     *dataType
	notNull bool
	// def is the declared default, nil for none.
	def *value
	// generated says that the server makes the values, computed that nobody else can.
	generated, computed bool
}

// optional says that an INSERT may leave the column out.
func (c *column) optional() bool { return !c.notNull || c.def != nil || c.generated }

// key is an index; columns are indexes into table.cols.
type key struct {
	primary, unique bool
	name            string
	columns         []int
	// desc says that the key is in descending order, prefix how many characters
	// of its column it holds, 0 for all.
	desc   bool
	prefix int
}

func (t *table) column(name string) int {
	return slices.IndexFunc(t.cols, func(c column) bool { return model.NewCIStr(c.name).L == model.NewCIStr(name).L })
}

// inKey says whether a column is part of some key, and of some unique one.
func (t *table) inKey(col int) (indexed, unique bool) {
	for _, k := range t.keys {
		if slices.Contains(k.columns, col) {
			indexed, unique = true, unique || k.unique
		}
	}
	return indexed, unique
}

// clash returns the first unique key on which a row equals one of rows, or
// nil. A key with a NULL part equals nothing.
func (t *table) clash(rows [][]value, row []value) *key {
	for i := range t.keys {
		k := &t.keys[i]
		if !k.unique || slices.ContainsFunc(k.columns, func(c int) bool { return row[c] == null }) {
			continue
		}
		for _, r := range rows {
			if !slices.ContainsFunc(k.columns, func(c int) bool { return r[c] != row[c] }) {
				return k
			}
		}
	}
	return nil
}

// readTables returns the tables that the set-up of a case makes.
func readTables(c *corpus.Case) []*table {
	var out []*table
	for _, l := range c.Init {
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			if len(s.Cols) > 0 {
				out = append(out, readTable(s))
			}
		case *ast.InsertStmt:
			name, ok := soleTable(stmt.Of(s))
			if !ok {
				continue
			}
			if t := tableNamed(out, name); t != nil {
				t.addRows(s)
			}
		}
	}
	return out
}

func tableNamed(tables []*table, name string) *table {
	for _, t := range tables {
		if model.NewCIStr(t.name).L == model.NewCIStr(name).L {
			return t
		}
	}
	return nil
}

func readTable(s *ast.CreateTableStmt) *table {
	t := &table{name: s.Table.Name.O}
	for i, d := range s.Cols {
		c := column{name: d.Name.Name.O, typ: dataTypeOf(d.Tp)}
		for _, o := range d.Options {
			switch o.Tp {
			case ast.ColumnOptionPrimaryKey:
				c.notNull = true
				t.keys = append(t.keys, key{primary: true, unique: true, columns: []int{i}})
			case ast.ColumnOptionUniqKey:
				t.keys = append(t.keys, key{unique: true, columns: []int{i}})
			case ast.ColumnOptionNotNull:
				c.notNull = true
			case ast.ColumnOptionDefaultValue:
				if v, ok := valueOf(o.Expr); ok {
					c.def = &v
				}
			case ast.ColumnOptionAutoIncrement, ast.ColumnOptionGenerated:
				c.generated, c.computed = true, o.Tp == ast.ColumnOptionGenerated
			}
		}
		if mysql.HasNotNullFlag(d.Tp.GetFlag()) {
			c.notNull = true
		}
		t.cols = append(t.cols, c)
	}
	for _, k := range s.Constraints {
		t.addConstraint(k)
	}
	return t
}

func (t *table) addConstraint(c *ast.Constraint) {
	k := key{name: c.Name}
	switch c.Tp {
	case ast.ConstraintPrimaryKey:
		k.primary, k.unique = true, true
	case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		k.unique = true
	case ast.ConstraintKey, ast.ConstraintIndex:
	default:
		return
	}
	for _, p := range c.Keys {
		i := -1
		if p.Column != nil {
			i = t.column(p.Column.Name.O)
		}
		if i < 0 { // an index over an expression
			return
		}
		k.desc, k.prefix = k.desc || p.Desc, max(p.Length, 0)
		k.columns = append(k.columns, i)
		t.cols[i].notNull = t.cols[i].notNull || k.primary
	}
	t.keys = append(t.keys, k)
}

// addRows adds what an INSERT of the set-up adds; rows with anything but
// literals are left out.
func (t *table) addRows(s *ast.InsertStmt) {
	columns := make([]int, 0, len(t.cols))
	for _, c := range s.Columns {
		columns = append(columns, t.column(c.Name.O))
	}
	if s.Columns == nil {
		for i := range t.cols {
			columns = append(columns, i)
		}
	}
	for _, list := range s.Lists {
		if row, ok := t.readRow(columns, list); ok {
			t.rows = append(t.rows, row)
		}
	}
}

func (t *table) readRow(columns []int, list []ast.ExprNode) ([]value, bool) {
	row := make([]value, len(t.cols))
	for i, c := range t.cols {
		if c.def != nil {
			row[i] = *c.def
		}
	}
	if len(list) != len(columns) {
		return nil, false
	}
	for i, e := range list {
		v, ok := valueOf(e)
		if !ok || columns[i] < 0 {
			return nil, false
		}
		row[columns[i]] = v
	}
	return row, true
}

// definition returns the CREATE TABLE of the table. Keys of one column are
// written beside their column, as people write them.
func (t *table) definition() *ast.CreateTableStmt {
	s := &ast.CreateTableStmt{Table: tableName(t.name)}
	for i, c := range t.cols {
		d := &ast.ColumnDef{Name: columnName(c.name), Tp: c.typ.fieldType()}
		primary := slices.ContainsFunc(t.keys, func(k key) bool { return k.primary && slices.Contains(k.columns, i) })
		if c.notNull && !primary {
			d.Options = append(d.Options, &ast.ColumnOption{Tp: ast.ColumnOptionNotNull})
		}
		if c.typ.nullable {
			// Before MariaDB 10.10 a TIMESTAMP is NOT NULL unless it says so.
			d.Options = append(d.Options, &ast.ColumnOption{Tp: ast.ColumnOptionNull})
		}
		if c.generated {
			d.Options = append(d.Options, &ast.ColumnOption{Tp: ast.ColumnOptionAutoIncrement})
		}
		if c.def != nil {
			d.Options = append(d.Options, &ast.ColumnOption{Tp: ast.ColumnOptionDefaultValue, Expr: c.def.literal()})
		}
		for _, k := range t.keys {
			if k.inline() && k.columns[0] == i {
				tp := ast.ColumnOptionUniqKey
				if k.primary {
					tp = ast.ColumnOptionPrimaryKey
				}
				d.Options = append(d.Options, &ast.ColumnOption{Tp: tp})
			}
		}
		s.Cols = append(s.Cols, d)
	}
	for _, k := range t.keys {
		if !k.inline() {
			s.Constraints = append(s.Constraints, t.constraint(k))
		}
	}
	return s
}

func (k *key) inline() bool { return k.unique && len(k.columns) == 1 && !k.desc && k.prefix == 0 }

func (t *table) constraint(k key) *ast.Constraint {
	c := &ast.Constraint{Tp: ast.ConstraintIndex, Name: k.name}
	switch {
	case k.primary:
		c.Tp = ast.ConstraintPrimaryKey
	case k.unique:
		c.Tp = ast.ConstraintUniq
	}
	for _, i := range k.columns {
		p := &ast.IndexPartSpecification{Column: columnName(t.cols[i].name), Length: -1, Desc: k.desc}
		if k.prefix > 0 {
			p.Length = k.prefix
		}
		c.Keys = append(c.Keys, p)
	}
	return c
}
