package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Errors that evaluating a condition can raise.
const (
	errTruncated    = 1292
	errDateOverflow = 1441
	errOutOfRange   = 1690
)

// conditionOrder recognises a difference that comes from the order in which
// the parts of a condition are evaluated: no manual promises one, and whether a
// part that would fail is reached depends on the plan.
func (r *Replay) conditionOrder(i int, kind stmt.Kind, node ast.StmtNode, view View, p *Prediction) error {
	code := errCode(&r.h.Stmts[i])
	if code == p.Err {
		return nil
	}
	of := stmt.Of(node)
	parts, name := leaves(of.Where, nil), stmt.SoleTable(of.From)
	if len(parts) < 2 || name == nil {
		return nil
	}
	evaluates := func(c uint16) bool { return c == errTruncated || c == errOutOfRange }
	if !evaluates(code) && !evaluates(p.Err) {
		return nil
	}
	t := r.table(name.Name.O)
	if t == nil {
		return nil
	}
	rows, _ := t.Rows(view)
	for _, part := range parts {
		for _, row := range rows {
			_, warnings, err := r.solver.Where(part, t.Def, row, &stored{&r.store, view})
			if warnings > 0 {
				return &Loss{Slug: "order in which a condition is evaluated"}
			}
			if err == nil {
				continue
			}
			if c, loss := sqlError(err); loss == nil && evaluates(c) {
				return &Loss{Slug: "order in which a condition is evaluated", Detail: err.Error()}
			}
		}
	}
	return nil
}

// leaves returns the parts of a condition that logical operators connect.
func leaves(e ast.ExprNode, out []ast.ExprNode) []ast.ExprNode {
	switch x := e.(type) {
	case nil:
		return out
	case *ast.ParenthesesExpr:
		return leaves(x.Expr, out)
	case *ast.UnaryOperationExpr:
		if isNot(x.Op) {
			return leaves(x.V, out)
		}
	case *ast.BinaryOperationExpr:
		switch x.Op {
		case opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor:
			return leaves(x.R, leaves(x.L, out))
		}
	}
	return append(out, e)
}
