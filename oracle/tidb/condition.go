package tidb

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// conditionOrder recognises a difference that comes from the order in which
// the parts of a condition are evaluated: no manual promises one, and whether a
// part that would fail is reached depends on the plan.
func (r *engine) conditionOrder(i int, kind stmt.Kind, node ast.StmtNode, view versions.View, p *mvcc.Prediction) error {
	code := mvcc.ErrCode(&r.History.Stmts[i])
	if code == p.Err {
		return nil
	}
	of := stmt.Of(node)
	parts, name := mvcc.Leaves(of.Where, nil), stmt.SoleTable(of.From)
	if len(parts) < 2 || name == nil {
		return nil
	}
	evaluates := func(c uint16) bool { return c == mvcc.ErrTruncated || c == mvcc.ErrOutOfRange }
	if !evaluates(code) && !evaluates(p.Err) {
		return nil
	}
	t := r.Table(name.Name.O)
	if t == nil {
		return nil
	}
	rows, _ := t.Rows(view)
	for _, part := range parts {
		for _, row := range rows {
			_, warnings, err := r.Solver.Where(part, t.Def, row, &mvcc.Stored{Store: &r.Store, View: view})
			if warnings > 0 {
				return &mvcc.Loss{Slug: "order in which a condition is evaluated"}
			}
			if err == nil {
				continue
			}
			if c, loss := mvcc.SQLErrorOf(err); loss == nil && evaluates(c) {
				return &mvcc.Loss{Slug: "order in which a condition is evaluated", Detail: err.Error()}
			}
		}
	}
	return nil
}
