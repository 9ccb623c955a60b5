package mutate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Schema is tables of somebody's own, on which cases are made in place of random ones.
type Schema struct{ tables []*ownTableDef }

// ownTableDef is one of them.
type ownTableDef struct {
	create *ast.CreateTableStmt
	// foreign are its foreign keys to tables of the schema, by their place in create.Constraints.
	foreign []foreignKey
}

// foreignKey refers from columns of a table to those of a parent, by their places.
type foreignKey struct {
	constraint  int
	parent      *ownTableDef
	columns, to []int
}

// Names returns the names of the tables.
func (s *Schema) Names() (names []string) {
	for _, t := range s.tables {
		names = append(names, t.create.Table.Name.O)
	}
	return names
}

// NewSchema takes the tables that cases can be made on, in a form that says the same each time: without comments, counters
// and what depends on the clock. left says of each table, or part of one, that is left out why.
func NewSchema(creates []*ast.CreateTableStmt) (s *Schema, left []string) {
	s = &Schema{}
	byName := map[string]*ownTableDef{}
	var clocked []string
	for _, c := range creates {
		c, clock := settled(c)
		name := c.Table.Name.O
		if why := unusable(c); why != "" {
			left = append(left, fmt.Sprintf("table %s: %s", name, why))
			continue
		}
		if clock {
			clocked = append(clocked, name)
		}
		t := &ownTableDef{create: c}
		s.tables = append(s.tables, t)
		byName[c.Table.Name.L] = t
	}
	if len(clocked) > 0 {
		left = append(left, "what the clock gives to columns of "+spelling.Some(clocked))
	}
	for _, t := range s.tables {
		for i, c := range t.create.Constraints {
			if c.Tp == ast.ConstraintForeignKey {
				if f, ok := foreignKeyOf(t, i, byName); ok {
					t.foreign = append(t.foreign, f)
				}
			}
		}
	}
	return s, left
}

// foreignKeyOf finds what the i-th constraint of a table refers to; ok is false if that is no table of the schema.
func foreignKeyOf(t *ownTableDef, i int, byName map[string]*ownTableDef) (f foreignKey, ok bool) {
	c := t.create.Constraints[i]
	f = foreignKey{constraint: i, parent: byName[c.Refer.Table.Name.L]}
	if f.parent == nil || len(c.Keys) != len(c.Refer.IndexPartSpecifications) {
		return f, false
	}
	for k := range c.Keys {
		from, to := place(t.create, c.Keys[k]), place(f.parent.create, c.Refer.IndexPartSpecifications[k])
		if from < 0 || to < 0 {
			return f, false
		}
		f.columns, f.to = append(f.columns, from), append(f.to, to)
	}
	return f, true
}

func place(c *ast.CreateTableStmt, p *ast.IndexPartSpecification) int {
	return slices.IndexFunc(c.Cols, func(d *ast.ColumnDef) bool { return p.Column != nil && d.Name.Name.L == p.Column.Name.L })
}

// settled returns a copy of a table without what is beside the point or says something else each time; clock says that
// the clock gave values to columns.
func settled(c *ast.CreateTableStmt) (out *ast.CreateTableStmt, clock bool) {
	out = corpus.CloneStmt(c).(*ast.CreateTableStmt)
	out.IfNotExists = false
	out.Options = slices.DeleteFunc(out.Options, func(o *ast.TableOption) bool {
		return o.Tp != ast.TableOptionCharset && o.Tp != ast.TableOptionCollate
	})
	for _, d := range out.Cols {
		d.Options = slices.DeleteFunc(d.Options, func(o *ast.ColumnOption) bool {
			switch o.Tp {
			case ast.ColumnOptionOnUpdate:
				clock = true
				return true
			case ast.ColumnOptionDefaultValue:
				_, literal := valueOf(o.Expr)
				if !literal && corpus.Contains(o.Expr, readsClock) {
					clock = true
					return true
				}
			case ast.ColumnOptionComment, ast.ColumnOptionReference, ast.ColumnOptionColumnFormat, ast.ColumnOptionStorage:
				return true
			}
			return false
		})
	}
	for _, k := range out.Constraints {
		if k.Option != nil {
			k.Option.Comment = ""
		}
		if k.Refer != nil {
			k.Refer.Table.Schema.O, k.Refer.Table.Schema.L = "", ""
		}
	}
	return out, clock
}

// readsClock says that a node is a call of a function that gives another value each time.
func readsClock(n ast.Node) (found, skip bool) {
	f, ok := n.(*ast.FuncCallExpr)
	return ok && (strings.HasPrefix(f.FnName.L, "current_") || strings.HasPrefix(f.FnName.L, "local") ||
		slices.Contains([]string{"now", "sysdate", "curdate", "curtime", "utc_date", "utc_time", "utc_timestamp", "uuid", "rand"}, f.FnName.L)), false
}

// leastPrefix is the least length of a prefix in a unique key by which the values of the generator differ.
const leastPrefix = 10

// unusable says why no case can be made on a table, "" if one can.
func unusable(c *ast.CreateTableStmt) string {
	if c.Partition != nil {
		return "it has partitions"
	}
	t := ownTableOf(c)
	for i, col := range t.cols {
		computed := t.cols[i].computed
		if _, unique := t.inKey(i); len(col.typ.pool) == 0 && col.notNull && col.def == nil && !computed || unique && col.typ.nth == nil {
			return fmt.Sprintf("no values are known of its column %s", col.name)
		}
	}
	for _, k := range t.keys {
		if k.unique && k.prefix > 0 && k.prefix < leastPrefix {
			return "a unique key of it is on a short prefix"
		}
	}
	return ""
}

// ownTableOf is the table of a definition, with values of its types.
func ownTableOf(c *ast.CreateTableStmt) *table {
	t := readTable(c)
	for i, d := range c.Cols {
		col := &t.cols[i]
		col.typ = declaredType(d.Tp)
		if col.typ.tp == mysql.TypeTimestamp && col.notNull {
			// NULL makes MariaDB store the time, and a computed moment may be NULL: then the case could not be judged.
			literal := *col.typ
			literal.family = opaque
			col.typ = &literal
		}
	}
	return t
}

// Out of 256: how often a case is on a table with those that it refers to, and how often a row refers to nobody.
const (
	withParentsOdds = 128
	noParentOdds    = 40
)

// mostParents is how many tables to which a table refers a case has.
const mostParents = 2

// draw chooses a table, and sometimes parents of it, and fills them. Foreign keys to others are left out.
func (s *Schema) draw(src Source, o *Options) (tables []*table, init []corpus.Line) {
	c := on(src, SchemaLane)
	child := oneOf(c, s.tables)
	chosen := []*ownTableDef{child}
	if c.odds(withParentsOdds) {
		for _, f := range child.foreign {
			if len(chosen) <= mostParents && !slices.Contains(chosen, f.parent) {
				chosen = append(chosen, f.parent)
			}
		}
		slices.Reverse(chosen) // parents come first
	}
	made := map[*ownTableDef]*table{}
	for i, def := range chosen {
		kept := slices.DeleteFunc(slices.Clone(def.foreign), func(f foreignKey) bool {
			at := slices.Index(chosen, f.parent)
			return at < 0 || at > i
		})
		create := *def.create
		create.Constraints = nil
		for k, x := range def.create.Constraints {
			if x.Tp != ast.ConstraintForeignKey || slices.ContainsFunc(kept, func(f foreignKey) bool { return f.constraint == k }) {
				create.Constraints = append(create.Constraints, x)
			}
		}
		t := ownTableOf(&create)
		made[def] = t
		t.fill(src, o.MaxRows)
		t.referTo(c, kept, made)
		t.keepChecked(&create, o)
		tables = append(tables, t)
		init = append(init, corpus.Line{Stmt: &create})
	}
	return tables, init
}

// referTo has the rows of a table refer to rows of its parents, and drops those that cannot.
func (t *table) referTo(c *choices, keys []foreignKey, made map[*ownTableDef]*table) {
	if len(keys) == 0 {
		return
	}
	rows := t.rows
	t.rows = nil
	for _, row := range rows {
		if t.refers(c, row, keys, made) && t.clash(t.rows, row) == nil {
			t.rows = append(t.rows, row)
		}
	}
}

// refers gives the columns of foreign keys values of parents; ok is false if a key has none, or if another one, which shares
// columns with it, takes them away again.
func (t *table) refers(c *choices, row []value, keys []foreignKey, made map[*ownTableDef]*table) (ok bool) {
	for _, f := range keys {
		parents := made[f.parent].rows
		optional := !slices.ContainsFunc(f.columns, func(i int) bool { return t.cols[i].notNull })
		if len(parents) == 0 && !optional {
			return false
		}
		nobody := optional && (len(parents) == 0 || c.odds(noParentOdds))
		var parent []value
		if !nobody {
			parent = oneOf(c, parents)
		}
		for k, i := range f.columns {
			row[i] = null
			if !nobody {
				row[i] = parent[f.to[k]]
			}
		}
	}
	return !slices.ContainsFunc(keys, func(f foreignKey) bool { return !f.holds(row, made[f.parent].rows) })
}

// holds says that a row has a parent, or refers to nobody.
func (f *foreignKey) holds(row []value, parents [][]value) bool {
	return slices.ContainsFunc(f.columns, func(i int) bool { return row[i] == null }) ||
		slices.ContainsFunc(parents, func(p []value) bool {
			for k, i := range f.columns {
				if row[i] != p[f.to[k]] {
					return false
				}
			}
			return true
		})
}

// keepChecked drops the rows that a CHECK refuses, or the CHECK if nobody here knows what it refuses.
func (t *table) keepChecked(create *ast.CreateTableStmt, o *Options) {
	kept := create.Constraints[:0:0]
	for _, k := range create.Constraints {
		if k.Tp != ast.ConstraintCheck || t.drop(create, k.Expr, o) {
			kept = append(kept, k)
		}
	}
	create.Constraints = kept
	cols := slices.Clone(create.Cols)
	for i, d := range cols {
		d := *d
		d.Options = slices.DeleteFunc(slices.Clone(d.Options), func(x *ast.ColumnOption) bool {
			return x.Tp == ast.ColumnOptionCheck && !t.drop(create, x.Expr, o)
		})
		cols[i] = &d
	}
	create.Cols = cols
}

// unchecked is a table without what may refuse rows.
func unchecked(c *ast.CreateTableStmt) *ast.CreateTableStmt {
	bare := *c
	bare.Constraints, bare.Cols = nil, nil
	for _, d := range c.Cols {
		d := *d
		d.Options = slices.DeleteFunc(slices.Clone(d.Options), func(x *ast.ColumnOption) bool { return x.Tp == ast.ColumnOptionCheck })
		bare.Cols = append(bare.Cols, &d)
	}
	return &bare
}

// drop drops the rows for which a condition is false; ok is false if it cannot be told.
func (t *table) drop(create *ast.CreateTableStmt, condition ast.ExprNode, o *Options) (ok bool) {
	if len(t.rows) == 0 {
		return true
	}
	truths, err := o.Solver.Judge(unchecked(create), []*ast.InsertStmt{t.setUp()}, not(parenthesis(condition)))
	if err != nil || len(truths) != len(t.rows) {
		return false
	}
	var kept [][]value
	for i, row := range t.rows {
		if truths[i] != sqlvalue.True { // a condition that is unknown refuses nothing
			kept = append(kept, row)
		}
	}
	t.rows = kept
	return true
}
