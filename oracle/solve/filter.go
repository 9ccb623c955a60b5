package solve

import (
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// filter compiles an expression of which NULL counts as false: what WHERE, ON,
// HAVING and IF ask. Servers evaluate the operands of its ANDs and ORs in an order of
// their own, leave out those behind one that decides, put values that others fix in
// their place, and skip rows that an index excludes. So all are evaluated here, and what
// fails in one is certain only if none decides without it; else the server is to be asked.
// NOT is handed on to operands by De Morgan's laws, which tells what decides.
func (c *compiler) filter(n ast.ExprNode) (expr, error) {
	isAnd, list := operands(n)
	if len(list) == 1 {
		return c.expr(list[0])
	}
	konst := true
	var parts []func(*frame) sqlvalue.Truth
	var compiled []expr
	for _, x := range list {
		e, err := c.filter(x)
		if err != nil {
			return expr{}, err
		}
		konst = konst && e.konst
		parts = append(parts, c.truth(c.numbered(e)))
		compiled = append(compiled, e)
	}
	c.besideConstants(compiled, parts)
	t := connect(isAnd, true, parts)
	if isAnd {
		t = c.unsureWhereFixed(list, t)
	}
	return boolExpr(konst, t), nil
}

// besideConstants changes the truths of operands of AND or OR of which others are constant: a server that leaves the
// constant ones out may take what is left for a condition as a whole.
func (c *compiler) besideConstants(compiled []expr, parts []func(*frame) sqlvalue.Truth) {
	if !c.d.is(conditionByInt) || !slices.ContainsFunc(compiled, func(e expr) bool { return e.konst }) {
		return
	}
	for i, e := range compiled {
		if e.eval == nil || e.column || e.lit || e.konst { // without eval the server is asked
			continue
		}
		parts[i] = byInt(e, parts[i], func(f *frame, zero, sure bool) sqlvalue.Truth {
			if zero || !sure {
				f.refuse("fraction, text or large number beside a constant condition")
			}
			return sqlvalue.True
		})
	}
}

// byInt is the truth of an operand that told decides where the operand is true: by whether it is zero as an integer, if that
// is sure.
func byInt(
	e expr, plain func(*frame) sqlvalue.Truth, told func(f *frame, zero, sure bool) sqlvalue.Truth,
) func(*frame) sqlvalue.Truth {
	return func(f *frame) sqlvalue.Truth {
		t := plain(f)
		if f.err != nil || t != sqlvalue.True {
			return t
		}
		warnings := f.warnings
		v := e.eval(f)
		f.warnings = warnings
		zero, sure := roundsToZero(v)
		return told(f, zero, sure)
	}
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
	if isGreatest(n) {
		return func(f *frame) sqlvalue.Truth {
			f.refuse("GREATEST or LEAST as a condition")
			return sqlvalue.Unknown
		}
	}
	return byInt(e, plain, func(f *frame, zero, sure bool) sqlvalue.Truth {
		if !sure || zero && (e.konst || c.d.Version >= 100600) {
			f.refuse("fraction, text or large number as a condition")
		}
		if zero {
			return sqlvalue.False
		}
		return sqlvalue.True
	})
}

// isGreatest tells whether n is a GREATEST or LEAST, of which other rows pass.
func isGreatest(n ast.ExprNode) bool {
	switch n := n.(type) {
	case *ast.ParenthesesExpr:
		return isGreatest(n.Expr)
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

// connect evaluates all operands of an AND or OR on a row; nullFails says that NULL counts as
// false. What the solver refuses behind an operand that decides does not matter.
func connect(isAnd, nullFails bool, parts []func(*frame) sqlvalue.Truth) func(*frame) sqlvalue.Truth {
	return func(f *frame) sqlvalue.Truth {
		t, decided := truthOf(isAnd), false
		var failed error
		for _, p := range parts {
			warnings := f.warnings
			u := p(f)
			err := f.err
			f.err = nil
			switch {
			case decided:
				f.warnings = warnings
				if isSQL(err) {
					failed = err
				}
			case err == nil && isAnd:
				t = and(t, u)
				decided = u == sqlvalue.False || nullFails && u == sqlvalue.Unknown
			case err == nil:
				t = negateIf(true, and(negateIf(true, t), negateIf(true, u)))
				decided = u == sqlvalue.True
			case failed != nil && !sameError(failed, err):
				failed = &Unsupported{"two errors in a condition"}
			default:
				failed = err
			}
		}
		if decided && isSQL(failed) {
			failed = &Unsupported{"error beside an operand that decides"}
		}
		f.err = failed
		return t
	}
}

// operands returns those of nested ANDs, or ORs, in their order, and whether they are
// connected by AND. Another n is the only operand of an AND.
func operands(n ast.ExprNode) (isAnd bool, list []ast.ExprNode) {
	for not := false; ; {
		switch x := n.(type) {
		case *ast.ParenthesesExpr:
			n = x.Expr
			continue
		case *ast.UnaryOperationExpr:
			if isNot(x.Op) && connects(x.V) {
				n, not = x.V, !not
				continue
			}
		case *ast.BinaryOperationExpr:
			if x.Op == opcode.LogicAnd || x.Op == opcode.LogicOr {
				isAnd = (x.Op == opcode.LogicAnd) != not
				return isAnd, appendOperands(n, not, isAnd, nil)
			}
		}
		return true, appendOperands(n, not, true, nil)
	}
}

func appendOperands(n ast.ExprNode, not, isAnd bool, list []ast.ExprNode) []ast.ExprNode {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return appendOperands(x.Expr, not, isAnd, list)
	case *ast.UnaryOperationExpr:
		if isNot(x.Op) && connects(x.V) {
			return appendOperands(x.V, !not, isAnd, list)
		}
	case *ast.BinaryOperationExpr:
		if connective := x.Op == opcode.LogicAnd || x.Op == opcode.LogicOr; connective && (x.Op == opcode.LogicAnd) != not == isAnd {
			return appendOperands(x.R, not, isAnd, appendOperands(x.L, not, isAnd, list))
		}
	}
	if not {
		n = &ast.UnaryOperationExpr{Op: opcode.Not, V: n}
	}
	return append(list, n)
}

// isColumn tells whether n is a bare column of the tables at hand and, if keyed
// says so, one that a key holds.
func (c *compiler) isColumn(n ast.ExprNode, keyed bool) bool {
	col, ok := stmt.Bare(n).(*ast.ColumnNameExpr)
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
