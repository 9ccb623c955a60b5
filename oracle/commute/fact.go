package commute

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// fact is what of a statement decides whether it may be swapped.
type fact struct {
	// control says that it is no SELECT, INSERT, UPDATE or DELETE.
	control, begins, snapshot, setsLevel bool
	// plain says that it is a SELECT that asks for no lock; returnsRows, that it returns
	// rows of a table rather than what is computed of none or many.
	plain, returnsRows bool
	inserts            bool
	// drawn says that it depends on chance, the clock or the session.
	drawn  bool
	tables []string
}

func factOf(n ast.StmtNode) fact {
	k := stmt.KindOf(n)
	f := fact{
		plain: k == stmt.Select, inserts: k == stmt.Insert, control: !k.TouchesRows() || k == stmt.Raw,
		begins: k.Begins(), snapshot: k == stmt.BeginSnapshot, setsLevel: k == stmt.SetLevel || k == stmt.SetVariable,
	}
	if s, ok := n.(*ast.SelectStmt); ok {
		f.returnsRows = s.From != nil && s.GroupBy == nil
	}
	v := &finder{fact: &f}
	n.Accept(v)
	return f
}

// rowsAlone says that a statement's effect and answer rest on rows of tables alone.
func (f *fact) rowsAlone() bool { return !f.control && !f.drawn && len(f.tables) > 0 }

// numbersNone says that a statement gives no row a number. keyed are the tables whose rows
// need none.
func (f *fact) numbersNone(keyed map[string]bool) bool {
	return !f.inserts || !slices.ContainsFunc(f.tables, func(t string) bool { return !keyed[t] })
}

// drawnFunctions depend on more than the rows.
var drawnFunctions = []string{
	"rand", "now", "sysdate", "uuid", "uuid_short", "sleep", "get_lock", "release_lock", "is_free_lock", "is_used_lock", "last_insert_id", "row_count",
	"found_rows", "connection_id", "current_timestamp", "curdate", "curtime", "current_date", "current_time", "localtime", "localtimestamp",
	"unix_timestamp", "utc_date", "utc_time", "utc_timestamp", "benchmark", "nextval", "lastval", "setval",
}

type finder struct{ fact *fact }

func (v *finder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.TableName:
		v.fact.tables = append(v.fact.tables, x.Name.L)
	case *ast.FuncCallExpr:
		v.fact.drawn = v.fact.drawn || slices.Contains(drawnFunctions, x.FnName.L)
	case *ast.VariableExpr:
		v.fact.drawn = true
	case *ast.AggregateFuncExpr:
		v.fact.returnsRows = false
	}
	return n, false
}

func (v *finder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// plainTables says that a set-up makes nothing but tables that nothing connects, and rows.
func plainTables(init []corpus.Line) bool {
	for i := range init {
		switch s := init[i].Stmt.(type) {
		case *ast.CreateTableStmt:
			if s.Select != nil || s.ReferTable != nil || slices.ContainsFunc(s.Constraints, func(c *ast.Constraint) bool { return c.Tp == ast.ConstraintForeignKey }) {
				return false
			}
			for _, c := range s.Cols {
				if slices.ContainsFunc(c.Options, func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionReference }) {
					return false
				}
			}
		case *ast.InsertStmt, *ast.CreateIndexStmt:
		default:
			return false
		}
	}
	return true
}

// keyedTables returns the tables whose rows have a primary key and no AUTO_INCREMENT.
func keyedTables(init []corpus.Line) map[string]bool {
	out := map[string]bool{}
	for i := range init {
		s, ok := init[i].Stmt.(*ast.CreateTableStmt)
		if !ok {
			continue
		}
		primary := slices.ContainsFunc(s.Constraints, func(c *ast.Constraint) bool { return c.Tp == ast.ConstraintPrimaryKey })
		numbered := false
		for _, c := range s.Cols {
			for _, o := range c.Options {
				primary = primary || o.Tp == ast.ColumnOptionPrimaryKey
				numbered = numbered || o.Tp == ast.ColumnOptionAutoIncrement || o.Tp == ast.ColumnOptionAutoRandom
			}
			numbered = numbered || mysql.HasAutoIncrementFlag(c.Tp.GetFlag())
		}
		out[strings.ToLower(s.Table.Name.L)] = primary && !numbered
	}
	return out
}
