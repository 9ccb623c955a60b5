package tidb

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// subqueryViews gives what the subqueries of a statement read that started at the given tick.
// Under the rule SnapshotSubquery that is older data for those of a write that are evaluated
// before it runs. A table that is read both so and in another way is not told apart: then
// nothing is read so.
func (r *engine) subqueryViews(node ast.StmtNode, view versions.View, started history.Tick) solve.Views {
	now := &mvcc.Stored{Store: &r.Store, View: view}
	if view.Own == nil || view.Own.Rules.Of(rules.SubqueryView) != rules.SnapshotSubquery {
		return now
	}
	if _, ok := node.(*ast.SelectStmt); ok {
		return now
	}
	before, others := r.tablesOfSubqueries(node)
	if len(before) == 0 || slices.ContainsFunc(before, func(name string) bool { return slices.Contains(others, name) }) {
		return now
	}
	old := versions.View{Tick: started, Own: view.Own}
	if view.Own.Rules.Of(rules.ConsistentRead) == rules.Snapshot {
		old.Tick = view.Own.Snapshot
	}
	return &evaluatedBefore{Stored: now, tables: before, old: &mvcc.Stored{Store: &r.Store, View: old}}
}

// evaluatedBefore gives some tables as they were before a statement ran.
type evaluatedBefore struct {
	*mvcc.Stored
	tables []string
	old    *mvcc.Stored
}

// Table implements solve.Views.
func (v *evaluatedBefore) Table(name string) (*solve.Table, []solve.Row, error) {
	if slices.Contains(v.tables, strings.ToLower(name)) {
		return v.old.Table(name)
	}
	return v.Stored.Table(name)
}

// tablesOfSubqueries returns the tables, in lower case, that the scalar subqueries of a
// statement read which do not refer to its row, and those that its other subqueries read.
func (r *engine) tablesOfSubqueries(node ast.Node) (before, others []string) {
	corpus.Contains(node, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.PatternInExpr, *ast.ExistsSubqueryExpr, *ast.CompareSubqueryExpr:
			others = append(others, tablesWithin(n)...)
			return false, true
		case *ast.SubqueryExpr:
			if r.correlated(x) {
				others = append(others, tablesWithin(n)...)
			} else {
				before = append(before, tablesWithin(n)...)
			}
			return false, true
		}
		return false, false
	})
	return before, others
}

// tablesWithin returns the tables that an expression's queries read, in lower case.
func tablesWithin(n ast.Node) (names []string) {
	corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		if t, ok := n.(*ast.TableName); ok {
			names = append(names, t.Name.L)
		}
		return false, false
	})
	return names
}

// correlated reports whether a subquery names a column that no table in it has.
func (r *engine) correlated(sub *ast.SubqueryExpr) bool {
	aliases := map[string]bool{}
	columns := map[string]bool{}
	corpus.Contains(sub, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.TableSource:
			aliases[x.AsName.L] = true
		case *ast.TableName:
			aliases[x.Name.L] = true
			if t := r.Table(x.Name.O); t != nil {
				for i := range t.Def.Columns {
					columns[strings.ToLower(t.Def.Columns[i].Name)] = true
				}
			}
		case *ast.SelectField:
			columns[x.AsName.L] = true
		}
		return false, false
	})
	return corpus.Contains(sub, func(n ast.Node) (found, skip bool) {
		c, ok := n.(*ast.ColumnName)
		if !ok {
			return false, false
		}
		if c.Table.L != "" {
			return !aliases[c.Table.L], false
		}
		return !columns[c.Name.L], false
	})
}
