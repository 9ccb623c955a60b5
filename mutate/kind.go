package mutate

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// KindOf tells the kind of a statement that names one table and no alias: only
// there does a predicate mean the same in another statement. Everything else
// is stmt.Other, transaction control too, with "" for the table.
func KindOf(s ast.StmtNode) (stmt.Kind, string) {
	v := stmt.Of(s)
	name, ok := soleTable(v)
	if !ok || v.Several || v.With != nil {
		return stmt.Other, ""
	}
	if q, ok := s.(*ast.SelectStmt); ok && (q.GroupBy != nil || q.Having != nil || q.SelectIntoOpt != nil) {
		return stmt.Other, ""
	}
	return v.Kind, name
}

// soleTable returns the table of a statement that names just one, unaliased.
func soleTable(v stmt.View) (string, bool) {
	src := v.Source()
	if src == nil || src.AsName != (model.CIStr{}) {
		return "", false
	}
	t := src.Source.(*ast.TableName)
	return t.Name.O, t.Schema == (model.CIStr{})
}

// filter returns the place of a statement's predicate, nil for statements
// without a WHERE clause.
func filter(s ast.StmtNode) *ast.ExprNode {
	switch s := s.(type) {
	case *ast.SelectStmt:
		return &s.Where
	case *ast.UpdateStmt:
		return &s.Where
	case *ast.DeleteStmt:
		return &s.Where
	}
	return nil
}
