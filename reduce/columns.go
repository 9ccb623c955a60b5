package reduce

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// columnCandidates lists the columns that can go: dropped from the table, from
// rows, assignments, SELECT lists and keys. A column that an expression reads
// stays; other operations have to free it first.
func columnCandidates(d *draft) []candidate {
	var out []candidate
	for _, t := range d.tables().order {
		if len(t.columns) < 2 {
			continue
		}
		for i := len(t.columns) - 1; i >= 0; i-- {
			o := origin{t.name, t.columns[i].name}
			out = append(out, candidate{armColumn, armColumn.String() + " " + o.table + "." + o.column, func() *draft {
				return d.dropColumn(o)
			}})
		}
	}
	return out
}

// wideRowCandidates lists the INSERTs that can do without a list of columns,
// their missing values written as NULL or as 0.
func wideRowCandidates(d *draft) []candidate {
	var out []candidate
	add := func(st *statement, put func(*statement) *draft) {
		n, ok := st.tree.(*ast.InsertStmt)
		if !ok || len(n.Columns) == 0 || n.Select != nil || n.Setlist {
			return
		}
		t := d.tables().byName[insertTarget(n)]
		if t == nil {
			return
		}
		for _, missing := range []ast.ExprNode{corpus.NullLit(), corpus.IntLit(0)} {
			if wide := d.lib.print(wideRows(n, t, missing)); wide != nil {
				out = append(out, candidate{armInsertColumn, st.text + "\n" + wide.text, func() *draft { return put(wide) }})
			}
		}
	}
	for i, st := range d.init {
		add(st, func(wide *statement) *draft { return d.replaceInit(i, wide) })
	}
	for i, e := range d.steps {
		add(e.st, func(wide *statement) *draft { return d.replaceStep(i, wide) })
	}
	return out
}

func wideRows(n *ast.InsertStmt, t *table, missing ast.ExprNode) *ast.InsertStmt {
	wide := *n
	wide.Columns = nil
	wide.Lists = make([][]ast.ExprNode, len(n.Lists))
	for i, row := range n.Lists {
		for _, c := range t.columns {
			value := missing
			for k, x := range n.Columns {
				if x.Name.L == c.name && k < len(row) {
					value = row[k]
				}
			}
			wide.Lists[i] = append(wide.Lists[i], value)
		}
	}
	return &wide
}

func (d *draft) dropColumn(o origin) *draft {
	sc := d.tables()
	return d.transform(func(st *statement) (*statement, bool) {
		if !slices.Contains(st.tables, o.table) {
			return st, true
		}
		cut := &columnCut{schema: sc, origin: o, tree: corpus.CloneStmt(st.tree)}
		switch cut.apply() {
		case cutNothing:
			return st, true
		case cutLine:
			return nil, true
		case cutImpossible:
			return nil, false
		}
		out := d.lib.print(cut.tree)
		return out, out != nil
	})
}

type cutResult uint8

const (
	cutNothing cutResult = iota
	cutPart
	// cutLine says that nothing of the statement is left.
	cutLine
	cutImpossible
)

// columnCut removes one column from one statement.
type columnCut struct {
	schema *schema
	origin origin
	tree   ast.StmtNode
}

func (c *columnCut) apply() cutResult {
	uses := c.uses()
	result := cutNothing
	switch n := c.tree.(type) {
	case *ast.CreateTableStmt:
		result = c.createTable(n)
	case *ast.CreateIndexStmt:
		if n.Table.Name.L == c.origin.table {
			result = c.parts(&n.IndexPartSpecifications)
		}
	case *ast.InsertStmt:
		result = c.insert(n, uses)
	case *ast.UpdateStmt:
		result = c.assignments(&n.List, uses)
	}
	if result == cutLine || result == cutImpossible {
		return result
	}
	for _, q := range queries(c.tree) {
		switch c.fields(q, uses) {
		case cutImpossible:
			return cutImpossible
		case cutPart:
			result = cutPart
		}
	}
	if len(c.uses()) > 0 {
		return cutImpossible
	}
	return result
}

// uses returns the names in the tree that stand for the column.
func (c *columnCut) uses() map[*ast.ColumnName]bool {
	out := map[*ast.ColumnName]bool{}
	bind(c.tree, &binder{schema: c.schema, column: func(n *ast.ColumnName, o origin, _ string) {
		if o == c.origin {
			out[n] = true
		}
	}})
	return out
}

func (c *columnCut) createTable(n *ast.CreateTableStmt) cutResult {
	if n.Table.Name.L != c.origin.table {
		return cutNothing
	}
	n.Cols = slices.DeleteFunc(n.Cols, func(d *ast.ColumnDef) bool { return d.Name.Name.L == c.origin.column })
	n.Constraints = slices.DeleteFunc(n.Constraints, func(k *ast.Constraint) bool {
		return len(k.Keys) > 0 && k.Refer == nil && c.parts(&k.Keys) == cutLine
	})
	return cutPart
}

// parts removes the column from a key; cutLine: no part is left.
func (c *columnCut) parts(list *[]*ast.IndexPartSpecification) cutResult {
	before := len(*list)
	*list = slices.DeleteFunc(*list, func(p *ast.IndexPartSpecification) bool {
		return p.Column != nil && p.Column.Name.L == c.origin.column
	})
	switch len(*list) {
	case 0:
		return cutLine
	case before:
		return cutNothing
	}
	return cutPart
}

func (c *columnCut) insert(n *ast.InsertStmt, uses map[*ast.ColumnName]bool) cutResult {
	result := cutNothing
	if len(n.OnDuplicate) > 0 {
		before := len(n.OnDuplicate)
		n.OnDuplicate = slices.DeleteFunc(n.OnDuplicate, func(a *ast.Assignment) bool { return uses[a.Column] })
		if len(n.OnDuplicate) < before {
			result = cutPart
		}
	}
	t := c.schema.byName[insertTarget(n)]
	if t == nil || t.name != c.origin.table {
		return result
	}
	at := slices.IndexFunc(n.Columns, func(x *ast.ColumnName) bool { return x.Name.L == c.origin.column })
	if len(n.Columns) == 0 {
		at = slices.IndexFunc(t.columns, func(x column) bool { return x.name == c.origin.column })
	}
	switch {
	case at < 0:
		return result
	case n.Select != nil:
		return cutImpossible
	case len(n.Columns) == 1:
		return c.another(n, t)
	case len(n.Columns) > 1:
		n.Columns = dropAt(n.Columns, at)
	}
	for i, row := range n.Lists {
		if at < len(row) {
			n.Lists[i] = dropAt(row, at)
		}
	}
	return cutPart
}

// another lets an INSERT of this column alone set the next one instead.
func (c *columnCut) another(n *ast.InsertStmt, t *table) cutResult {
	for _, x := range t.columns {
		if x.name != c.origin.column {
			n.Columns = []*ast.ColumnName{{Name: model.NewCIStr(x.name)}}
			return cutPart
		}
	}
	return cutImpossible
}

func (c *columnCut) assignments(list *[]*ast.Assignment, uses map[*ast.ColumnName]bool) cutResult {
	kept := slices.DeleteFunc(slices.Clone(*list), func(a *ast.Assignment) bool { return uses[a.Column] })
	switch len(kept) {
	case len(*list):
		return cutNothing
	case 0:
		return cutImpossible
	}
	*list = kept
	return cutPart
}

// fields removes the column from a SELECT list.
func (c *columnCut) fields(q *ast.SelectStmt, uses map[*ast.ColumnName]bool) cutResult {
	if q.Fields == nil {
		return cutNothing
	}
	kept := slices.DeleteFunc(slices.Clone(q.Fields.Fields), func(f *ast.SelectField) bool {
		x, ok := f.Expr.(*ast.ColumnNameExpr)
		return ok && uses[x.Name]
	})
	switch len(kept) {
	case len(q.Fields.Fields):
		return cutNothing
	case 0:
		return cutImpossible
	}
	q.Fields.Fields = kept
	return cutPart
}
