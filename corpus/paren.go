package corpus

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

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
