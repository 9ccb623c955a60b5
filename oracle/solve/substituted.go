package solve

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// branchFails is propagatesError for the ANDs below ORs and NOTs: servers put the values
// that an AND fixes into its own operands, wherever it stands. MariaDB does not in an
// UPDATE or DELETE.
func (c *compiler) branchFails(n ast.ExprNode) (bool, error) {
	for _, branch := range andsBelow(pushNot(n, false), nil) {
		fixes := func(x ast.ExprNode) bool { l, _ := equated(x); return l != nil }
		if !slices.ContainsFunc(branch, fixes) {
			continue
		}
		var parts []func(*frame) sqlvalue.Truth
		for _, x := range branch {
			e, err := c.filter(x)
			if err != nil {
				return false, err
			}
			parts = append(parts, c.truth(e))
		}
		if c.propagatesError(branch, parts) {
			return true, nil
		}
	}
	return false, nil
}

// andsBelow appends the operands of n's own AND and of each that ORs connect below it.
func andsBelow(n ast.ExprNode, list [][]ast.ExprNode) [][]ast.ExprNode {
	x, ok := n.(*ast.BinaryOperationExpr)
	switch {
	case ok && x.Op == opcode.LogicOr:
		return andsBelow(x.R, andsBelow(x.L, list))
	case ok && x.Op == opcode.LogicAnd:
		operands := conjuncts(n, nil)
		list = append(list, operands)
		for _, o := range operands {
			list = andsBelow(o, list)
		}
	}
	return list
}

// negated holds the comparison that NOT makes of another.
var negated = map[opcode.Op]opcode.Op{
	opcode.EQ: opcode.NE, opcode.NE: opcode.EQ,
	opcode.LT: opcode.GE, opcode.GE: opcode.LT,
	opcode.GT: opcode.LE, opcode.LE: opcode.GT,
}

// pushNot returns n, negated if not is set, without parentheses and with each NOT as far
// inside as De Morgan's laws and comparisons take it, which servers do before they
// look for equalities; that of a column makes one with 0.
func pushNot(n ast.ExprNode, not bool) ast.ExprNode {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return pushNot(x.Expr, not)
	case *ast.UnaryOperationExpr:
		if isNot(x.Op) {
			return pushNot(x.V, !not)
		}
	case *ast.ColumnNameExpr:
		if not {
			return &ast.BinaryOperationExpr{Op: opcode.EQ, L: x, R: ast.NewValueExpr(int64(0), "", "")}
		}
	case *ast.BinaryOperationExpr:
		op, compares := negated[x.Op]
		switch {
		case x.Op == opcode.LogicAnd || x.Op == opcode.LogicOr:
			if op = x.Op; not {
				op = opcode.LogicAnd + opcode.LogicOr - x.Op
			}
			return &ast.BinaryOperationExpr{Op: op, L: pushNot(x.L, not), R: pushNot(x.R, not)}
		case compares && not:
			return &ast.BinaryOperationExpr{Op: op, L: x.L, R: x.R}
		}
	}
	if not {
		return &ast.UnaryOperationExpr{Op: opcode.Not, V: n}
	}
	return n
}
