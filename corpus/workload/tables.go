package workload

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Table is a table of the schema.
type Table struct {
	Name    string
	Create  *ast.CreateTableStmt
	Columns []Column
	// Unique holds the primary key and the unique keys, as column indices.
	Unique [][]int
	// Foreign holds the foreign keys.
	Foreign []Foreign
	// Checks are the CHECK constraints.
	Checks []ast.ExprNode
	// Fixed holds the INSERTs of the schema into this table.
	Fixed []*ast.InsertStmt
}

// Column is a column of a table.
type Column struct {
	Name     string
	Type     *types.FieldType
	Nullable bool
	Auto     bool // AUTO_INCREMENT
	Default  bool // has a DEFAULT
	Computed bool // generated
}

// IsText says that values of the column are strings.
func (c *Column) IsText() bool {
	switch c.Type.GetType() {
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString, mysql.TypeBlob, mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob,
		mysql.TypeEnum, mysql.TypeSet, mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTimestamp, mysql.TypeDuration:
		return true
	}
	return false
}

// Foreign is a foreign key: Columns of the table refer to RefColumns of Ref.
type Foreign struct {
	Columns    []int
	Ref        string
	RefColumns []string
}

// Column returns the index of a column, -1 if there is none.
func (t *Table) Column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
}

// Table returns a table by its name, nil if there is none.
func (w *Workload) Table(name string) *Table { return w.tables[strings.ToLower(name)] }

// Tables returns the tables in the order in which the schema makes them.
func (w *Workload) Tables() []*Table {
	out := make([]*Table, len(w.names))
	for i, n := range w.names {
		out[i] = w.tables[n]
	}
	return out
}

func (w *Workload) addTable(s *ast.CreateTableStmt) *Table {
	t := &Table{Name: s.Table.Name.O, Create: s}
	for _, c := range s.Cols {
		col := Column{Name: c.Name.Name.O, Type: c.Tp, Nullable: true}
		for _, o := range c.Options {
			switch o.Tp {
			case ast.ColumnOptionPrimaryKey:
				col.Nullable = false
				t.Unique = append(t.Unique, []int{len(t.Columns)})
			case ast.ColumnOptionUniqKey:
				t.Unique = append(t.Unique, []int{len(t.Columns)})
			case ast.ColumnOptionNotNull:
				col.Nullable = false
			case ast.ColumnOptionAutoIncrement:
				col.Auto = true
			case ast.ColumnOptionDefaultValue:
				col.Default = true
			case ast.ColumnOptionGenerated:
				col.Computed = true
			case ast.ColumnOptionCheck:
				t.Checks = append(t.Checks, o.Expr)
			case ast.ColumnOptionReference:
				if o.Refer != nil {
					t.Foreign = append(t.Foreign, Foreign{[]int{len(t.Columns)}, o.Refer.Table.Name.O, partNames(o.Refer.IndexPartSpecifications)})
				}
			}
		}
		t.Columns = append(t.Columns, col)
	}
	for _, c := range s.Constraints {
		var idx []int
		for _, k := range c.Keys {
			if k.Column != nil {
				idx = append(idx, t.Column(k.Column.Name.O))
			}
		}
		if slices.Contains(idx, -1) {
			continue // the server will refuse it
		}
		switch c.Tp {
		case ast.ConstraintPrimaryKey:
			for _, i := range idx {
				t.Columns[i].Nullable = false
			}
			t.Unique = append(t.Unique, idx)
		case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
			t.Unique = append(t.Unique, idx)
		case ast.ConstraintForeignKey:
			if c.Refer != nil {
				t.Foreign = append(t.Foreign, Foreign{idx, c.Refer.Table.Name.O, partNames(c.Refer.IndexPartSpecifications)})
			}
		case ast.ConstraintCheck:
			t.Checks = append(t.Checks, c.Expr)
		}
	}
	return t
}

func partNames(parts []*ast.IndexPartSpecification) []string {
	var out []string
	for _, k := range parts {
		if k.Column != nil {
			out = append(out, k.Column.Name.O)
		}
	}
	return out
}

// resolve makes sense of the whole: the tables, what names stand for, and what
// cannot be.
func (p *parser) resolve() *corpus.ParseError {
	w := p.w
	w.tables = map[string]*Table{}
	views := map[string]bool{}
	fail := func(at Place, format string, args ...any) *corpus.ParseError {
		err := p.errorf(0, format, args...)
		err.Line, err.Column = at.Line, at.Column
		return err
	}
	for _, s := range w.Schema {
		switch x := s.Stmt.(type) {
		case *ast.CreateTableStmt:
			key := strings.ToLower(x.Table.Name.O)
			switch {
			case x.Select != nil || x.ReferTable != nil || len(x.Cols) == 0:
				return fail(s.Place, "want the columns of the table")
			case x.Table.Schema.O != "":
				return fail(s.Place, "a table is named without its database")
			case w.tables[key] != nil:
				return fail(s.Place, "there are two tables %s", x.Table.Name.O)
			}
			w.tables[key] = w.addTable(x)
			w.names = append(w.names, key)
		case *ast.InsertStmt:
			name, ok := onlyTable(x.Table)
			t := w.Table(name)
			if !ok || t == nil || x.Select != nil || x.IsReplace || len(x.OnDuplicate) > 0 {
				return fail(s.Place, "an INSERT of the schema has VALUES for a table above it")
			}
			t.Fixed = append(t.Fixed, x)
		case *ast.CreateViewStmt:
			views[strings.ToLower(x.ViewName.Name.O)] = true
		case *ast.CreateIndexStmt, *ast.AlterTableStmt:
		default:
			return fail(s.Place, "the schema holds CREATE TABLE, CREATE INDEX, CREATE VIEW, ALTER TABLE and INSERT … VALUES")
		}
	}
	switch {
	case len(w.tables) == 0:
		return p.errorf(len(p.text), "no table: want /* schema */ CREATE TABLE …;")
	case len(w.Transactions) == 0 && !p.coded:
		return p.errorf(len(p.text), "no transaction: want /* transaction NAME (:parameter TYPE, …) */ and statements")
	}
	for _, r := range w.Rows {
		if w.Table(r.Table) == nil {
			return fail(r.Place, "there is no table %s", r.Table)
		}
	}
	column := func(at Place, table, col string) *corpus.ParseError {
		if t := w.Table(table); t == nil {
			return fail(at, "there is no table %s", table)
		} else if t.Column(col) < 0 {
			return fail(at, "table %s has no column %s", table, col)
		}
		return nil
	}
	for _, s := range w.Samples {
		if err := column(s.Place, s.Table, s.Column); err != nil {
			return err
		}
	}
	known := func(at Place, n ast.Node) *corpus.ParseError {
		v := &reader{}
		n.Accept(v)
		for _, name := range v.tables {
			if w.Table(name) == nil && !views[strings.ToLower(name)] && !slices.Contains(v.local, strings.ToLower(name)) {
				return fail(at, "there is no table %s in the schema", name)
			}
		}
		switch {
		case v.system:
			return fail(at, "a workload sets and reads no variables of the server")
		case v.varying != "":
			return fail(at, "%s() gives another value each time, so no two runs can be compared: make it a parameter", v.varying)
		}
		return nil
	}
	for _, v := range w.Invariants {
		switch x := v.Query.(type) {
		case *ast.SelectStmt:
			if x.LockInfo != nil {
				return fail(v.Place, "an invariant locks nothing")
			}
		case *ast.SetOprStmt:
		default:
			return fail(v.Place, "an invariant is a SELECT")
		}
		if err := known(v.Place, v.Query); err != nil {
			return err
		}
	}
	for _, t := range w.Transactions {
		for _, q := range t.Params {
			if q.Table != "" {
				if err := column(t.Place, q.Table, q.Column); err != nil {
					return err
				}
			}
		}
		if err := checkBody(t, fail, known); err != nil {
			return err
		}
	}
	return nil
}

// onlyTable returns the name of the table where there is one alone.
func onlyTable(refs *ast.TableRefsClause) (string, bool) {
	if refs == nil || refs.TableRefs == nil || refs.TableRefs.Right != nil {
		return "", false
	}
	src, ok := refs.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return "", false
	}
	name, ok := src.Source.(*ast.TableName)
	if !ok {
		return "", false
	}
	return name.Name.O, true
}

func checkBody(t *Transaction, fail func(Place, string, ...any) *corpus.ParseError, known func(Place, ast.Node) *corpus.ParseError) (err *corpus.ParseError) {
	vars := slices.Clone(builtin)
	for _, q := range t.Params {
		vars = append(vars, q.Name)
	}
	carried := false // a SELECT … INTO stands before
	Walk(t.Body, func(n *Node) {
		if err != nil {
			return
		}
		var part ast.Node
		switch n.Kind {
		case Run:
			part = n.Stmt
			switch n.Stmt.(type) {
			case *ast.SelectStmt, *ast.SetOprStmt, *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.SavepointStmt, *ast.ReleaseSavepointStmt:
			case *ast.RollbackStmt:
				if stmt.KindOf(n.Stmt) == stmt.Rollback {
					err = fail(n.Place, "BEGIN and COMMIT come by themselves; write /* unless FALSE: rollback */")
					return
				}
			case *ast.BeginStmt, *ast.CommitStmt:
				err = fail(n.Place, "BEGIN and COMMIT come by themselves")
				return
			default:
				err = fail(n.Place, "a transaction holds SELECT, INSERT, REPLACE, UPDATE, DELETE and savepoints")
				return
			}
			err = known(n.Place, n.Stmt)
		case Unless:
			part = n.Cond
		case Repeat:
			if n.Times == nil {
				if !carried {
					err = fail(n.Place, "/* repeat */ goes through the rows of a SELECT … INTO before it; there is none")
				}
				return
			}
			part = n.Times
		}
		for _, name := range Variables(part) {
			if err == nil && !slices.Contains(vars, name) {
				err = fail(n.Place, "nothing gives :%s a value before", name)
			}
		}
		if len(n.Into) > 0 {
			vars, carried = append(vars, n.Into...), true
		}
	})
	return err
}

// varyingFuncs give another value each time.
var varyingFuncs = []string{
	"now", "sysdate", "curdate", "current_date", "curtime", "current_time", "current_timestamp", "localtime", "localtimestamp",
	"utc_date", "utc_time", "utc_timestamp", "unix_timestamp", "rand", "uuid", "uuid_short", "random_bytes", "connection_id", "sleep",
}

// reader collects what a statement reads.
type reader struct {
	tables, local []string
	varying       string
	system        bool
}

func (r *reader) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.TableName:
		r.tables = append(r.tables, x.Name.O)
	case *ast.CommonTableExpression:
		r.local = append(r.local, x.Name.L)
	case *ast.FuncCallExpr:
		if slices.Contains(varyingFuncs, x.FnName.L) && r.varying == "" {
			r.varying = x.FnName.O
		}
	case *ast.VariableExpr:
		r.system = r.system || x.IsSystem || x.Value != nil
	}
	return n, false
}

func (r *reader) Leave(n ast.Node) (ast.Node, bool) { return n, true }
