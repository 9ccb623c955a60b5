package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// IntegerLiteral reads an integer literal with or without a sign.
func IntegerLiteral(e ast.ExprNode) (negative bool, magnitude uint64, ok bool) {
	for {
		switch x := e.(type) {
		case *ast.ParenthesesExpr:
			e = x.Expr
			continue
		case *ast.UnaryOperationExpr:
			if x.Op != opcode.Minus {
				return false, 0, false
			}
			negative, e = !negative, x.V
			continue
		case ast.ValueExpr:
			switch n := x.GetValue().(type) {
			case int64:
				if n < 0 {
					return !negative, uint64(-n), true
				}
				return negative, uint64(n), true
			case uint64:
				return negative, n, true
			}
		}
		return false, 0, false
	}
}

// Errors that evaluating a condition can raise.
const (
	ErrTruncated    = 1292
	ErrDateOverflow = 1441
	ErrOutOfRange   = 1690
)

// Leaves returns the parts of a condition that logical operators connect.
func Leaves(e ast.ExprNode, out []ast.ExprNode) []ast.ExprNode {
	switch x := e.(type) {
	case nil:
		return out
	case *ast.ParenthesesExpr:
		return Leaves(x.Expr, out)
	case *ast.UnaryOperationExpr:
		if IsNot(x.Op) {
			return Leaves(x.V, out)
		}
	case *ast.BinaryOperationExpr:
		switch x.Op {
		case opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor:
			return Leaves(x.R, Leaves(x.L, out))
		}
	}
	return append(out, e)
}

// MentionsColumn reports whether an expression reads any column, be it in a
// subquery or an aggregate.
func MentionsColumn(x ast.Node) bool { return !OnlyColumns(x, &solve.Table{}, nil) }

// OnlyColumns reports whether an expression reads no columns but the given.
func OnlyColumns(x ast.Node, t *solve.Table, cols map[int]bool) bool {
	return !corpus.Contains(x, func(n ast.Node) (found, skip bool) {
		switch c := n.(type) {
		case *ast.ColumnName:
			return !cols[t.ColumnIndex(c.Name.O)], false
		case *ast.SubqueryExpr, *ast.AggregateFuncExpr:
			return true, false
		}
		return false, false
	})
}

// HasSubquery reports whether a statement or an expression holds a query.
func HasSubquery(n ast.Node) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		_, found = n.(*ast.SubqueryExpr)
		return found, false
	})
}

func IsNull(x ast.ExprNode) bool {
	v, ok := x.(ast.ValueExpr)
	return ok && v.GetValue() == nil
}

const (
	// ErrRecordChanged is MariaDB's ER_CHECKREAD.
	ErrRecordChanged = 1020
	// ErrKeyNotFound is ER_KEY_NOT_FOUND.
	ErrKeyNotFound = 1032
)

type TableFinder struct{ Names []string }

func (f *TableFinder) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok {
		f.Names = append(f.Names, t.Name.O)
	}
	return n, false
}

func (f *TableFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// ColumnsIn returns the columns that a node mentions, by index, and -1 for those
// of other tables; none for nil.
func ColumnsIn(t *solve.Table, n ast.Node) map[int]bool {
	cols := map[int]bool{}
	if n != nil {
		n.Accept(&columnCollector{t: t, cols: cols})
	}
	return cols
}

type columnCollector struct {
	t    *solve.Table
	cols map[int]bool
}

func (f *columnCollector) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnName); ok {
		f.cols[f.t.ColumnIndex(c.Name.O)] = true
	}
	return n, false
}

func (f *columnCollector) Leave(n ast.Node) (ast.Node, bool) { return n, true }
