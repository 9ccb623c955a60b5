package solve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// condition compiles a WHERE clause; nil stands for none. It is a filter, of which each
// operand may be asked of the server.
func (c *compiler) condition(n ast.ExprNode) (func(*frame) sqlvalue.Truth, error) {
	t, err := c.ownCondition(n)
	if n != nil && c.s.leaves(n) {
		if asked := c.askedTruth(n, cmp.Or(err, errToBeAsked), t); asked != nil {
			return asked, nil
		}
	}
	return t, err
}

// ownCondition is a condition that the solver itself computes, but for operands that it
// does not know.
func (c *compiler) ownCondition(n ast.ExprNode) (func(*frame) sqlvalue.Truth, error) {
	var parts []func(*frame) sqlvalue.Truth
	c.inWhere = true
	defer func() { c.inWhere = false }()
	if n == nil {
		return nil, nil
	}
	isAnd, list := operands(n)
	if !isAnd {
		list = []ast.ExprNode{n}
	}
	for _, x := range list {
		e, err := c.filter(x)
		if err != nil {
			if t := c.askedTruth(x, err, nil); t != nil {
				parts = append(parts, t)
				continue
			}
			return nil, err
		}
		t := c.truth(e)
		if len(list) == 1 {
			t = c.soleCondition(x, e)
		}
		if e.typ.Class == StringClass && c.d.is(emptyFilterFails) {
			eval, plain := e.eval, t
			t = func(f *frame) sqlvalue.Truth {
				if v := eval(f); f.err == nil && f.strictWrite && !v.IsNull() && strings.TrimSpace(v.Str()) == "" {
					f.truncated("DOUBLE", v.Str())
					return sqlvalue.False
				}
				return plain(f)
			}
		}
		parts = append(parts, t)
	}
	if slices.ContainsFunc(list, connects) && !(c.write && c.d.DBMS == history.MariaDB) {
		if substituted, err := c.branchFails(n); err != nil || substituted {
			return nil, cmp.Or(err, ErrSubstituted)
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	if c.propagatesError(list, parts) {
		return nil, ErrSubstituted
	}
	all := connect(true, parts)
	if !c.fixesExpression(list) {
		return all, nil
	}
	return func(f *frame) sqlvalue.Truth {
		t := all(f)
		if isSQL(f.err) {
			f.err = &Unsupported{"error of an expression that another condition fixes"}
		}
		return t
	}, nil
}

// ErrSubstituted refuses a condition that may fail once the value to which another one
// fixes a column is put in the column's place, even where the table is empty.
var ErrSubstituted = unsupported("error of a condition on a column that another condition fixes")

// propagatesError tells whether a condition fails for the value to which another
// one fixes a column: servers may put the value in its place before they read a
// row.
// https://dev.mysql.com/doc/refman/9.7/en/where-optimization.html
func (c *compiler) propagatesError(list []ast.ExprNode, parts []func(*frame) sqlvalue.Truth) bool {
	if len(c.scope.sources) != 1 || c.scope.outer != nil {
		return false
	}
	t := c.scope.sources[0].table
	for i, x := range list {
		l, r := equated(x)
		col, other := columnIn(t, l), r
		if col < 0 {
			col, other = columnIn(t, r), l
		}
		if col < 0 || mentionsColumn(other) {
			continue
		}
		e, err := c.expr(other)
		if err != nil || !e.konst {
			continue
		}
		f := frame{row: make(Row, len(t.Columns)), strictWrite: true}
		f.row[col] = c.store(&f, &t.Columns[col], e.forColumn(&t.Columns[col]).eval(&f), e.typ)
		beyond := f.err != nil
		if beyond {
			// The value itself is put there, whether the column can hold it or not; what
			// is computed of it has the column's type all the same.
			f.err = nil
			if f.row[col] = e.eval(&f); f.err != nil || e.typ.Class != IntClass || t.Columns[col].Type.Class != IntClass {
				continue
			}
		}
		for k, p := range parts {
			switch {
			case k == i:
				continue
			case !onlyColumn(list[k], t, col):
				if computes(list[k]) && c.partFails(list[k], t, col, &f, false) {
					return true
				}
				continue
			}
			if p(&f); f.err != nil || beyond && computes(list[k]) {
				return true
			}
			// MySQL folds all that the value makes constant, also beside what is true.
			if c.d.DBMS == history.MySQL && computes(list[k]) && c.partFails(list[k], t, col, &f, true) {
				return true
			}
		}
	}
	return false
}

// partFails tells whether a part of an expression that reads one column and nothing
// else fails on a row: one of the largest such parts or, if every is set, any.
func (c *compiler) partFails(n ast.ExprNode, t *Table, col int, f *frame, every bool) bool {
	v := &failingPart{c: c, t: t, col: col, f: f, every: every}
	n.Accept(v)
	return v.found
}

type failingPart struct {
	c     *compiler
	t     *Table
	col   int
	f     *frame
	every bool
	found bool
}

func (v *failingPart) Enter(n ast.Node) (ast.Node, bool) {
	x, ok := n.(ast.ExprNode)
	if v.found || !ok || !onlyColumn(x, v.t, v.col) {
		return n, v.found
	}
	if e, err := v.c.expr(x); err == nil {
		e.eval(v.f)
		v.found, v.f.err = v.f.err != nil, nil
	}
	return n, v.found || !v.every
}

func (v *failingPart) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// computes tells whether an expression holds a function or arithmetic.
func computes(n ast.ExprNode) bool {
	var v computation
	n.Accept(&v)
	return v.found
}

type computation struct{ found bool }

func (v *computation) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.FuncCallExpr, *ast.FuncCastExpr, *ast.CaseExpr:
		v.found = true
	case *ast.BinaryOperationExpr:
		v.found = v.found || !isComparison(x.Op) && x.Op != opcode.LogicAnd && x.Op != opcode.LogicOr
	}
	return n, v.found
}

func (v *computation) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// equated returns what a condition says to be equal, nil if it is another one. An IN
// of one value and, on MySQL, a BETWEEN of equal bounds are equalities, too.
func equated(x ast.ExprNode) (l, r ast.ExprNode) {
	switch n := x.(type) {
	case *ast.BinaryOperationExpr:
		if n.Op == opcode.EQ {
			return n.L, n.R
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
	if col, ok := n.(*ast.ColumnNameExpr); ok {
		return t.ColumnIndex(col.Name.Name.O)
	}
	return -1
}

// onlyColumn tells whether an expression reads one column of t and nothing else.
func onlyColumn(n ast.ExprNode, t *Table, col int) bool {
	v := &columnReader{t: t, col: col, only: true}
	n.Accept(v)
	return v.only && v.found
}

type columnReader struct {
	t           *Table
	col         int
	only, found bool
}

func (v *columnReader) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.ColumnNameExpr:
		v.found = true
		v.only = v.only && v.t.ColumnIndex(x.Name.Name.O) == v.col
	case *ast.SubqueryExpr, *ast.AggregateFuncExpr, *ast.ValuesExpr:
		v.only = false
	}
	return n, !v.only
}

func (v *columnReader) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func sameError(a, b error) bool {
	x, okX := a.(*SQLError)
	y, okY := b.(*SQLError)
	return okX && okY && x.Code == y.Code
}

// conjuncts appends the operands of the outermost ANDs to list.
func conjuncts(n ast.ExprNode, list []ast.ExprNode) []ast.ExprNode {
	switch x := n.(type) {
	case nil:
		return list
	case *ast.ParenthesesExpr:
		return conjuncts(x.Expr, list)
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.LogicAnd {
			return conjuncts(x.R, conjuncts(x.L, list))
		}
	}
	return append(list, n)
}
