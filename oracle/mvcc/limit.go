package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Which rows a LIMIT leaves is the server's choice where no order tells. How many they are
// is not, nor which rows they may be.
// https://dev.mysql.com/doc/refman/en/limit-optimization.html
// https://docs.pingcap.com/tidb/stable/dev-guide-unstable-result-set

// WhyCut is why such a set of answers is open.
const WhyCut = "which rows it finds before its LIMIT"

// AnyOf predicts the answer to a query that would return all of the rows but for its LIMIT:
// as many as that leaves, and of them those that the answer has.
func (p *Prediction) AnyOf(s *ast.SelectStmt, all [][]sqlvalue.Value, answer [][]history.Cell) error {
	if s.OrderBy != nil {
		return ErrUnordered // rows of equal rank only are left to the server
	}
	count, ok := leftBy(s.Limit, len(all))
	if !ok {
		return ErrUnordered
	}
	if count < len(all) {
		p.LeaveOpen(WhyCut)
	}
	came := CountTexts(answer)
	var there, others [][]sqlvalue.Value
	for _, row := range all {
		if text := versions.FormatRow(row); came[text] > 0 {
			came[text]--
			there = append(there, row)
		} else {
			others = append(others, row)
		}
	}
	p.Rows = slices.Concat(there, others)[:count]
	return nil
}

// ReturnedOf tells which of some rows an answer has, by what a query makes of each of them
// and how many rows of each kind the answer has: as many as that, and those of them that
// look like no row that it may be without.
func ReturnedOf(texts []string, answer map[string]int) (in, sure []int) {
	alike, taken := map[string]int{}, map[string]int{}
	for _, text := range texts {
		alike[text]++
	}
	for i, text := range texts {
		if taken[text] >= answer[text] {
			continue
		}
		taken[text]++
		in = append(in, i)
		if alike[text] <= answer[text] {
			sure = append(sure, i)
		}
	}
	return in, sure
}

// leftBy returns how many of some rows a LIMIT leaves; ok is false if it is not known.
func leftBy(limit *ast.Limit, rows int) (n int, ok bool) {
	count, skipped, ok := countsOf(limit)
	if !ok {
		return 0, false
	}
	rows -= int(min(skipped, uint64(rows)))
	return int(min(count, uint64(rows))), true
}

// MeetsBefore returns how many of some rows a query has to find before a LIMIT ends it, all
// of them where that is not known.
func MeetsBefore(limit *ast.Limit, rows int) int {
	if count, skipped, ok := countsOf(limit); ok && count < uint64(rows) && skipped < uint64(rows) {
		return min(int(count+skipped), rows)
	}
	return rows
}

// countsOf returns the two numbers of a LIMIT.
func countsOf(limit *ast.Limit) (count, skipped uint64, ok bool) {
	if count, ok = RowsOf(limit); ok && limit.Offset != nil {
		skipped, ok = literalCount(limit.Offset)
	}
	return count, skipped, ok
}

// Unlimited returns a query without its LIMIT, the same one each time, since the solver
// keeps what it compiles.
func (r *Replay) Unlimited(s *ast.SelectStmt) *ast.SelectStmt {
	if s.Limit == nil {
		return s
	}
	all := r.Uncut[s]
	if all == nil {
		c := *s
		c.Limit = nil
		all = &c
		r.Uncut[s] = all
	}
	return all
}

// RowsOf returns the number of rows of a LIMIT.
func RowsOf(limit *ast.Limit) (uint64, bool) {
	if limit == nil {
		return 0, false
	}
	return literalCount(limit.Count)
}

func literalCount(e ast.ExprNode) (uint64, bool) {
	count, ok := e.(ast.ValueExpr)
	if !ok {
		return 0, false
	}
	switch n := count.GetValue().(type) {
	case uint64:
		return n, true
	case int64:
		return uint64(n), true
	}
	return 0, false
}

// ErrUnordered is the loss of a statement whose LIMIT leaves rows of an order that is
// not total.
var ErrUnordered = &Loss{Slug: "unsupported: LIMIT without a total order"}

// Ordered reports whether ORDER BY tells the rows that LIMIT leaves from each of those
// that it does not.
func Ordered(s ast.StmtNode, t *versions.Table, rows []solve.Row, left []int) bool {
	of := stmt.Of(s)
	if of.Order == nil || !of.Kind.Writes() {
		return false
	}
	cols := ColumnsIn(t.Def, of.Order)
	for i := range rows {
		if !slices.Contains(left, i) && slices.ContainsFunc(left, func(k int) bool { return !Changes(rows[i], rows[k], cols) }) {
			return false
		}
	}
	return true
}

// leaveOut makes unknown which of the rows that a SELECT's condition holds for it read, as
// far as LIMIT cut them off: it read those that it returns. What is equal in the columns
// that it returns, and partly there, is unknown, too. So is, to a read of uncommitted data,
// what it does not return: a statement that waits has written some index of a row and not
// the other. Where the LIMIT is full, any other row may lie behind its end, those included
// that come later.
func (r *Replay) leaveOut(l *look, q *ast.SelectStmt, view versions.View, answer [][]sqlvalue.Value) {
	count, skipped, limited := countsOf(q.Limit)
	if limited && count == 0 {
		l.some = true
		l.forget(func(int, *met) bool { return true })
		return
	}
	partly := view.Uncommitted && stmt.SoleTable(q.From) != nil && !HasSubquery(q)
	if q.Limit == nil && !partly || q.GroupBy != nil || Aggregates(q) {
		return
	}
	if name := stmt.SoleTable(q.From); name == nil || r.Table(name.Name.O) == nil || r.Table(name.Name.O).Def != l.table.Def {
		// How far it came in a join, or with a subquery, is not known.
		l.forget(func(_ int, m *met) bool { return m.matched })
		return
	}
	bare := *q
	bare.OrderBy, bare.Limit = nil, nil
	texts := make([]string, len(l.met))
	returned, chosen, all := map[string]int{}, map[string]int{}, 0
	for _, row := range answer {
		returned[versions.FormatRow(row)]++
	}
	for k := range l.met {
		m := &l.met[k]
		if !m.matched || m.unknown {
			continue
		}
		all++
		res, err := r.Solver.Project(&bare, l.table.Def, []solve.Row{view.Version(m.chain).Row}, &Stored{&r.Store, view})
		if err == nil && len(res.Rows) == 1 {
			texts[k] = versions.FormatRow(res.Rows[0])
			chosen[texts[k]]++
		}
	}
	if limited && (uint64(len(answer)) == count || skipped > 0) {
		l.some = true
		l.forget(func(_ int, m *met) bool { return !m.matched })
	}
	if all > len(answer) {
		l.forget(func(k int, m *met) bool {
			return m.matched && (chosen[texts[k]] == 0 || returned[texts[k]] < chosen[texts[k]])
		})
	}
}

// forget makes unknown what a look met of some rows.
func (l *look) forget(which func(k int, m *met) bool) {
	for k := range l.met {
		if m := &l.met[k]; which(k, m) {
			*m = met{chain: m.chain, unknown: true}
		}
	}
}
