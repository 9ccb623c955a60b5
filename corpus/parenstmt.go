package corpus

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// bracketedStmt returns a statement with the parentheses that its expressions
// need. Statements that hold no expression are returned as they are.
func bracketedStmt(s ast.StmtNode) ast.StmtNode {
	switch n := s.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return bracketedQuery(n.(ast.ResultSetNode)).(ast.StmtNode)
	case *ast.UpdateStmt:
		return bracketedUpdate(n)
	case *ast.DeleteStmt:
		with, refs, where, order := bracketedWith(n.With), bracketedRefs(n.TableRefs), whole(n.Where), bracketedOrder(n.Order)
		if with != n.With || refs != n.TableRefs || where != n.Where || order != n.Order {
			c := *n
			c.With, c.TableRefs, c.Where, c.Order = with, refs, where, order
			return &c
		}
	case *ast.InsertStmt:
		return bracketedInsert(n)
	case *ast.CreateTableStmt:
		return bracketedCreate(n)
	case *ast.SetStmt:
		vars := mapped(n.Variables, func(v *ast.VariableAssignment) *ast.VariableAssignment {
			if e := whole(v.Value); e != v.Value {
				c := *v
				c.Value = e
				return &c
			}
			return v
		})
		if !sameSlice(vars, n.Variables) {
			c := *n
			c.Variables = vars
			return &c
		}
	case *ast.DoStmt:
		if list := wholeList(n.Exprs); !sameSlice(list, n.Exprs) {
			c := *n
			c.Exprs = list
			return &c
		}
	case *ast.ExplainStmt:
		if n.Stmt != nil {
			if inner := bracketedStmt(n.Stmt); inner != n.Stmt {
				c := *n
				c.Stmt = inner
				return &c
			}
		}
	}
	return s
}

func bracketedUpdate(n *ast.UpdateStmt) ast.StmtNode {
	with, refs, list := bracketedWith(n.With), bracketedRefs(n.TableRefs), bracketedAssignments(n.List)
	where, order := whole(n.Where), bracketedOrder(n.Order)
	if with == n.With && refs == n.TableRefs && sameSlice(list, n.List) && where == n.Where && order == n.Order {
		return n
	}
	c := *n
	c.With, c.TableRefs, c.List, c.Where, c.Order = with, refs, list, where, order
	return &c
}

func bracketedInsert(n *ast.InsertStmt) ast.StmtNode {
	c := *n
	changed := false
	for i, row := range n.Lists {
		if list := wholeList(row); !sameSlice(list, row) {
			if !changed {
				c.Lists = append([][]ast.ExprNode(nil), n.Lists...)
			}
			c.Lists[i], changed = list, true
		}
	}
	if n.Select != nil {
		c.Select = bracketedQuery(n.Select)
		changed = changed || c.Select != n.Select
	}
	c.OnDuplicate = bracketedAssignments(n.OnDuplicate)
	if changed || !sameSlice(c.OnDuplicate, n.OnDuplicate) {
		return &c
	}
	return n
}

func bracketedCreate(n *ast.CreateTableStmt) ast.StmtNode {
	cols := mapped(n.Cols, func(col *ast.ColumnDef) *ast.ColumnDef {
		options := mapped(col.Options, func(o *ast.ColumnOption) *ast.ColumnOption {
			if e := whole(o.Expr); e != o.Expr {
				c := *o
				c.Expr = e
				return &c
			}
			return o
		})
		if sameSlice(options, col.Options) {
			return col
		}
		c := *col
		c.Options = options
		return &c
	})
	constraints := mapped(n.Constraints, func(k *ast.Constraint) *ast.Constraint {
		if e := whole(k.Expr); e != k.Expr {
			c := *k
			c.Expr = e
			return &c
		}
		return k
	})
	sel := n.Select
	if sel != nil {
		sel = bracketedQuery(sel)
	}
	if sameSlice(cols, n.Cols) && sameSlice(constraints, n.Constraints) && sel == n.Select {
		return n
	}
	c := *n
	c.Cols, c.Constraints, c.Select = cols, constraints, sel
	return &c
}

func bracketedAssignments(list []*ast.Assignment) []*ast.Assignment {
	return mapped(list, func(a *ast.Assignment) *ast.Assignment {
		if e := whole(a.Expr); e != a.Expr {
			c := *a
			c.Expr = e
			return &c
		}
		return a
	})
}

// bracketedQuery does the same for what can stand in a FROM clause or in a
// subquery.
func bracketedQuery(q ast.ResultSetNode) ast.ResultSetNode {
	switch n := q.(type) {
	case *ast.SelectStmt:
		return bracketedSelect(n)
	case *ast.SetOprStmt:
		with, list, order := bracketedWith(n.With), bracketedSelectList(n.SelectList), bracketedOrder(n.OrderBy)
		if with != n.With || list != n.SelectList || order != n.OrderBy {
			c := *n
			c.With, c.SelectList, c.OrderBy = with, list, order
			return &c
		}
	case *ast.Join:
		return bracketedJoin(n)
	case *ast.TableSource:
		if s := bracketedQuery(n.Source); s != n.Source {
			c := *n
			c.Source = s
			return &c
		}
	}
	return q
}

func bracketedSelect(n *ast.SelectStmt) *ast.SelectStmt {
	with, from, fields := bracketedWith(n.With), bracketedRefs(n.From), bracketedFields(n.Fields)
	where, order, having, group := whole(n.Where), bracketedOrder(n.OrderBy), n.Having, n.GroupBy
	if having != nil {
		if e := whole(having.Expr); e != having.Expr {
			c := *having
			c.Expr = e
			having = &c
		}
	}
	if group != nil {
		if items := bracketedItems(group.Items); !sameSlice(items, group.Items) {
			c := *group
			c.Items = items
			group = &c
		}
	}
	if with == n.With && from == n.From && fields == n.Fields && where == n.Where && order == n.OrderBy && having == n.Having && group == n.GroupBy {
		return n
	}
	c := *n
	c.With, c.From, c.Fields, c.Where, c.OrderBy, c.Having, c.GroupBy = with, from, fields, where, order, having, group
	return &c
}

func bracketedFields(n *ast.FieldList) *ast.FieldList {
	if n == nil {
		return nil
	}
	fields := mapped(n.Fields, func(f *ast.SelectField) *ast.SelectField {
		if e := whole(f.Expr); e != f.Expr {
			c := *f
			c.Expr = e
			return &c
		}
		return f
	})
	if sameSlice(fields, n.Fields) {
		return n
	}
	c := *n
	c.Fields = fields
	return &c
}

func bracketedRefs(n *ast.TableRefsClause) *ast.TableRefsClause {
	if n == nil || n.TableRefs == nil {
		return n
	}
	if j := bracketedJoin(n.TableRefs); j != n.TableRefs {
		c := *n
		c.TableRefs = j
		return &c
	}
	return n
}

func bracketedJoin(n *ast.Join) *ast.Join {
	l, r, on := n.Left, n.Right, n.On
	if j, ok := l.(*ast.Join); ok && j.Right == nil {
		l = j.Left // the parser wraps the first table of a comma list
	}
	if l != nil {
		l = bracketedQuery(l)
	}
	if r != nil {
		r = bracketedQuery(r)
	}
	if on != nil {
		if e := whole(on.Expr); e != on.Expr {
			c := *on
			c.Expr = e
			on = &c
		}
	}
	if l == n.Left && r == n.Right && on == n.On {
		return n
	}
	c := *n
	c.Left, c.Right, c.On = l, r, on
	return &c
}

func bracketedOrder(n *ast.OrderByClause) *ast.OrderByClause {
	if n == nil {
		return nil
	}
	if items := bracketedItems(n.Items); !sameSlice(items, n.Items) {
		c := *n
		c.Items = items
		return &c
	}
	return n
}

func bracketedItems(list []*ast.ByItem) []*ast.ByItem {
	return mapped(list, func(i *ast.ByItem) *ast.ByItem {
		if e := whole(i.Expr); e != i.Expr {
			c := *i
			c.Expr = e
			return &c
		}
		return i
	})
}

func bracketedSelectList(n *ast.SetOprSelectList) *ast.SetOprSelectList {
	if n == nil {
		return nil
	}
	selects := mapped(n.Selects, func(s ast.Node) ast.Node {
		switch s := s.(type) {
		case *ast.SelectStmt:
			return bracketedSelect(s)
		case *ast.SetOprSelectList:
			return bracketedSelectList(s)
		}
		return s
	})
	with, order := bracketedWith(n.With), bracketedOrder(n.OrderBy)
	if sameSlice(selects, n.Selects) && with == n.With && order == n.OrderBy {
		return n
	}
	c := *n
	c.Selects, c.With, c.OrderBy = selects, with, order
	return &c
}

func bracketedWith(n *ast.WithClause) *ast.WithClause {
	if n == nil {
		return nil
	}
	ctes := mapped(n.CTEs, func(t *ast.CommonTableExpression) *ast.CommonTableExpression {
		if t.Query == nil {
			return t
		}
		if q := bracketed(t.Query); q != ast.ExprNode(t.Query) {
			c := *t
			c.Query = q.(*ast.SubqueryExpr)
			return &c
		}
		return t
	})
	if sameSlice(ctes, n.CTEs) {
		return n
	}
	c := *n
	c.CTEs = ctes
	return &c
}
