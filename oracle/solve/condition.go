package solve

import (
	"cmp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
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
	var compiled []expr
	for _, x := range list {
		e, err := c.filter(x)
		compiled = append(compiled, e)
		if err != nil {
			if c.fixedByOthers(list, x) {
				// The server may compute it of the value that these tell, in place of the column.
				if t := c.askedTruth(n, err, nil); t != nil {
					return t, nil
				}
				return nil, err
			}
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
	if c.failsSubstituted(n) {
		return nil, ErrSubstituted
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	c.besideConstants(compiled, parts)
	return c.unsureWhereFixed(list, connect(true, true, parts)), nil
}

// unsureWhereFixed is all, the truth of an AND, but that an error settles nothing where one of
// its operands fixes an expression.
func (c *compiler) unsureWhereFixed(list []ast.ExprNode, all func(*frame) sqlvalue.Truth) func(*frame) sqlvalue.Truth {
	if !c.fixesExpression(list) {
		return all
	}
	return func(f *frame) sqlvalue.Truth {
		t := all(f)
		if isSQL(f.err) {
			f.err = &Unsupported{"error of an expression that another condition fixes"}
		}
		return t
	}
}

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
