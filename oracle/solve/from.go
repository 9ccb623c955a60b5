package solve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// groupsByColumns refuses a GROUP BY of a name that is also another column of the
// joined tables or the alias of something else.
func (c *compiler) groupsByColumns(n *ast.SelectStmt) error {
	for _, it := range n.GroupBy.Items {
		col, ok := it.Expr.(*ast.ColumnNameExpr)
		if !ok {
			continue
		}
		tables := 0
		for _, src := range c.scope.sources {
			if src.table.ColumnIndex(col.Name.Name.O) >= 0 {
				tables++
			}
		}
		if tables > 1 {
			return unsupported("GROUP BY of a column that several tables have")
		}
		for _, f := range n.Fields.Fields {
			if _, bare := f.Expr.(*ast.ColumnNameExpr); !bare && f.AsName.L == col.Name.Name.L {
				return unsupported("GROUP BY of an alias")
			}
		}
	}
	return nil
}

// onlyGrouped refuses a grouped query that names a column which is neither
// grouped by nor inside an aggregate: with ONLY_FULL_GROUP_BY that is an error
// unless the column depends on the others, without it any row's value will do.
func onlyGrouped(n *ast.SelectStmt) error {
	v := &loneColumns{grouped: map[string]bool{}}
	if n.GroupBy != nil {
		for _, it := range n.GroupBy.Items {
			col, ok := it.Expr.(*ast.ColumnNameExpr)
			if !ok {
				return unsupported("GROUP BY of an expression")
			}
			v.grouped[col.Name.Name.L] = true
		}
	}
	for _, f := range n.Fields.Fields {
		if f.WildCard != nil {
			return unsupported("column beside an aggregate")
		}
		f.Expr.Accept(v)
		if f.AsName.L != "" {
			v.grouped[f.AsName.L] = true
		}
	}
	if n.Having != nil {
		n.Having.Expr.Accept(v)
	}
	if n.OrderBy != nil {
		for _, it := range n.OrderBy.Items {
			it.Expr.Accept(v)
		}
	}
	if v.found {
		return unsupported("column beside an aggregate")
	}
	return nil
}

// loneColumns looks for columns outside aggregates that are not grouped by.
type loneColumns struct {
	grouped map[string]bool
	found   bool
}

func (v *loneColumns) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.AggregateFuncExpr:
		return n, true
	case *ast.ColumnNameExpr:
		v.found = v.found || !v.grouped[n.Name.Name.L]
	}
	return n, false
}

func (v *loneColumns) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// from compiles a FROM clause: tables, derived tables, cross and inner joins.
func (c *compiler) from(q *query, n ast.ResultSetNode) error {
	switch n := n.(type) {
	case *ast.Join:
		if n.Tp != ast.CrossJoin && n.Right != nil || n.NaturalJoin || n.Using != nil || n.StraightJoin {
			return unsupported("outer, natural or USING join")
		}
		if err := c.from(q, n.Left); err != nil {
			return err
		}
		if n.Right == nil {
			return nil
		}
		if err := c.from(q, n.Right); err != nil {
			return err
		}
		if n.On != nil {
			e, err := c.filter(n.On.Expr)
			if err != nil {
				return err
			}
			q.on = append(q.on, c.soleCondition(n.On.Expr, e))
		}
		return nil
	case *ast.TableSource:
		return c.tableSource(q, n)
	}
	return unsupported("%s in FROM", inWords(n))
}

func (c *compiler) tableSource(q *query, n *ast.TableSource) error {
	offset := 0
	for _, in := range q.inputs {
		offset += in.width
	}
	switch src := n.Source.(type) {
	case *ast.TableName:
		t, _, err := c.views.Table(src.Name.O)
		if err != nil {
			return err
		}
		alias := src.Name.O
		if n.AsName.O != "" {
			alias = n.AsName.O
		}
		if slices.ContainsFunc(c.scope.sources, func(s source) bool { return strings.EqualFold(s.alias, alias) }) {
			return &SQLError{1066, fmt.Sprintf("Not unique table/alias: '%s'", alias)}
		}
		q.inputs = append(q.inputs, input{name: src.Name.O, width: len(t.Columns)})
		c.scope.sources = append(c.scope.sources, source{alias, t, offset})
		return nil
	case *ast.SelectStmt:
		if err := plainRead(src); err != nil {
			return err
		}
		// A derived table does not see the scope that it stands in.
		sub, err := c.s.query(src, nil, c.views)
		if err != nil {
			return err
		}
		t := &Table{Name: n.AsName.O, byName: map[string]int{}}
		for i, it := range sub.items {
			t.byName[lower(it.name)] = i
			typ := it.typ
			if it.castText && c.d.is(castTextRounds) {
				return unsupported("CAST AS CHAR in a derived table")
			}
			if typ.Class == DecimalClass && !it.column && c.d.is(divisionKeepsWords) {
				return unsupported("decimal computed in a derived table")
			}
			if it.notNumber {
				return unsupported("branch of text and other types in a derived table")
			}
			if typ.Class == StringClass {
				typ.Explicit = true
			}
			t.Columns = append(t.Columns, Column{Name: it.name, Type: typ})
		}
		q.inputs = append(q.inputs, input{sub: sub, width: len(t.Columns)})
		c.scope.sources = append(c.scope.sources, source{n.AsName.O, t, offset})
		return nil
	}
	return unsupported("%s in FROM", inWords(n.Source))
}

func (c *compiler) fields(q *query, fl *ast.FieldList) error {
	for _, fd := range fl.Fields {
		if fd.WildCard != nil {
			if err := c.wildcard(q, fd.WildCard); err != nil {
				return err
			}
			continue
		}
		e, err := c.expr(fd.Expr)
		if err != nil {
			return err
		}
		it := item{expr: e, name: fd.AsName.O, alias: fd.AsName.O != "", as: fd.AsName.O != ""}
		if col, ok := fd.Expr.(*ast.ColumnNameExpr); ok && !it.alias {
			it.name, it.alias = col.Name.Name.O, true
		} else if !it.alias {
			it.name = strings.TrimSpace(fd.Text())
		}
		q.items = append(q.items, it)
	}
	return nil
}

func (c *compiler) wildcard(q *query, w *ast.WildCardField) error {
	found := false
	for _, src := range c.scope.sources {
		if !src.called(w.Table.L) {
			continue
		}
		found = true
		q.items = slices.Grow(q.items, len(src.table.Columns))
		for i, col := range src.table.Columns {
			q.items = append(q.items, item{expr: columnAt(col.Type, src.offset+i, 0), name: col.Name, alias: true})
		}
	}
	if !found {
		return &SQLError{1051, "Unknown table in a wildcard"}
	}
	return nil
}
