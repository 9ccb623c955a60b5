package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// leaveOut makes unknown which of the rows that a SELECT's condition holds for it read, as
// far as LIMIT cut them off: it read those that it returns. What is equal in the columns
// that it returns, and partly there, is unknown, too. So is, to a read of uncommitted data,
// what it does not return: a statement that waits has written some index of a row and not
// the other.
func (r *Replay) leaveOut(l *look, q *ast.SelectStmt, view View, answer [][]sqlvalue.Value) {
	if n, ok := rowsOf(q.Limit); ok && n == 0 {
		l.some = true
		for k := range l.met {
			l.met[k] = met{chain: l.met[k].chain, unknown: true}
		}
		return
	}
	partly := view.Uncommitted && stmt.SoleTable(q.From) != nil && !HasSubquery(q)
	if q.Limit == nil && !partly || q.GroupBy != nil || aggregates(q) {
		return
	}
	if name := stmt.SoleTable(q.From); name == nil || r.table(name.Name.O) == nil || r.table(name.Name.O).Def != l.table.Def {
		for k := range l.met { // how far it came in a join, or with a subquery, is not known
			if m := &l.met[k]; m.matched {
				*m = met{chain: m.chain, unknown: true}
			}
		}
		return
	}
	bare := *q
	bare.OrderBy, bare.Limit = nil, nil
	texts := make([]string, len(l.met))
	returned, chosen, all := map[string]int{}, map[string]int{}, 0
	for _, row := range answer {
		returned[FormatRow(row)]++
	}
	for k := range l.met {
		m := &l.met[k]
		if !m.matched || m.unknown {
			continue
		}
		all++
		res, err := r.solver.Project(&bare, l.table.Def, []solve.Row{view.version(m.chain).Row}, &stored{&r.store, view})
		if err == nil && len(res.Rows) == 1 {
			texts[k] = FormatRow(res.Rows[0])
			chosen[texts[k]]++
		}
	}
	n, limited := rowsOf(q.Limit)
	if full := limited && uint64(len(answer)) == n; full || q.Limit != nil && q.Limit.Offset != nil {
		// What comes later may be cut off, too.
		l.some = true
		for k := range l.met {
			if m := &l.met[k]; !m.matched {
				*m = met{chain: m.chain, unknown: true}
			}
		}
	}
	if all <= len(answer) {
		return // nothing was cut off
	}
	for k := range l.met {
		m := &l.met[k]
		if m.matched && !m.unknown && (chosen[texts[k]] == 0 || returned[texts[k]] < chosen[texts[k]]) {
			*m = met{chain: m.chain, unknown: true}
		}
	}
}
