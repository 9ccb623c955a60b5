package solve

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ErrSubstituted refuses a condition that may fail once the value with which it equates
// a column is put in the column's place, even where the table is empty.
var ErrSubstituted = unsupported("error of a condition on a column that another condition fixes")

// failsSubstituted tells whether an AND somewhere in a condition fixes a column, and a part
// of another operand of it reads that column only and fails for the value. Servers may put
// the value in the column's place before they read a row; where they do, and how much of an
// operand they then compute, is not foreseen.
// https://dev.mysql.com/doc/refman/9.7/en/where-optimization.html
func (c *compiler) failsSubstituted(n ast.ExprNode) bool {
	if len(c.scope.sources) != 1 || c.scope.outer != nil || c.scope.sources[0].table == nil {
		return false
	}
	isAnd, list := operands(n)
	if len(list) == 1 || !isAnd && c.write && c.d.DBMS == history.MariaDB {
		return false // MariaDB puts none in beneath an OR of an UPDATE or DELETE
	}
	return slices.ContainsFunc(list, func(x ast.ExprNode) bool {
		return isAnd && c.failsBeside(x, list) || c.failsSubstituted(x)
	})
}

// failsBeside is failsSubstituted for the value to which x, one of the operands of an AND,
// fixes a column.
func (c *compiler) failsBeside(x ast.ExprNode, list []ast.ExprNode) bool {
	t := c.scope.sources[0].table
	col, value := fixed(t, x)
	if col < 0 || mentionsColumn(value) {
		return false
	}
	e, err := c.expr(value)
	if err != nil || !e.konst {
		return false
	}
	f := frame{row: make(Row, len(t.Columns)), strictWrite: true}
	f.row[col] = c.store(&f, &t.Columns[col], e.forColumn(&t.Columns[col]).eval(&f), e.typ)
	beyond := f.err != nil
	if beyond {
		// The value itself is put there, whether the column can hold it or not; what
		// is computed of it has the column's type all the same.
		f.err = nil
		if f.row[col] = e.eval(&f); f.err != nil || e.typ.Class != IntClass || t.Columns[col].Type.Class != IntClass {
			return false
		}
	}
	f.strictWrite = c.write
	return slices.ContainsFunc(list, func(o ast.ExprNode) bool {
		if o == x {
			return false
		}
		if onlyColumn(o, t, col) {
			if e, err := c.filter(o); err == nil {
				c.truth(c.numbered(e))(&f)
			}
			if f.err != nil || beyond && computes(o) {
				return true
			}
		}
		return c.partFails(o, t, col, &f)
	})
}

// partFails tells whether a part of an expression that reads one column and nothing else
// fails on a row.
func (c *compiler) partFails(n ast.ExprNode, t *Table, col int, f *frame) bool {
	return corpus.Contains(n, func(p ast.Node) (found, skip bool) {
		x, ok := p.(ast.ExprNode)
		if _, column := p.(*ast.ColumnNameExpr); column || !ok || !onlyColumn(x, t, col) {
			return false, column
		}
		if e, err := c.expr(x); err == nil {
			e.eval(f)
		}
		found, f.err = f.err != nil, nil
		return found, false
	})
}

// computes tells whether an expression holds a function or arithmetic.
func computes(n ast.ExprNode) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.FuncCallExpr, *ast.FuncCastExpr, *ast.CaseExpr:
			return true, false
		case *ast.BinaryOperationExpr:
			return !isComparison(x.Op) && x.Op != opcode.LogicAnd && x.Op != opcode.LogicOr, false
		}
		return false, false
	})
}

// fixed returns the column of t that a condition compares for equality, -1 for none, and
// with what.
func fixed(t *Table, x ast.ExprNode) (col int, value ast.ExprNode) {
	l, r := equated(x)
	if col = columnIn(t, l); col >= 0 {
		return col, r
	}
	return columnIn(t, r), l
}

// equated returns what a condition says to be equal, nil if it is another one. An IN of
// one value, a BETWEEN of equal bounds and NOT of a column are equalities, too.
func equated(x ast.ExprNode) (l, r ast.ExprNode) {
	switch n := x.(type) {
	case *ast.BinaryOperationExpr:
		if n.Op == opcode.EQ {
			return n.L, n.R
		}
	case *ast.UnaryOperationExpr:
		v := n.V
		if p, ok := v.(*ast.ParenthesesExpr); ok {
			v = p.Expr
		}
		switch v := v.(type) {
		case *ast.ColumnNameExpr:
			if isNot(n.Op) {
				return v, ast.NewValueExpr(int64(0), "", "")
			}
		case *ast.BinaryOperationExpr:
			if isNot(n.Op) && v.Op == opcode.NE {
				return v.L, v.R
			}
		}
	case *ast.PatternInExpr:
		if !n.Not && n.Sel == nil && len(n.List) == 1 {
			return n.Expr, n.List[0]
		}
	case *ast.BetweenExpr:
		if !n.Not && writtenOut(n.Left) == writtenOut(n.Right) {
			return n.Expr, n.Left
		}
	}
	return nil, nil
}

// columnIn returns the column of t that an expression is, -1 if it is none.
func columnIn(t *Table, n ast.ExprNode) int {
	switch n := n.(type) {
	case *ast.ParenthesesExpr:
		return columnIn(t, n.Expr)
	case *ast.ColumnNameExpr:
		return t.ColumnIndex(n.Name.Name.O)
	}
	return -1
}

// onlyColumn tells whether an expression reads one column of t and nothing else.
func onlyColumn(n ast.ExprNode, t *Table, col int) bool {
	found := false
	return !corpus.Contains(n, func(n ast.Node) (other, skip bool) {
		switch x := n.(type) {
		case *ast.ColumnNameExpr:
			found = true
			return t.ColumnIndex(x.Name.Name.O) != col, false
		case *ast.SubqueryExpr, *ast.AggregateFuncExpr, *ast.ValuesExpr:
			return true, false
		}
		return false, false
	}) && found
}

// fixedByOthers tells whether one of several conditions equates a column that another one, x,
// reads.
// https://dev.mysql.com/doc/refman/9.7/en/where-optimization.html
func (c *compiler) fixedByOthers(list []ast.ExprNode, x ast.ExprNode) bool {
	if len(c.scope.sources) != 1 || c.scope.sources[0].table == nil {
		return false
	}
	t := c.scope.sources[0].table
	return slices.ContainsFunc(list, func(y ast.ExprNode) bool {
		col, _ := fixed(t, y)
		return y != x && col >= 0 && corpus.Contains(x, func(n ast.Node) (found, skip bool) {
			name, ok := n.(*ast.ColumnName)
			return ok && t.ColumnIndex(name.Name.O) == col, false
		})
	})
}

// fixesExpression tells whether one of several conditions equates an expression of
// columns with a constant and another one holds that expression, too. The optimiser
// may put the constant there, and then know without a row that all is false:
// a * 2 = 0 AND a * 2 never multiplies.
// https://dev.mysql.com/doc/refman/9.7/en/where-optimization.html
func (c *compiler) fixesExpression(list []ast.ExprNode) bool {
	for _, x := range list {
		l, r := equated(x)
		for _, side := range []ast.ExprNode{l, r} {
			if _, column := side.(*ast.ColumnNameExpr); side == nil || column || !mentionsColumn(side) {
				continue
			}
			text := writtenOut(side)
			holds := func(y ast.ExprNode) bool { return y != x && strings.Contains(writtenOut(y), text) }
			if slices.ContainsFunc(list, holds) {
				return true
			}
		}
	}
	return false
}

func writtenOut(n ast.Node) string {
	var b strings.Builder
	if err := n.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags, &b)); err != nil {
		return ""
	}
	return strings.Trim(b.String(), "()")
}
