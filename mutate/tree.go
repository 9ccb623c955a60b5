package mutate

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// The constructors here make trees as the parser makes them, so that a
// generated case equals its printed and re-read self; missing parentheses are
// the printer's business.

func tableName(name string) *ast.TableName { return &ast.TableName{Name: model.NewCIStr(name)} }

func columnName(name string) *ast.ColumnName { return &ast.ColumnName{Name: model.NewCIStr(name)} }

func columnRef(name string) ast.ExprNode { return &ast.ColumnNameExpr{Name: columnName(name)} }

func tableRefs(name string) *ast.TableRefsClause {
	return &ast.TableRefsClause{TableRefs: &ast.Join{Left: &ast.TableSource{Source: tableName(name)}}}
}

func binaryOp(op opcode.Op, l, r ast.ExprNode) ast.ExprNode {
	return &ast.BinaryOperationExpr{Op: op, L: l, R: r}
}

func not(e ast.ExprNode) ast.ExprNode {
	return &ast.UnaryOperationExpr{Op: opcode.Not, V: parenthesis(e)}
}

func isNull(e ast.ExprNode, negate bool) ast.ExprNode {
	return &ast.IsNullExpr{Expr: e, Not: negate}
}

// parenthesis puts an expression in parentheses that has none yet.
func parenthesis(e ast.ExprNode) ast.ExprNode {
	if _, is := e.(*ast.ParenthesesExpr); is {
		return e
	}
	return &ast.ParenthesesExpr{Expr: e}
}

func selectStmt(t *table, columns []int, where ast.ExprNode, lock ast.SelectLockType) *ast.SelectStmt {
	s := &ast.SelectStmt{
		SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true},
		Kind:           ast.SelectStmtKindSelect,
		From:           tableRefs(t.name),
		Where:          where,
		Fields:         &ast.FieldList{},
	}
	if lock != ast.SelectLockNone {
		s.LockInfo = &ast.SelectLockInfo{LockType: lock}
	}
	for _, i := range columns {
		s.Fields.Fields = append(s.Fields.Fields, &ast.SelectField{Expr: columnRef(t.cols[i].name)})
	}
	if columns == nil {
		s.Fields.Fields = []*ast.SelectField{{WildCard: &ast.WildCardField{}}}
	}
	return s
}

func updateStmt(t *table, list []*ast.Assignment, where ast.ExprNode) *ast.UpdateStmt {
	return &ast.UpdateStmt{TableRefs: tableRefs(t.name), List: list, Where: where}
}

func deleteStmt(t *table, where ast.ExprNode) *ast.DeleteStmt {
	return &ast.DeleteStmt{TableRefs: tableRefs(t.name), Where: where}
}

// insertStmt makes INSERT INTO t [(columns)] VALUES lists.
func insertStmt(t *table, columns []int, lists [][]ast.ExprNode) *ast.InsertStmt {
	s := &ast.InsertStmt{Table: tableRefs(t.name), Lists: lists}
	for _, i := range columns {
		s.Columns = append(s.Columns, columnName(t.cols[i].name))
	}
	return s
}
