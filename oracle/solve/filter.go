package solve

import (
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// filter compiles an expression of which NULL counts as false: what WHERE, ON,
// HAVING and IF ask. With nullStops such a place hands that on to the operands
// of its ANDs, ORs and, by De Morgan's laws, NOTs, and an AND there does not
// look behind a NULL:
//
//	WHERE NULL AND b - 1 OR c       b - 1 is not evaluated
//	SELECT NULL AND b - 1 OR c      b - 1 is, with its errors
func (c *compiler) filter(n ast.ExprNode) (expr, error) {
	if !c.d.is(nullStops) {
		return c.expr(n)
	}
	return c.filterOf(n, false)
}

// soleCondition returns an accessor for the truth of n, compiled as e, which is a
// condition as a whole, not an operand of AND or OR.
func (c *compiler) soleCondition(n ast.ExprNode, e expr) func(*frame) sqlvalue.Truth {
	plain := c.truth(e)
	if !c.d.is(conditionByInt) || e.column || e.lit || e.number != nil {
		return plain
	}
	if _, ok := n.(*ast.SubqueryExpr); ok {
		return plain
	}
	if isExtreme(n) {
		return func(f *frame) sqlvalue.Truth {
			f.refuse("GREATEST or LEAST as a condition")
			return sqlvalue.Unknown
		}
	}
	eval, konst := e.eval, e.konst
	return func(f *frame) sqlvalue.Truth {
		t := plain(f)
		if f.err != nil || t != sqlvalue.True {
			return t
		}
		warnings := f.warnings
		v := eval(f)
		f.warnings = warnings
		zero, sure := roundsToZero(v)
		if !sure || zero && (konst || c.d.Version >= 100600) {
			f.refuse("fraction, text or large number as a condition")
		}
		if zero {
			return sqlvalue.False
		}
		return t
	}
}

// extreme tells whether n is a GREATEST or LEAST, of which other rows pass.
func isExtreme(n ast.ExprNode) bool {
	switch n := n.(type) {
	case *ast.ParenthesesExpr:
		return isExtreme(n.Expr)
	case *ast.FuncCallExpr:
		return n.FnName.L == "greatest" || n.FnName.L == "least"
	}
	return false
}

// roundsToZero tells whether a value that is not zero is so as an integer. It is
// not sure of texts with more than an integer, and beyond the range of BIGINT.
func roundsToZero(v sqlvalue.Value) (zero, sure bool) {
	switch v.Kind() {
	case sqlvalue.Decimal:
		u, over := v.ToInt(false)
		return u == 0, over == 0
	case sqlvalue.Double, sqlvalue.Float:
		x := math.RoundToEven(v.Double())
		return x == 0, math.Abs(x) < 1<<63
	case sqlvalue.String, sqlvalue.Bytes:
		return false, !sqlvalue.IntegerPrefix(v.Str()).Rest
	}
	return false, true
}

// filterOf is filter for n, or for NOT n.
func (c *compiler) filterOf(n ast.ExprNode, not bool) (expr, error) {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return c.filterOf(x.Expr, not)
	case *ast.UnaryOperationExpr:
		if isNot(x.Op) && connects(x.V) {
			return c.filterOf(x.V, !not)
		}
	case *ast.BinaryOperationExpr:
		switch and := x.Op == opcode.LogicAnd; {
		case !and && x.Op != opcode.LogicOr:
		case and != not:
			return c.filterAnd(n, not)
		default:
			return c.filterOr(x, not)
		}
	}
	if not {
		n = &ast.UnaryOperationExpr{Op: opcode.Not, V: n}
	}
	return c.expr(n)
}

func isNot(op opcode.Op) bool { return op == opcode.Not || op == opcode.Not2 }

// connects tells whether n is an AND, OR or NOT.
func connects(n ast.ExprNode) bool {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return connects(x.Expr)
	case *ast.UnaryOperationExpr:
		return isNot(x.Op)
	case *ast.BinaryOperationExpr:
		return x.Op == opcode.LogicAnd || x.Op == opcode.LogicOr
	}
	return false
}

func (c *compiler) filterOr(x *ast.BinaryOperationExpr, not bool) (expr, error) {
	a, err := c.filterOf(x.L, not)
	if err != nil {
		return expr{}, err
	}
	b, err := c.filterOf(x.R, not)
	if err != nil {
		return expr{}, err
	}
	return c.or(b, a.konst && b.konst, c.truth(c.numbered(a)), c.truth(c.numbered(b))), nil
}

// operand is one of those of an AND in a filter.
type operand struct {
	truth func(*frame) sqlvalue.Truth
	// moves says that the optimiser may evaluate it before those to its left,
	// or exclude by it, with an index, the row as a whole.
	moves bool
	// fails says that it may fail before any row is looked at.
	fails bool
}

// filterAnd compiles n, an AND (or NOT of an OR), as one list of operands.
func (c *compiler) filterAnd(n ast.ExprNode, not bool) (expr, error) {
	konst := true
	var operands []operand
	for _, x := range c.operands(n, not, nil) {
		e, err := c.filterOf(x.node, x.not)
		if err != nil {
			return expr{}, err
		}
		konst = konst && e.konst
		truth := c.truth(c.numbered(e))
		operands = append(operands, operand{truth: truth, moves: e.konst || c.moves(x.node) || x.not && c.isColumn(x.node, false), fails: c.failsAhead(e, truth)})
	}
	return boolExpr(konst, func(f *frame) sqlvalue.Truth {
		for i, o := range operands {
			t := o.truth(f)
			if f.err != nil {
				f.unsureBefore(operands[i+1:])
				return sqlvalue.False
			}
			if t != sqlvalue.True {
				if slices.ContainsFunc(operands[i+1:], func(o operand) bool { return o.fails }) {
					f.refuse("constant error beside a condition that is not true")
				}
				return t
			}
		}
		return sqlvalue.True
	}), nil
}

// unsureBefore makes an error uncertain if one of the operands to its right is
// not true and may come first.
func (f *frame) unsureBefore(operands []operand) {
	failed := f.err
	for _, o := range operands {
		if f.err = nil; o.moves && o.truth(f) != sqlvalue.True {
			failed = &Unsupported{"error beside a condition that is not true"}
		}
	}
	f.err = failed
}

// negatable is an operand, or NOT of it.
type negatable struct {
	node ast.ExprNode
	not  bool
}

// operands appends the operands of nested ANDs, or of NOT of nested ORs, in
// their order.
func (c *compiler) operands(n ast.ExprNode, not bool, list []negatable) []negatable {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return c.operands(x.Expr, not, list)
	case *ast.UnaryOperationExpr:
		if isNot(x.Op) && connects(x.V) {
			return c.operands(x.V, !not, list)
		}
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.LogicAnd && !not || x.Op == opcode.LogicOr && not {
			return c.operands(x.R, not, c.operands(x.L, not, list))
		}
	}
	return append(list, negatable{n, not})
}

// moves tells whether an operand may be evaluated out of its turn. Equalities
// of columns are collected and come first, whichever columns they are on, and so
// does what the optimiser knows to be constant; of other comparisons only those
// of a column that a key holds matter, which a scan of that key may use, and on MySQL
// those with a constant that may be beyond the column's type.
// https://dev.mysql.com/doc/refman/9.7/en/where-optimization.html
// https://dev.mysql.com/doc/refman/9.7/en/constant-folding-optimization.html
func (c *compiler) moves(n ast.ExprNode) bool {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return c.moves(x.Expr)
	case *ast.UnaryOperationExpr:
		return isNot(x.Op) && (c.moves(x.V) || c.isColumn(x.V, false)) // NOT a is a = 0
	case *ast.BinaryOperationExpr:
		switch x.Op {
		case opcode.LogicAnd, opcode.LogicOr:
			return c.moves(x.L) || c.moves(x.R)
		case opcode.EQ, opcode.NE:
			return c.isColumn(x.L, false) || c.isColumn(x.R, false)
		case opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
			return c.isColumn(x.L, true) || c.isColumn(x.R, true) || c.beyondType(x.L, x.R) || c.beyondType(x.R, x.L)
		}
	case *ast.PatternInExpr:
		return c.isColumn(x.Expr, len(x.List) > 1)
	case *ast.BetweenExpr:
		return c.isColumn(x.Expr, true)
	case *ast.PatternLikeOrIlikeExpr:
		return c.isColumn(x.Expr, true)
	case *ast.IsNullExpr:
		return c.isColumn(x.Expr, true) || c.foldsNull(x)
	}
	return false
}

// beyondType tells whether MySQL may find, before it reads a row, that no value of a
// column compares so with n, a constant: one beyond the range of an integer column, or
// at its end, and for want of a model any of a column of another type.
func (c *compiler) beyondType(col, n ast.ExprNode) bool {
	name, ok := col.(*ast.ColumnNameExpr)
	if !ok || c.d.DBMS != history.MySQL || mentionsColumn(n) {
		return false
	}
	e, err := c.expr(n)
	own := c.ownColumn(name.Name)
	if err != nil || !e.konst || e.typ.Class != IntClass || own == nil || own.Type.Class != IntClass {
		return true
	}
	var f frame
	v := e.eval(&f)
	lo, hi := own.Type.Limits()
	switch {
	case f.err != nil || v.IsNull():
		return true
	case v.Kind() == sqlvalue.Int && v.Int() < 0:
		return v.Int() <= lo
	}
	return v.Uint() >= hi || lo == 0 && v.Uint() == 0
}

// isColumn tells whether n is a bare column of the tables at hand and, if keyed
// says so, one that a key holds.
func (c *compiler) isColumn(n ast.ExprNode, keyed bool) bool {
	if p, ok := n.(*ast.ParenthesesExpr); ok {
		return c.isColumn(p.Expr, keyed)
	}
	col, ok := n.(*ast.ColumnNameExpr)
	if !ok || !keyed || c.scope == nil {
		return ok
	}
	for _, s := range c.scope.sources {
		i := s.table.ColumnIndex(col.Name.Name.O)
		if i >= 0 && s.table.inKey(i) {
			return true
		}
	}
	return false
}
