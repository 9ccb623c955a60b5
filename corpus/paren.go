package corpus

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// Restore writes operands as they are. A tree from the parser holds its
// parentheses as nodes; one put together by hand needs not. The functions here
// add the missing ones. They never change a node, because a tree may be shared:
// a node on the way to a new pair of parentheses is copied, and in the common
// case that nothing is missing nothing is allocated.

// binding tells how tightly an expression holds together when it is written
// without parentheses. The order is that of the grammars of MySQL, MariaDB and
// the parser, which agree on it.
type binding uint8

const (
	bindAny binding = iota // assignment to a user variable
	bindOr
	bindXor
	bindAnd
	bindNot
	bindTest      // IS TRUE, IS NULL
	bindCompare   // =, <, IN, LIKE, BETWEEN …
	bindBitOr     // |
	bindBitAnd    // &
	bindShift     // << >>
	bindSum       // + -
	bindProduct   // * / % DIV MOD
	bindPower     // ^
	bindCollate   // COLLATE, BINARY
	bindUnary     // - ~ !
	bindPrimary   // literal, name, call, subquery, parentheses
	bindPredicate = bindBitOr
)

var operatorBinding = map[opcode.Op]binding{
	opcode.LogicOr: bindOr, opcode.LogicXor: bindXor, opcode.LogicAnd: bindAnd,
	opcode.GE: bindCompare, opcode.LE: bindCompare, opcode.EQ: bindCompare, opcode.NE: bindCompare,
	opcode.LT: bindCompare, opcode.GT: bindCompare, opcode.NullEQ: bindCompare,
	opcode.Or: bindBitOr, opcode.And: bindBitAnd,
	opcode.LeftShift: bindShift, opcode.RightShift: bindShift,
	opcode.Plus: bindSum, opcode.Minus: bindSum,
	opcode.Mul: bindProduct, opcode.Div: bindProduct, opcode.Mod: bindProduct, opcode.IntDiv: bindProduct,
	opcode.Xor: bindPower,
}

// bindings is operatorBinding as an array: a map costs too much here.
var bindings = func() (b [64]binding) {
	for op, v := range operatorBinding {
		b[op] = v
	}
	return b
}()

func bindingOf(e ast.ExprNode) binding {
	switch e := e.(type) {
	case *ast.BinaryOperationExpr:
		return bindings[e.Op]
	case *ast.UnaryOperationExpr:
		if e.Op == opcode.Not {
			return bindNot
		}
		return bindUnary
	case *ast.IsTruthExpr, *ast.IsNullExpr:
		return bindTest
	case *ast.BetweenExpr, *ast.PatternInExpr, *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr, *ast.CompareSubqueryExpr:
		return bindCompare
	case *ast.ExistsSubqueryExpr:
		if e.Not {
			return bindNot
		}
	case *ast.MatchAgainst:
		return bindNot // the parser takes it for a whole condition only
	case *ast.VariableExpr:
		if e.Value != nil {
			return bindAny
		}
	case *ast.SetCollationExpr:
		return bindCollate
	case *ast.FuncCastExpr:
		if e.FunctionType == ast.CastBinaryOperator {
			return bindCollate
		}
	case ast.ValueExpr:
		if negative(e.GetValue()) {
			return bindUnary
		}
	}
	return bindPrimary
}

// negative tells of literals that are written with a sign. The parser makes
// none, ast.NewValueExpr can.
func negative(v any) bool {
	switch v := v.(type) {
	case int64:
		return v < 0
	case float64:
		return v < 0
	}
	return false
}

// operand returns e, in parentheses if it binds less tightly than least.
func operand(e ast.ExprNode, least binding) ast.ExprNode {
	if e == nil {
		return nil
	}
	e2 := bracketed(e)
	if bindingOf(e) < least {
		return &ast.ParenthesesExpr{Expr: e2}
	}
	return e2
}

// whole returns e where any expression may stand.
func whole(e ast.ExprNode) ast.ExprNode {
	if e == nil {
		return nil
	}
	return bracketed(e)
}

// bracketed returns e with the parentheses that its parts need.
func bracketed(e ast.ExprNode) ast.ExprNode {
	switch n := e.(type) {
	case *ast.ColumnNameExpr:
		return e
	case *ast.BinaryOperationExpr:
		left, right := bindings[n.Op], bindings[n.Op]+1
		if left == bindCompare {
			// Chains of comparisons are left to right everywhere, but a mix with
			// IS, IN and BETWEEN is not read alike: make both sides explicit.
			left, right = bindPredicate, bindPredicate
		}
		l, r := operand(n.L, left), operand(n.R, right)
		if l != n.L || r != n.R {
			c := *n
			c.L, c.R = l, r
			return &c
		}
	case *ast.UnaryOperationExpr:
		least := bindUnary
		if n.Op == opcode.Not {
			least = bindNot
		}
		v := operand(n.V, least)
		if _, ok := v.(*ast.ExistsSubqueryExpr); ok && n.Op == opcode.Not {
			// The parser would make one node of the two.
			v = &ast.ParenthesesExpr{Expr: v}
		}
		if v != n.V {
			c := *n
			c.V = v
			return &c
		}
	case *ast.ParenthesesExpr:
		if v := whole(n.Expr); v != n.Expr {
			c := *n
			c.Expr = v
			return &c
		}
	case *ast.IsTruthExpr:
		if v := operand(n.Expr, bindPredicate); v != n.Expr {
			c := *n
			c.Expr = v
			return &c
		}
	case *ast.IsNullExpr:
		if v := operand(n.Expr, bindPredicate); v != n.Expr {
			c := *n
			c.Expr = v
			return &c
		}
	case *ast.BetweenExpr:
		v, l, r := operand(n.Expr, bindPredicate), operand(n.Left, bindPredicate), operand(n.Right, bindPredicate)
		if v != n.Expr || l != n.Left || r != n.Right {
			c := *n
			c.Expr, c.Left, c.Right = v, l, r
			return &c
		}
	case *ast.PatternInExpr:
		v, list, sel := operand(n.Expr, bindPredicate), wholeList(n.List), whole(n.Sel)
		if v != n.Expr || !sameSlice(list, n.List) || sel != n.Sel {
			c := *n
			c.Expr, c.List, c.Sel = v, list, sel
			return &c
		}
	case *ast.PatternLikeOrIlikeExpr:
		v, p := operand(n.Expr, bindPredicate), operand(n.Pattern, bindPrimary)
		if v != n.Expr || p != n.Pattern {
			c := *n
			c.Expr, c.Pattern = v, p
			return &c
		}
	case *ast.PatternRegexpExpr:
		v, p := operand(n.Expr, bindPredicate), operand(n.Pattern, bindPrimary)
		if v != n.Expr || p != n.Pattern {
			c := *n
			c.Expr, c.Pattern = v, p
			return &c
		}
	case *ast.CompareSubqueryExpr:
		l, r := operand(n.L, bindPredicate), whole(n.R)
		if l != n.L || r != n.R {
			c := *n
			c.L, c.R = l, r
			return &c
		}
	case *ast.ExistsSubqueryExpr:
		if v := whole(n.Sel); v != n.Sel {
			c := *n
			c.Sel = v
			return &c
		}
	case *ast.SubqueryExpr:
		if q := bracketedQuery(n.Query); q != n.Query {
			c := *n
			c.Query = q
			return &c
		}
	case *ast.SetCollationExpr:
		if v := operand(n.Expr, bindPrimary); v != n.Expr {
			c := *n
			c.Expr = v
			return &c
		}
	case *ast.FuncCastExpr:
		least := bindAny
		if n.FunctionType == ast.CastBinaryOperator {
			least = bindPrimary
		}
		if v := operand(n.Expr, least); v != n.Expr {
			c := *n
			c.Expr = v
			return &c
		}
	case *ast.FuncCallExpr:
		if args := wholeList(n.Args); !sameSlice(args, n.Args) {
			c := *n
			c.Args = args
			return &c
		}
	case *ast.AggregateFuncExpr:
		if args := wholeList(n.Args); !sameSlice(args, n.Args) {
			c := *n
			c.Args = args
			return &c
		}
	case *ast.RowExpr:
		if v := wholeList(n.Values); !sameSlice(v, n.Values) {
			c := *n
			c.Values = v
			return &c
		}
	case *ast.VariableExpr:
		if v := whole(n.Value); v != n.Value {
			c := *n
			c.Value = v
			return &c
		}
	case *ast.CaseExpr:
		return bracketedCase(n)
	}
	return e
}

func bracketedCase(n *ast.CaseExpr) ast.ExprNode {
	value, other := whole(n.Value), whole(n.ElseClause)
	when := mapped(n.WhenClauses, func(w *ast.WhenClause) *ast.WhenClause {
		e, r := whole(w.Expr), whole(w.Result)
		if e == w.Expr && r == w.Result {
			return w
		}
		c := *w
		c.Expr, c.Result = e, r
		return &c
	})
	if value == n.Value && other == n.ElseClause && sameSlice(when, n.WhenClauses) {
		return n
	}
	c := *n
	c.Value, c.ElseClause, c.WhenClauses = value, other, when
	return &c
}

// mapped applies f to every element. It returns list itself if f changed none.
func mapped[T comparable](list []T, f func(T) T) []T {
	for i, e := range list {
		if e2 := f(e); e2 != e {
			out := make([]T, len(list))
			copy(out, list)
			out[i] = e2
			for j := i + 1; j < len(out); j++ {
				out[j] = f(out[j])
			}
			return out
		}
	}
	return list
}

// sameSlice says whether mapped returned its argument.
func sameSlice[T any](a, b []T) bool { return len(a) == 0 || &a[0] == &b[0] }

func wholeList(list []ast.ExprNode) []ast.ExprNode { return mapped(list, whole) }

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
