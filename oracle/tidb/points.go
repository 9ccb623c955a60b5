package tidb

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// TiDB makes ranges of a filter (pkg/util/ranger). If all ranges of a unique key are points, it looks
// these keys up, however the filter says them:
//   - two bounds that are equal, of any type; LIKE without a wildcard;
//   - a comparison of an ENUM with a text, of which it makes each of the few values that satisfy it;
//   - rows that are compared, and NOT of a comparison;
//   - alternatives, each of which leaves every column of the key such values.
// Points that are adjacent integers may become one range, which is no look-up.

// spelledFilterOf is pointFilterOf for all of these forms. What such a filter says of other columns
// beside an alternative is judged of the row that is found.
func spelledFilterOf(t *solve.Table, where ast.ExprNode) *pointFilter {
	if where == nil {
		return nil
	}
	conds := mvcc.Conjuncts(spelledOut(where), nil)
	return pinnedKey(t, func(f *pointFilter) func(col int) bool {
		for _, e := range conds {
			on := saysOf(t, f.key, e)
			if on != nil {
				f.pinned = append(f.pinned, on)
			}
			if on != e {
				f.rest = append(f.rest, e)
			}
		}
		return func(col int) bool { return leavesPoints(t, f.pinned, col) }
	})
}

// saysOf returns what a condition says of the columns of a key alone: itself, a part of it, or nil
// for nothing.
func saysOf(t *solve.Table, k *solve.Key, e ast.ExprNode) ast.ExprNode {
	x, ok := e.(*ast.BinaryOperationExpr)
	if !ok || x.Op != opcode.LogicAnd && x.Op != opcode.LogicOr {
		if c, _ := pointColumn(t, e); slices.Contains(k.Columns, c) {
			return e
		}
		return nil
	}
	l, r := saysOf(t, k, x.L), saysOf(t, k, x.R)
	switch {
	case l == x.L && r == x.R:
		return e
	case l != nil && r != nil:
		return &ast.BinaryOperationExpr{Op: x.Op, L: l, R: r}
	case x.Op == opcode.LogicOr:
		return nil
	case l != nil:
		return l
	}
	return r
}

// leavesPoints reports whether conditions that must all hold leave a column listed values only.
func leavesPoints(t *solve.Table, conds []ast.ExprNode, col int) bool {
	if boundsMeet(t, conds)[col] || equalBounds(t, conds, col) {
		return true
	}
	return slices.ContainsFunc(conds, func(e ast.ExprNode) bool {
		if branches := mvcc.Disjuncts(e, nil); len(branches) > 1 {
			return !slices.ContainsFunc(branches, func(b ast.ExprNode) bool {
				return !leavesPoints(t, mvcc.Conjuncts(b, nil), col)
			})
		}
		c, fixed := pointColumn(t, e)
		return c == col && fixed
	})
}

// pointColumn is columnOf for the conditions that leave a column points beside equalities, too.
func pointColumn(t *solve.Table, e ast.ExprNode) (col int, fixed bool) {
	if col, fixed = columnOf(t, e); fixed {
		return col, true
	}
	isText := func(x ast.ExprNode) bool { _, ok := textLiteral(x); return ok }
	switch x := e.(type) {
	case *ast.PatternLikeOrIlikeExpr:
		pattern, ok := textLiteral(x.Pattern)
		if c := columnRef(t, x.Expr); ok && c >= 0 && x.IsLike && t.Columns[c].Type.Class == solve.StringClass {
			return c, !x.Not && !strings.ContainsAny(pattern, `%_`+string(rune(x.Escape)))
		}
	case *ast.BinaryOperationExpr:
		if col >= 0 && t.Columns[col].Type.Class == solve.EnumClass {
			return col, isText(x.L) || isText(x.R)
		}
	case *ast.BetweenExpr:
		if col >= 0 && t.Columns[col].Type.Class == solve.EnumClass {
			return col, isText(x.Left) && isText(x.Right)
		}
	}
	return col, false
}

// textLiteral returns the value of an operand that is a text.
func textLiteral(e ast.ExprNode) (string, bool) {
	v, ok := e.(ast.ValueExpr)
	if !ok {
		return "", false
	}
	s, ok := v.GetValue().(string)
	return s, ok
}

// equalBounds reports whether a column has to be at least and at most the same constant. Those of
// integers, which bounds of other values can leave one, too, are boundsMeet's.
func equalBounds(t *solve.Table, conds []ast.ExprNode, col int) bool {
	if t.Columns[col].Type.Class == solve.IntClass {
		return false
	}
	var low, high []string
	for _, e := range conds {
		c, _ := columnOf(t, e)
		x, ok := e.(*ast.BinaryOperationExpr)
		if c != col || !ok {
			continue
		}
		op, other := x.Op, x.R
		if columnRef(t, x.L) < 0 {
			op, other = mirrored[x.Op], x.L
		}
		switch text := corpus.SQL(&ast.DoStmt{Exprs: []ast.ExprNode{other}}, corpus.Text); {
		case !constant(other):
		case op == opcode.GE:
			low = append(low, text)
		case op == opcode.LE:
			high = append(high, text)
		}
	}
	return slices.ContainsFunc(low, func(l string) bool { return slices.Contains(high, l) })
}

// opposite holds the comparison that holds where another one does not.
var opposite = map[opcode.Op]opcode.Op{
	opcode.EQ: opcode.NE, opcode.NE: opcode.EQ,
	opcode.LT: opcode.GE, opcode.GE: opcode.LT,
	opcode.GT: opcode.LE, opcode.LE: opcode.GT,
}

// spelledOut returns a condition without parentheses, NOT of comparisons and comparisons of rows.
func spelledOut(e ast.ExprNode) ast.ExprNode {
	switch x := e.(type) {
	case *ast.ParenthesesExpr:
		return spelledOut(x.Expr)
	case *ast.UnaryOperationExpr:
		if mvcc.IsNot(x.Op) {
			if n := negated(spelledOut(x.V)); n != nil {
				return n
			}
		}
	case *ast.PatternInExpr:
		if row, ok := x.Expr.(*ast.RowExpr); ok && !x.Not && x.Sel == nil {
			var alternatives ast.ExprNode
			for _, value := range x.List {
				same := equalRows(row, value)
				if same == nil {
					return e
				}
				alternatives = joined(opcode.LogicOr, alternatives, same)
			}
			return alternatives
		}
	case *ast.BinaryOperationExpr:
		switch x.Op {
		case opcode.LogicAnd, opcode.LogicOr:
			return &ast.BinaryOperationExpr{Op: x.Op, L: spelledOut(x.L), R: spelledOut(x.R)}
		case opcode.EQ:
			if row, ok := x.L.(*ast.RowExpr); ok {
				if same := equalRows(row, x.R); same != nil {
					return same
				}
			}
		}
	}
	return e
}

// negated returns the condition that holds where a comparison does not, nil for other conditions.
func negated(e ast.ExprNode) ast.ExprNode {
	x, ok := e.(*ast.BinaryOperationExpr)
	if !ok {
		return nil
	}
	if op, ok := opposite[x.Op]; ok {
		return &ast.BinaryOperationExpr{Op: op, L: x.L, R: x.R}
	}
	l, r := negated(x.L), negated(x.R)
	switch {
	case l == nil || r == nil:
		return nil
	case x.Op == opcode.LogicAnd:
		return joined(opcode.LogicOr, l, r)
	case x.Op == opcode.LogicOr:
		return joined(opcode.LogicAnd, l, r)
	}
	return nil
}

// equalRows returns what the equality of a row and another operand says of each of its
// members, nil if the other is no such row.
func equalRows(row *ast.RowExpr, other ast.ExprNode) ast.ExprNode {
	o, ok := other.(*ast.RowExpr)
	if !ok || len(o.Values) != len(row.Values) {
		return nil
	}
	var out ast.ExprNode
	for i, v := range row.Values {
		out = joined(opcode.LogicAnd, out, &ast.BinaryOperationExpr{Op: opcode.EQ, L: v, R: o.Values[i]})
	}
	return out
}

// joined connects two conditions, of which the first may be none.
func joined(op opcode.Op, l, r ast.ExprNode) ast.ExprNode {
	if l == nil {
		return r
	}
	return &ast.BinaryOperationExpr{Op: op, L: l, R: r}
}
