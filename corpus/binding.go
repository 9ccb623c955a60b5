package corpus

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// Restore writes operands as they are. A tree from the parser holds its
// parentheses as nodes; one put together by hand needs not. The functions here
// add the missing ones. They never change a node, because a tree may be shared:
// a node on the way to a new pair of parentheses is copied, and in the common
// case that nothing is missing nothing is allocated.

// binding tells how tightly an expression holds together when it is written
// without parentheses. The order is that of the grammars of MySQL, MariaDB and
// the parser, which agree on it.
type binding uint8

const (
	bindAny binding = iota // assignment to a user variable
	bindOr
	bindXor
	bindAnd
	bindNot
	bindTest      // IS TRUE, IS NULL
	bindCompare   // =, <, IN, LIKE, BETWEEN …
	bindBitOr     // |
	bindBitAnd    // &
	bindShift     // << >>
	bindSum       // + -
	bindProduct   // * / % DIV MOD
	bindPower     // ^
	bindCollate   // COLLATE, BINARY
	bindUnary     // - ~ !
	bindPrimary   // literal, name, call, subquery, parentheses
	bindPredicate = bindBitOr
)

var operatorBinding = map[opcode.Op]binding{
	opcode.LogicOr: bindOr, opcode.LogicXor: bindXor, opcode.LogicAnd: bindAnd,
	opcode.GE: bindCompare, opcode.LE: bindCompare, opcode.EQ: bindCompare, opcode.NE: bindCompare,
	opcode.LT: bindCompare, opcode.GT: bindCompare, opcode.NullEQ: bindCompare,
	opcode.Or: bindBitOr, opcode.And: bindBitAnd,
	opcode.LeftShift: bindShift, opcode.RightShift: bindShift,
	opcode.Plus: bindSum, opcode.Minus: bindSum,
	opcode.Mul: bindProduct, opcode.Div: bindProduct, opcode.Mod: bindProduct, opcode.IntDiv: bindProduct,
	opcode.Xor: bindPower,
}

// bindings is operatorBinding as an array: a map costs too much here.
var bindings = func() (b [64]binding) {
	for op, v := range operatorBinding {
		b[op] = v
	}
	return b
}()

func bindingOf(e ast.ExprNode) binding {
	switch e := e.(type) {
	case *ast.BinaryOperationExpr:
		return bindings[e.Op]
	case *ast.UnaryOperationExpr:
		if e.Op == opcode.Not {
			return bindNot
		}
		return bindUnary
	case *ast.IsTruthExpr, *ast.IsNullExpr:
		return bindTest
	case *ast.BetweenExpr, *ast.PatternInExpr, *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr, *ast.CompareSubqueryExpr:
		return bindCompare
	case *ast.ExistsSubqueryExpr:
		if e.Not {
			return bindNot
		}
	case *ast.MatchAgainst:
		return bindNot // the parser takes it for a whole condition only
	case *ast.VariableExpr:
		if e.Value != nil {
			return bindAny
		}
	case *ast.SetCollationExpr:
		return bindCollate
	case *ast.FuncCastExpr:
		if e.FunctionType == ast.CastBinaryOperator {
			return bindCollate
		}
	case ast.ValueExpr:
		if negative(e.GetValue()) {
			return bindUnary
		}
	}
	return bindPrimary
}

// negative tells of literals that are written with a sign. The parser makes
// none, ast.NewValueExpr can.
func negative(v any) bool {
	switch v := v.(type) {
	case int64:
		return v < 0
	case float64:
		return v < 0
	}
	return false
}

// operand returns e, in parentheses if it binds less tightly than least.
func operand(e ast.ExprNode, least binding) ast.ExprNode {
	if e == nil {
		return nil
	}
	e2 := bracketed(e)
	if bindingOf(e) < least {
		return &ast.ParenthesesExpr{Expr: e2}
	}
	return e2
}

// whole returns e where any expression may stand.
func whole(e ast.ExprNode) ast.ExprNode {
	if e == nil {
		return nil
	}
	return bracketed(e)
}
