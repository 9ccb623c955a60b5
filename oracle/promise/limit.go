package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// limited returns a statement whose LIMIT leaves rows that those of its table determine, nil if it is none: it
// goes through one table in the order of a key that is unique and never NULL.
func (j *judge) limited(n ast.StmtNode) ast.Node {
	v := stmt.Of(n)
	if v.Limit == nil || v.Order == nil || v.Several || v.Source() == nil {
		return nil
	}
	if s, ok := n.(*ast.SelectStmt); ok && (s.Distinct || s.GroupBy != nil || s.Having != nil || hasAggregate(s)) {
		return nil
	}
	def := j.defs[v.Table().Name.L]
	if def == nil || j.layout.table(v.Table().Name.O) < 0 {
		return nil
	}
	order := orderedBy(n, v)
	if slices.ContainsFunc(totalKeys(def), func(key []string) bool {
		return !slices.ContainsFunc(key, func(column string) bool { return !slices.Contains(order, column) })
	}) {
		return n
	}
	return nil
}

// orderedBy returns the columns of a statement's table that it orders by, in small letters. A name that the
// statement gives to what it selects is none.
func orderedBy(n ast.StmtNode, v stmt.View) (columns []string) {
	for _, by := range v.Order.Items {
		c, ok := by.Expr.(*ast.ColumnNameExpr)
		if !ok {
			continue
		}
		if s, ok := n.(*ast.SelectStmt); ok && slices.ContainsFunc(s.Fields.Fields, func(f *ast.SelectField) bool {
			return f.AsName.L == c.Name.Name.L
		}) {
			continue
		}
		columns = append(columns, c.Name.Name.L)
	}
	return columns
}

// totalKeys returns the columns of each key of a table that is unique and never NULL, in small letters.
func totalKeys(def *ast.CreateTableStmt) [][]string {
	primary := stmt.PrimaryKey(def)
	return slices.DeleteFunc(stmt.UniqueKeys(def), func(key []string) bool {
		return slices.ContainsFunc(key, func(column string) bool {
			return !has(def, column, ast.ColumnOptionNotNull) &&
				!slices.ContainsFunc(primary, func(name string) bool { return strings.EqualFold(name, column) })
		})
	})
}
