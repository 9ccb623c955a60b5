package innodb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/types"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// pinsKey reports whether a condition fixes every column of a unique key to one
// value: an AND of equalities with literals.
func pinsKey(where ast.ExprNode, t *versions.Table, k *solve.Key) bool {
	if where == nil || !k.Unique && !k.Primary {
		return false
	}
	return !slices.ContainsFunc(k.Columns, func(c int) bool { return !pins(where, t, c, false) })
}

// looksUp reports whether a condition makes the scan of a unique key a series
// of look-ups of single values: those of IN, of equalities joined by OR.
func looksUp(where ast.ExprNode, t *versions.Table, k *solve.Key) bool {
	return pinsKey(where, t, k) || where != nil && (k.Unique || k.Primary) && len(k.Columns) == 1 && pins(where, t, k.Columns[0], true)
}

// looksUpPart reports whether a part of an OR fixes every column of the clustered
// index to one value: its range is a look-up. There are ranges only if each part makes
// some; a part that computes with columns has the whole table read.
// https://dev.mysql.com/doc/refman/en/range-optimization.html
func looksUpPart(where ast.ExprNode, t *versions.Table) bool {
	if t.Clustered == nil {
		return false
	}
	parts := mvcc.Disjuncts(where, nil)
	return slices.ContainsFunc(parts, func(d ast.ExprNode) bool { return pinsKey(d, t, t.Clustered) }) &&
		!slices.ContainsFunc(parts, func(d ast.ExprNode) bool { return !comparesKey(d, t) })
}

// comparesKey reports whether a condition, or one of those that it connects, compares
// the first column of a key itself, not what is computed of it.
func comparesKey(x ast.ExprNode, t *versions.Table) bool {
	is := func(x ast.ExprNode) bool {
		c, ok := x.(*ast.ColumnNameExpr)
		return ok && slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return k.Columns[0] == columnIn(t, c) })
	}
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		return comparesKey(n.Expr, t)
	case *ast.UnaryOperationExpr:
		return comparesKey(n.V, t)
	case *ast.BinaryOperationExpr:
		if n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr {
			return comparesKey(n.L, t) || comparesKey(n.R, t)
		}
		return is(n.L) || is(n.R)
	case *ast.BetweenExpr:
		return is(n.Expr)
	case *ast.PatternInExpr:
		return is(n.Expr)
	case *ast.PatternLikeOrIlikeExpr:
		return is(n.Expr)
	case *ast.IsNullExpr:
		return is(n.Expr)
	}
	return is(x)
}

// pins reports whether a condition fixes a column to one literal, or, if some is
// set, to one of several.
func pins(x ast.ExprNode, t *versions.Table, col int, some bool) bool {
	is := func(x ast.ExprNode) bool {
		c, ok := x.(*ast.ColumnNameExpr)
		return ok && t.Def.ColumnIndex(c.Name.Name.O) == col
	}
	literal := func(x ast.ExprNode) bool {
		if u, ok := x.(*ast.UnaryOperationExpr); ok && u.Op == opcode.Minus {
			x = u.V
		}
		v, ok := x.(ast.ValueExpr)
		return ok && !(t.Def.Columns[col].Type.Class == solve.StringClass && number(v))
	}
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		return pins(n.Expr, t, col, some)
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.LogicAnd:
			return pins(n.L, t, col, some) || pins(n.R, t, col, some)
		case opcode.LogicOr:
			return some && pins(n.L, t, col, some) && pins(n.R, t, col, some)
		case opcode.EQ:
			return is(n.L) && literal(n.R) || is(n.R) && literal(n.L)
		case opcode.NullEQ: // a look-up, too, but of NULL there may be several
			return is(n.L) && literal(n.R) && !mvcc.IsNull(n.R) || is(n.R) && literal(n.L) && !mvcc.IsNull(n.L)
		}
	case *ast.PatternInExpr:
		return !n.Not && n.Sel == nil && (some || len(n.List) == 1) && is(n.Expr) && !slices.ContainsFunc(n.List, func(e ast.ExprNode) bool { return !literal(e) })
	}
	return false
}

// number reports whether a literal is a number. Every text of a column is converted to compare it with
// one, which no index helps to do.
// https://dev.mysql.com/doc/refman/en/type-conversion.html
func number(v ast.ValueExpr) bool {
	switch v.GetType().EvalType() {
	case types.ETInt, types.ETReal, types.ETDecimal:
		return !mvcc.IsNull(v)
	}
	return false
}
