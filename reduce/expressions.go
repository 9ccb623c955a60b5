package reduce

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// place says where an expression stands, which limits what may replace it.
type place uint8

const (
	placeValue place = iota
	// placeOperand is an operand of another operator: a composite needs
	// parentheses.
	placeOperand
	// placeField is an item of a SELECT list.
	placeField
	// placePosition is an item of ORDER BY or GROUP BY, where a number means
	// a column.
	placePosition
	// placeLimit takes a plain number only.
	placeLimit
)

// slot is a place in a tree that holds an expression.
type slot struct {
	at    *ast.ExprNode
	place place
}

// slots lists the expressions of a statement, outer before inner, those of
// subqueries and derived tables too.
func slots(n ast.StmtNode) []slot {
	s := &slotFinder{}
	switch n := n.(type) {
	case *ast.UpdateStmt:
		s.from(n.TableRefs)
		for _, a := range n.List {
			s.add(&a.Expr, placeValue)
		}
		s.add(&n.Where, placeValue)
		s.order(n.Order)
		s.limit(n.Limit)
	case *ast.DeleteStmt:
		s.from(n.TableRefs)
		s.add(&n.Where, placeValue)
		s.order(n.Order)
		s.limit(n.Limit)
	case *ast.InsertStmt:
		for _, row := range n.Lists {
			for i := range row {
				s.add(&row[i], placeValue)
			}
		}
		for _, a := range n.OnDuplicate {
			s.add(&a.Expr, placeValue)
		}
		s.rows(n.Select)
	case *ast.CreateTableStmt:
		for _, c := range n.Cols {
			for _, o := range c.Options {
				if o.Tp == ast.ColumnOptionDefaultValue || o.Tp == ast.ColumnOptionCheck || o.Tp == ast.ColumnOptionGenerated {
					s.add(&o.Expr, placeValue)
				}
			}
		}
		for _, k := range n.Constraints {
			s.add(&k.Expr, placeValue)
		}
	case ast.ResultSetNode:
		s.rows(n)
	}
	return s.out
}

type slotFinder struct{ out []slot }

func (s *slotFinder) add(at *ast.ExprNode, p place) {
	if *at == nil {
		return
	}
	s.out = append(s.out, slot{at, p})
	inner, q := operands(*at)
	for _, c := range inner {
		s.add(c, q)
	}
	if q, ok := (*at).(*ast.SubqueryExpr); ok {
		s.rows(q.Query)
	}
}

func (s *slotFinder) rows(n ast.ResultSetNode) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		if n.Fields != nil {
			for _, f := range n.Fields.Fields {
				s.add(&f.Expr, placeField)
			}
		}
		s.from(n.From)
		s.add(&n.Where, placeValue)
		if n.GroupBy != nil {
			for _, i := range n.GroupBy.Items {
				s.add(&i.Expr, placePosition)
			}
		}
		if n.Having != nil {
			s.add(&n.Having.Expr, placeValue)
		}
		s.order(n.OrderBy)
		s.limit(n.Limit)
	case *ast.SetOprStmt:
		for _, q := range n.SelectList.Selects {
			if q, ok := q.(*ast.SelectStmt); ok {
				s.rows(q)
			}
		}
		s.order(n.OrderBy)
		s.limit(n.Limit)
	case *ast.TableSource:
		s.rows(n.Source)
	case *ast.Join:
		if n == nil {
			return
		}
		s.rows(n.Left)
		if n.Right != nil {
			s.rows(n.Right)
		}
		if n.On != nil {
			s.add(&n.On.Expr, placeValue)
		}
	}
}

func (s *slotFinder) from(n *ast.TableRefsClause) {
	if n != nil {
		s.rows(n.TableRefs)
	}
}

func (s *slotFinder) order(n *ast.OrderByClause) {
	if n == nil {
		return
	}
	for _, i := range n.Items {
		s.add(&i.Expr, placePosition)
	}
}

func (s *slotFinder) limit(n *ast.Limit) {
	if n == nil {
		return
	}
	s.add(&n.Count, placeLimit)
	s.add(&n.Offset, placeLimit)
}

// operands returns the expressions directly inside one, and their place.
// Subqueries count as operands where they stand for a value; kinds that do not
// occur here are leaves.
func operands(e ast.ExprNode) ([]*ast.ExprNode, place) {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return []*ast.ExprNode{&e.Expr}, placeValue
	case *ast.UnaryOperationExpr:
		return []*ast.ExprNode{&e.V}, placeOperand
	case *ast.BinaryOperationExpr:
		return []*ast.ExprNode{&e.L, &e.R}, placeOperand
	case *ast.BetweenExpr:
		return []*ast.ExprNode{&e.Expr, &e.Left, &e.Right}, placeOperand
	case *ast.PatternInExpr:
		out := []*ast.ExprNode{&e.Expr}
		for i := range e.List {
			out = append(out, &e.List[i])
		}
		if e.Sel != nil {
			out = append(out, &e.Sel)
		}
		return out, placeOperand
	case *ast.IsNullExpr:
		return []*ast.ExprNode{&e.Expr}, placeOperand
	case *ast.IsTruthExpr:
		return []*ast.ExprNode{&e.Expr}, placeOperand
	case *ast.PatternLikeOrIlikeExpr:
		return []*ast.ExprNode{&e.Expr, &e.Pattern}, placeOperand
	case *ast.PatternRegexpExpr:
		return []*ast.ExprNode{&e.Expr, &e.Pattern}, placeOperand
	case *ast.CompareSubqueryExpr:
		return []*ast.ExprNode{&e.L, &e.R}, placeOperand
	case *ast.ExistsSubqueryExpr:
		return []*ast.ExprNode{&e.Sel}, placeOperand
	case *ast.CaseExpr:
		var out []*ast.ExprNode
		if e.Value != nil {
			out = append(out, &e.Value)
		}
		for _, w := range e.WhenClauses {
			out = append(out, &w.Expr, &w.Result)
		}
		if e.ElseClause != nil {
			out = append(out, &e.ElseClause)
		}
		return out, placeValue
	case *ast.FuncCallExpr:
		return pointers(e.Args), placeValue
	case *ast.AggregateFuncExpr:
		return pointers(e.Args), placeValue
	case *ast.FuncCastExpr:
		return []*ast.ExprNode{&e.Expr}, placeValue
	case *ast.RowExpr:
		return pointers(e.Values), placeValue
	case *ast.SetCollationExpr:
		return []*ast.ExprNode{&e.Expr}, placeOperand
	}
	return nil, placeValue
}

func pointers(list []ast.ExprNode) []*ast.ExprNode {
	out := make([]*ast.ExprNode, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// expressions emits each operand in place of its operator, lists less one
// element, and constants in place of everything else.
func (e *editor) expressions() {
	for _, s := range slots(e.tree) {
		e.fold(s)
		e.lift(s)
		e.elements(*s.at)
		e.replace(s)
	}
}

// fold puts the value of a sum, difference or product in its place.
func (e *editor) fold(s slot) {
	if _, ok := (*s.at).(*ast.BinaryOperationExpr); !ok || s.place == placePosition || s.place == placeLimit {
		return
	}
	if n, ok := integer(*s.at); ok {
		swap(e, armFold, s.at, corpus.IntLit(n))
	}
}

// integer computes an expression of small integers.
func integer(e ast.ExprNode) (int64, bool) {
	const most = 1 << 30
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return integer(e.Expr)
	case *ast.UnaryOperationExpr:
		n, ok := integer(e.V)
		return -n, ok && e.Op == opcode.Minus
	case *ast.BinaryOperationExpr:
		l, ok := integer(e.L)
		r, also := integer(e.R)
		if !ok || !also || max(l, -l, r, -r) > most {
			return 0, false
		}
		switch e.Op {
		case opcode.Plus:
			return l + r, true
		case opcode.Minus:
			return l - r, true
		case opcode.Mul:
			return l * r, true
		}
	case ast.ValueExpr:
		if l := corpus.LiteralOf(e); l.Kind == corpus.KindInt {
			n, ok := parseUint(l.Text)
			return int64(n), ok && n <= most
		}
	}
	return 0, false
}

// lift puts an operand in the place of its operator.
func (e *editor) lift(s slot) {
	inner, _ := operands(*s.at)
	for _, at := range inner {
		x := *at
		if s.place == placeOperand && composite(x) {
			x = &ast.ParenthesesExpr{Expr: x}
		}
		swap(e, armLift, s.at, x)
	}
}

// composite reports whether an expression needs parentheses as an operand.
func composite(e ast.ExprNode) bool {
	switch e.(type) {
	case *ast.BinaryOperationExpr, *ast.BetweenExpr, *ast.PatternInExpr, *ast.IsNullExpr, *ast.IsTruthExpr,
		*ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr, *ast.CompareSubqueryExpr, *ast.UnaryOperationExpr:
		return true
	}
	return false
}

// elements drops elements of lists and branches, and negations.
func (e *editor) elements(x ast.ExprNode) {
	switch x := x.(type) {
	case *ast.PatternInExpr:
		if len(x.List) > 1 {
			thin(e, armElement, &x.List, 1)
		}
		if x.Not {
			drop(e, armElement, &x.Not)
		}
	case *ast.CaseExpr:
		thin(e, armElement, &x.WhenClauses, 1)
		if x.ElseClause != nil {
			drop(e, armElement, &x.ElseClause)
		}
	case *ast.FuncCallExpr:
		thin(e, armElement, &x.Args, 1)
	case *ast.AggregateFuncExpr:
		if x.Distinct {
			drop(e, armElement, &x.Distinct)
		}
	case *ast.BetweenExpr:
		if x.Not {
			drop(e, armElement, &x.Not)
		}
	case *ast.IsNullExpr:
		if x.Not {
			drop(e, armElement, &x.Not)
		}
	case *ast.PatternLikeOrIlikeExpr:
		if x.Not {
			drop(e, armElement, &x.Not)
		}
	}
}

// replace puts a constant in the place of anything that is none, except where
// a number would mean something else or a column says more.
func (e *editor) replace(s slot) {
	if s.place == placePosition || s.place == placeLimit {
		return
	}
	switch (*s.at).(type) {
	case ast.ValueExpr:
		return
	case *ast.ColumnNameExpr:
		if s.place == placeField {
			return
		}
	}
	for _, c := range []ast.ExprNode{corpus.IntLit(1), corpus.IntLit(0), corpus.NullLit()} {
		swap(e, armReplace, s.at, c)
	}
}
