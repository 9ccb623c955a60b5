package tidb

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// scansBackwards reports whether a query is answered by a descending scan:
// MAX, or ORDER BY … DESC.
func scansBackwards(n ast.StmtNode) bool {
	s, ok := n.(*ast.SelectStmt)
	if !ok {
		return false
	}
	if s.OrderBy != nil {
		for _, it := range s.OrderBy.Items {
			if it.Desc {
				return true
			}
		}
	}
	for _, f := range s.Fields.Fields {
		if a, ok := f.Expr.(*ast.AggregateFuncExpr); ok && strings.ToLower(a.F) == "max" {
			return true
		}
	}
	return false
}

// looksUpOneKey reports whether a query asks for one value of a whole unique key of its table: that is a
// look-up (Point_Get), whatever its order, and no scan.
func (r *engine) looksUpOneKey(n ast.StmtNode) bool {
	of := stmt.Of(n)
	name := stmt.SoleTable(of.From)
	if name == nil || r.Table(name.Name.O) == nil {
		return false
	}
	f, points := cheapestFilter(r.Table(name.Name.O).Def, r.Possible(of.Where))
	return f != nil && points == 1
}

// minBesideMax corrects, under the rule NewestCommitted, the answer to a query for MIN and MAX alone:
// TiDB gives each of them a scan of its own (rule_max_min_eliminate.go in pkg/planner/core), and that
// of MIN goes forward, over the snapshot.
func (r *engine) minBesideMax(tx *versions.Txn, s *ast.SelectStmt, view versions.View, p *mvcc.Prediction) error {
	if tx.Rules.Of(rules.ReverseScan) != rules.NewestCommitted || tx.Snapshot == 0 || view.Tick == tx.Snapshot ||
		p.Err != 0 || len(p.Rows) != 1 || s.GroupBy != nil || s.Having != nil {
		return nil
	}
	var forward []int
	for k, f := range s.Fields.Fields {
		a, ok := f.Expr.(*ast.AggregateFuncExpr)
		switch {
		case ok && strings.EqualFold(a.F, ast.AggFuncMin):
			forward = append(forward, k)
		case !ok || !strings.EqualFold(a.F, ast.AggFuncMax):
			return nil
		}
	}
	if len(forward) == 0 {
		return nil
	}
	old, err := r.Solver.Select(s, &mvcc.Stored{Store: &r.Store, View: versions.View{Tick: tx.Snapshot, Own: tx}})
	if err != nil {
		return mvcc.LossOf("solver", err)
	}
	for _, k := range forward {
		p.Rows[0][k] = old.Rows[0][k]
	}
	return nil
}
