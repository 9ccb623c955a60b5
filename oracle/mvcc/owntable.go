package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// ErrTableUsed is ER_UPDATE_TABLE_USED.
const ErrTableUsed = 1093

func OwnTable(node ast.StmtNode) string {
	if name := stmt.Of(node).Table(); name != nil {
		return name.Name.O
	}
	return ""
}

// RefusesOwnTable reports whether the server refuses a write because a subquery of
// it names the table that it changes, outside of derived tables.
// https://dev.mysql.com/doc/refman/en/subquery-errors.html
func (r *Replay) RefusesOwnTable(node ast.StmtNode) bool {
	if !r.Profile.Has(rules.OwnTableRefused) || !KindOf(node).Writes() {
		return false
	}
	inner := &SubqueryTables{}
	node.Accept(inner)
	return inner.plain[OwnTable(node)]
}

// SubqueryTables finds the tables that the subqueries of a statement name; plain are
// those named outside of derived tables.
type SubqueryTables struct {
	subqueries, derived int // around
	Count               int
	Names, plain        map[string]bool
}

// Enter implements ast.Visitor.
func (v *SubqueryTables) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SubqueryExpr:
		v.subqueries++
		v.Count++
	case *ast.TableSource:
		if _, ok := x.Source.(*ast.TableName); !ok {
			v.derived++
		}
	case *ast.TableName:
		if v.subqueries == 0 {
			break
		}
		if v.Names == nil {
			v.Names, v.plain = map[string]bool{}, map[string]bool{}
		}
		v.Names[x.Name.O] = true
		v.plain[x.Name.O] = v.plain[x.Name.O] || v.derived == 0
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *SubqueryTables) Leave(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SubqueryExpr:
		v.subqueries--
	case *ast.TableSource:
		if _, ok := x.Source.(*ast.TableName); !ok {
			v.derived--
		}
	}
	return n, true
}
