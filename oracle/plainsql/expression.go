package plainsql

import (
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// row is one of the table of a statement.
type row struct {
	*source
	values []value
}

// cell returns the value of a column and what is known of the column.
func (r *row) cell(n *ast.ColumnName) (value, *column, error) {
	i := r.named(n)
	if i < 0 {
		return value{}, nil, errBeyond
	}
	return r.values[i], &r.t.columns[i], nil
}

// value computes an expression that is no condition.
func (r *row) value(e ast.ExprNode) (value, error) {
	if v, ok := literal(e); ok {
		return v, nil
	}
	switch x := stmt.Bare(e).(type) {
	case *ast.ColumnNameExpr:
		v, _, err := r.cell(x.Name)
		return v, err
	case *ast.UnaryOperationExpr:
		if x.Op == opcode.Minus {
			return r.computed(opcode.Minus, nil, x.V)
		}
	case *ast.BinaryOperationExpr:
		if slices.Contains(operators, x.Op) {
			return r.computed(x.Op, x.L, x.R)
		}
	}
	return value{}, errBeyond
}

// operators holds those of two numbers.
var operators = []opcode.Op{opcode.Plus, opcode.Minus, opcode.Mul, opcode.Mod, opcode.And, opcode.Or, opcode.Xor}

// computed is the result of one of the operators; left is nil for a sign. One that leaves the range of an int is beyond
// what is plain: of which type it is depends on those of the operands.
func (r *row) computed(op opcode.Op, left, right ast.ExprNode) (value, error) {
	operand := r.operand
	if op == opcode.And || op == opcode.Or || op == opcode.Xor {
		operand = r.bits
	}
	a, err := value{kind: number}, error(nil)
	if left != nil {
		if a, err = operand(left); err != nil {
			return a, err
		}
	}
	b, err := operand(right)
	if err != nil || a.null || b.null {
		return value{null: true}, err
	}
	var n int64
	switch op {
	case opcode.Plus:
		n = a.n + b.n
	case opcode.Minus:
		n = a.n - b.n
	case opcode.Mul:
		n = a.n * b.n
	case opcode.Mod:
		if b.n == 0 {
			return value{}, errBeyond
		}
		n = a.n % b.n
	case opcode.And:
		n = a.n & b.n
	case opcode.Or:
		n = a.n | b.n
	case opcode.Xor:
		n = a.n ^ b.n
	}
	if n < math.MinInt32 || n > math.MaxInt32 {
		return value{}, errBeyond
	}
	return value{kind: number, n: n}, nil
}

// operand is a number in the range of an int, of a type that is at least that wide, or NULL in a column of such a type.
func (r *row) operand(e ast.ExprNode) (value, error) {
	if x, ok := stmt.Bare(e).(*ast.ColumnNameExpr); ok {
		if _, c, err := r.cell(x.Name); err != nil || c.kind != number || c.scale > 0 || c.small() {
			return value{}, errBeyond
		}
	} else if isNullLiteral(e) {
		return value{}, errBeyond
	}
	v, err := r.value(e)
	if err == nil && !v.null && (v.kind != number || v.scale > 0 || v.n < math.MinInt32 || v.n > math.MaxInt32) {
		err = errBeyond
	}
	return v, err
}

// bits is operand for an operator on bits, before which a column becomes a bigint.
func (r *row) bits(e ast.ExprNode) (value, error) {
	if x, ok := stmt.Bare(e).(*ast.ColumnNameExpr); ok {
		if v, c, err := r.cell(x.Name); err == nil && c.small() {
			return v, nil
		}
	}
	return r.operand(e)
}

// truth computes a condition.
func (r *row) truth(e ast.ExprNode) (truth, error) {
	switch x := stmt.Bare(e).(type) {
	case nil:
		return yes, nil
	case *ast.UnaryOperationExpr:
		if x.Op == opcode.Not || x.Op == opcode.Not2 {
			t, err := r.truth(x.V)
			return t.not(), err
		}
	case *ast.BinaryOperationExpr:
		switch x.Op {
		case opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor:
			return r.both(x)
		case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
			if x.Op == opcode.EQ && (isNullLiteral(x.L) || isNullLiteral(x.R)) {
				return no, errBeyond // what it is depends on transform_null_equals
			}
			return r.compare(x.Op, x.L, x.R)
		}
	case *ast.IsNullExpr:
		return r.isNull(x)
	case *ast.BetweenExpr:
		low, err := r.compare(opcode.GE, x.Expr, x.Left)
		if err != nil {
			return no, err
		}
		high, err := r.compare(opcode.LE, x.Expr, x.Right)
		return negated(x.Not, and(low, high)), err
	case *ast.PatternInExpr:
		if x.Sel != nil {
			return no, errBeyond
		}
		in := no
		for _, one := range x.List {
			t, err := r.compare(opcode.EQ, x.Expr, one)
			if err != nil {
				return no, err
			}
			in = or(in, t)
		}
		return negated(x.Not, in), nil
	case *ast.IsTruthExpr:
		t, err := r.truth(x.Expr)
		return negated(x.Not, truthOf(t == truthOf(x.True > 0))), err
	}
	// A number is true if it is not 0, where the text that PostgreSQL gets says so.
	v, err := r.value(e)
	if is, beyond := r.kindOf(e); err != nil || beyond != nil || is != number {
		return no, errBeyond
	}
	if v.null {
		return unknown, nil
	}
	return truthOf(v.n != 0), nil
}

func isNullLiteral(e ast.ExprNode) bool {
	v, ok := literal(e)
	return ok && v.null
}

func negated(not bool, t truth) truth {
	if not {
		return t.not()
	}
	return t
}

func (r *row) both(x *ast.BinaryOperationExpr) (truth, error) {
	a, err := r.truth(x.L)
	if err != nil {
		return no, err
	}
	b, err := r.truth(x.R)
	switch x.Op {
	case opcode.LogicAnd:
		return and(a, b), err
	case opcode.LogicOr:
		return or(a, b), err
	}
	return or(and(a, b.not()), and(a.not(), b)), err
}

// isNull looks at a column of any type, or at a condition.
func (r *row) isNull(x *ast.IsNullExpr) (truth, error) {
	if c, ok := stmt.Bare(x.Expr).(*ast.ColumnNameExpr); ok {
		v, _, err := r.cell(c.Name)
		return negated(x.Not, truthOf(v.null)), err
	}
	if _, err := r.value(x.Expr); err == nil { // of which type it is matters
		return no, errBeyond
	}
	t, err := r.truth(x.Expr)
	return negated(x.Not, truthOf(t == unknown)), err
}

// compared computes an operand of a comparison, which may be what a function makes of an integer: of which type that is
// does not matter there.
func (r *row) compared(e ast.ExprNode) (value, error) {
	var of ast.ExprNode
	absolute := false
	switch x := stmt.Bare(e).(type) {
	case *ast.FuncCastExpr:
		if x.FunctionType != ast.CastFunction || x.Tp.GetType() != mysql.TypeLonglong ||
			mysql.HasUnsignedFlag(x.Tp.GetFlag()) {
			return value{}, errBeyond
		}
		of = x.Expr
	case *ast.FuncCallExpr:
		if len(x.Args) != 1 || !slices.Contains(rounding, x.FnName.L) && x.FnName.L != "abs" {
			return value{}, errBeyond
		}
		of, absolute = x.Args[0], x.FnName.L == "abs"
	default:
		return r.value(e)
	}
	v, err := r.operand(of)
	if absolute && v.n < 0 {
		if v.n == math.MinInt32 {
			return value{}, errBeyond
		}
		v.n = -v.n
	}
	return v, err
}

// rounding holds the functions that leave an integer as it is.
var rounding = []string{"round", "ceil", "ceiling", "floor"}

func (r *row) compare(op opcode.Op, left, right ast.ExprNode) (truth, error) {
	a, err := r.compared(left)
	if err != nil {
		return no, err
	}
	b, err := r.compared(right)
	if err != nil {
		return no, err
	}
	kinds, err := r.kindOf(left)
	if err != nil {
		return no, err
	}
	other, err := r.kindOf(right)
	if err != nil || kinds != other && kinds != opaque && other != opaque || kinds == opaque && other == opaque {
		return no, errBeyond // NULL alone has no type, and is compared with anything
	}
	switch {
	case op == opcode.NullEQ && (a.null || b.null):
		return truthOf(a.null && b.null), nil
	case a.null || b.null:
		return unknown, nil
	case a.kind == text:
		switch op {
		case opcode.EQ, opcode.NullEQ:
			return truthOf(a.text == b.text), nil
		case opcode.NE:
			return truthOf(a.text != b.text), nil
		}
		return no, errBeyond // how texts are ordered is the collation's affair
	}
	c := a.against(b)
	switch op {
	case opcode.EQ, opcode.NullEQ:
		return truthOf(c == 0), nil
	case opcode.NE:
		return truthOf(c != 0), nil
	case opcode.LT:
		return truthOf(c < 0), nil
	case opcode.LE:
		return truthOf(c <= 0), nil
	case opcode.GT:
		return truthOf(c > 0), nil
	}
	return truthOf(c >= 0), nil
}

// kindOf is the kind of an expression whatever its value, opaque for NULL as it is written. A column of another kind is
// beyond what is plain.
func (r *row) kindOf(e ast.ExprNode) (kind, error) {
	if v, ok := literal(e); ok {
		return v.kind, nil
	}
	x, ok := stmt.Bare(e).(*ast.ColumnNameExpr)
	if !ok {
		return number, nil
	}
	_, c, err := r.cell(x.Name)
	if err != nil || c.kind == opaque {
		return opaque, errBeyond
	}
	return c.kind, nil
}
