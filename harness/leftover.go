package harness

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// overflows holds the columns, by name, that lie in the entries of a secondary index,
// which hold the primary key, too, and whose type lets arithmetic on them overflow with
// the constants that cases have: BIGINT, and all that is unsigned.
type overflows map[string]bool

func (o overflows) add(t *ast.CreateTableStmt) {
	indexed := map[string]bool{}
	secondary := false
	for _, k := range t.Constraints {
		secondary = secondary || k.Tp != ast.ConstraintPrimaryKey
		for _, part := range k.Keys {
			if part.Column != nil {
				indexed[part.Column.Name.L] = true
			}
		}
	}
	for _, c := range t.Cols {
		for _, opt := range c.Options {
			if opt.Tp == ast.ColumnOptionUniqKey || opt.Tp == ast.ColumnOptionPrimaryKey {
				indexed[c.Name.Name.L] = true
				secondary = secondary || opt.Tp == ast.ColumnOptionUniqKey
			}
		}
	}
	if !secondary {
		return
	}
	for _, c := range t.Cols {
		if indexed[c.Name.Name.L] && (c.Tp.GetType() == mysql.TypeLonglong || mysql.HasUnsignedFlag(c.Tp.GetFlag())) {
			o[c.Name.Name.L] = true
		}
	}
}

// judged reports whether a plain SELECT calculates with such a column in its
// condition. InnoDB evaluates a condition on the entries of an index before it looks
// whether their rows are visible, those of rows that were deleted and are not
// purged yet among them: what an earlier case has left in the table could fail it.
// https://dev.mysql.com/doc/refman/en/index-condition-pushdown-optimization.html
func (o overflows) judged(n ast.StmtNode) bool {
	of := stmt.Of(n)
	if of.Kind != stmt.Select || of.Where == nil || len(o) == 0 {
		return false
	}
	v := &calculation{of: o}
	of.Where.Accept(v)
	return v.found
}

// calculation finds arithmetic on one of the columns.
type calculation struct {
	of    overflows
	depth int // of arithmetic around
	found bool
}

var arithmetic = map[opcode.Op]bool{opcode.Plus: true, opcode.Minus: true, opcode.Mul: true, opcode.IntDiv: true}

func (v *calculation) calculates(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.BinaryOperationExpr:
		return arithmetic[x.Op]
	case *ast.UnaryOperationExpr:
		return x.Op == opcode.Minus
	case *ast.FuncCallExpr:
		return true
	}
	return false
}

// Enter implements ast.Visitor.
func (v *calculation) Enter(n ast.Node) (ast.Node, bool) {
	if v.calculates(n) {
		v.depth++
	}
	if c, ok := n.(*ast.ColumnNameExpr); ok && v.depth > 0 && v.of[c.Name.Name.L] {
		v.found = true
	}
	return n, v.found
}

// Leave implements ast.Visitor.
func (v *calculation) Leave(n ast.Node) (ast.Node, bool) {
	if v.calculates(n) {
		v.depth--
	}
	return n, true
}
