package mvcc

import (
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// rangeColumns returns the integer columns of which ranges are made: those that
// an index begins with, on MySQL all columns of an index that holds each column of
// the whole condition, as a skip scan can use it.
// https://dev.mysql.com/doc/refman/en/range-optimization.html#range-access-skip-scan
func (p *prover) rangeColumns() []int {
	var out []int
	for i := range p.t.Def.Keys {
		key := p.t.Def.Keys[i].Columns
		if p.e.h.Server.DBMS != history.MySQL || !onlyColumns(p.where, p.t.Def, columnSet(key)) {
			key = key[:1]
		}
		for _, c := range key {
			if p.t.Def.Columns[c].Type.Class == solve.IntClass {
				out = append(out, c)
			}
		}
	}
	return out
}

func columnSet(cols []int) map[int]bool {
	set := make(map[int]bool, len(cols))
	for _, c := range cols {
		set[c] = true
	}
	return set
}

// emptyRange reports whether the ranges that conditions make of one column have
// nothing in common.
func (p *prover) emptyRange(all []conjunct, col int) bool {
	mine := slices.DeleteFunc(slices.Clone(all), func(c conjunct) bool { return !p.makesRanges(c.x, c.not, col) })
	if len(mine) == 0 {
		return false
	}
	null, admitted := p.admits(mine, col)
	return !null && len(admitted) == 0
}

// admits returns whether conditions on one column admit NULL, and which they admit of the
// numbers that they name, of these with the other sign, and of the halves around. Ranges are
// those of real numbers: 3 < a AND a < 4 is not empty.
func (p *prover) admits(mine []conjunct, col int) (null bool, admitted []float64) {
	f := &literalFinder{}
	for _, c := range mine {
		c.x.Accept(f)
	}
	t := *p.t.Def
	t.Columns = slices.Clone(t.Columns)
	t.Columns[col].Type = solve.Type{Class: solve.DoubleClass}
	row := make(solve.Row, len(t.Columns))
	admits := func(v sqlvalue.Value) bool {
		row[col] = v
		return !slices.ContainsFunc(mine, func(c conjunct) bool { return p.fails(c, &t, row) })
	}
	null = !t.Columns[col].NotNull && admits(sqlvalue.Value{})
	for _, n := range append(f.ints, 0) {
		for _, d := range []float64{-0.5, 0, 0.5} {
			for _, v := range []float64{float64(n) + d, d - float64(n)} {
				if !slices.Contains(admitted, v) && admits(sqlvalue.NewDouble(v)) {
					admitted = append(admitted, v)
				}
			}
		}
	}
	return null, admitted
}

// oneValue reports whether the range that a condition makes of a clustered key of one
// column is a single value, however it is written: the server looks that up as it does
// an equality. NOT a and a IS FALSE are a = 0.
// https://dev.mysql.com/doc/refman/en/range-optimization.html
func (e *engine) oneValue(where ast.ExprNode, t *Table) bool {
	if t.Clustered == nil || where == nil {
		return false
	}
	if looksUp(pointed(where), t, t.Clustered) {
		return true
	}
	col := t.Clustered.Columns[0]
	if len(t.Clustered.Columns) > 1 || t.Def.Columns[col].Type.Class != solve.IntClass {
		return false
	}
	p := &prover{e: e, t: t, where: where}
	mine := slices.DeleteFunc(together(where, false, nil), func(c conjunct) bool {
		of := c.x
		if is, ok := of.(*ast.IsTruthExpr); ok {
			of = is.Expr
		}
		bare, ok := of.(*ast.ColumnNameExpr)
		return !(ok && columnIn(t, bare) == col) && !p.makesRanges(c.x, c.not, col)
	})
	if len(mine) == 0 {
		return false
	}
	null, admitted := p.admits(mine, col)
	return !null && len(admitted) == 1 && admitted[0] == math.Trunc(admitted[0])
}

// makesRanges reports whether a condition is made of comparisons of one column
// with integers and NULL.
func (p *prover) makesRanges(x ast.ExprNode, not bool, col int) bool {
	is := func(x ast.ExprNode) bool {
		c, ok := x.(*ast.ColumnNameExpr)
		return ok && columnIn(p.t, c) == col
	}
	literal := func(x ast.ExprNode) bool {
		v, ok := x.(ast.ValueExpr)
		if u, neg := x.(*ast.UnaryOperationExpr); neg && u.Op == opcode.Minus {
			v, ok = u.V.(ast.ValueExpr)
		}
		if !ok {
			return false
		}
		switch k := v.GetValue().(type) {
		case nil:
			return true
		case int64: // one beyond 1<<52 has no half beside it to try
			return k < 1<<52 && fits(p.t.Def.Columns[col].Type, k) && fits(p.t.Def.Columns[col].Type, -k)
		}
		return false
	}
	switch n := x.(type) {
	case *ast.ParenthesesExpr:
		return p.makesRanges(n.Expr, not, col)
	case *ast.UnaryOperationExpr:
		return isNot(n.Op) && p.makesRanges(n.V, !not, col)
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.LogicAnd, opcode.LogicOr:
			return p.makesRanges(n.L, not, col) && p.makesRanges(n.R, not, col)
		}
		if comparison[n.Op] {
			if n.Op == opcode.NullEQ && not {
				return false
			}
			if equality(n.Op, !not) && (isNull(n.L) || isNull(n.R)) { // MariaDB makes none of a <> NULL
				return false
			}
			return is(n.L) && literal(n.R) || is(n.R) && literal(n.L)
		}
	case *ast.BetweenExpr:
		return is(n.Expr) && literal(n.Left) && literal(n.Right)
	case *ast.PatternInExpr:
		if n.Not != not && (p.t.Clustered != nil && p.t.Clustered.Columns[0] == col || len(n.List) > 1 && slices.ContainsFunc(n.List, isNull)) {
			// NOT IN makes no ranges of the clustered index, and a NULL in a longer
			// list is passed over.
			return false
		}
		return n.Sel == nil && is(n.Expr) && !slices.ContainsFunc(n.List, func(x ast.ExprNode) bool { return !literal(x) })
	case *ast.IsNullExpr:
		return is(n.Expr)
	}
	return false
}
