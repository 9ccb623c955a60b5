package mvcc

import (
	"math"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// SmallLiteral reads an integer literal that a BIGINT holds.
func SmallLiteral(e ast.ExprNode) (int64, bool) {
	negative, n, ok := IntegerLiteral(e)
	if !ok || n > math.MaxInt64 {
		return 0, false
	}
	if negative {
		return -int64(n), true
	}
	return int64(n), true
}

func IsNot(op opcode.Op) bool { return op == opcode.Not || op == opcode.Not2 }

// Conjuncts returns the conditions that AND connects at the top.
func Conjuncts(e ast.ExprNode, out []ast.ExprNode) []ast.ExprNode {
	switch x := e.(type) {
	case nil:
		return out
	case *ast.ParenthesesExpr:
		return Conjuncts(x.Expr, out)
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.LogicAnd {
			return Conjuncts(x.R, Conjuncts(x.L, out))
		}
	}
	return append(out, e)
}

// Disjuncts returns the conditions that OR connects at the top.
func Disjuncts(e ast.ExprNode, out []ast.ExprNode) []ast.ExprNode {
	switch x := e.(type) {
	case *ast.ParenthesesExpr:
		return Disjuncts(x.Expr, out)
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.LogicOr {
			return Disjuncts(x.R, Disjuncts(x.L, out))
		}
	}
	return append(out, e)
}

// Possible returns a filter without the parts of its ORs that are constant and not
// true: the optimiser folds constants and leaves such parts out. A column IS FALSE is one
// that is 0: EXPLAIN of TiDB 8.2 shows a look-up of that key.
func (r *Replay) Possible(e ast.ExprNode) ast.ExprNode {
	switch x := e.(type) {
	case *ast.ParenthesesExpr:
		return r.Possible(x.Expr)
	case *ast.IsTruthExpr:
		if col, ok := x.Expr.(*ast.ColumnNameExpr); ok && x.True == 0 && !x.Not {
			return &ast.BinaryOperationExpr{Op: opcode.EQ, L: col, R: ast.NewValueExpr(int64(0), "", "")}
		}
	case *ast.BinaryOperationExpr:
		if x.Op != opcode.LogicOr && x.Op != opcode.LogicAnd {
			break
		}
		left, right := r.Possible(x.L), r.Possible(x.R)
		switch {
		case x.Op == opcode.LogicOr && r.neverTrue(left):
			return right
		case x.Op == opcode.LogicOr && r.neverTrue(right):
			return left
		case left == x.L && right == x.R:
			return e
		}
		c := *x
		c.L, c.R = left, right
		return &c
	}
	return e
}

var noTable = &solve.Table{}

// neverTrue recognises a constant that is not true.
func (r *Replay) neverTrue(e ast.ExprNode) bool {
	if LiteralZero(e) || IsNull(e) {
		return true
	}
	if MentionsColumn(e) {
		return false
	}
	truth, _, err := r.Solver.Where(e, noTable, nil, &Stored{&r.Store, versions.View{}})
	return err == nil && truth != sqlvalue.True
}

// LiteralZero recognises a literal 0: a LIMIT of it reads nothing.
func LiteralZero(e ast.ExprNode) bool {
	_, n, ok := IntegerLiteral(e)
	return ok && n == 0
}
