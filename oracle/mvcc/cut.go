package mvcc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Which rows a LIMIT leaves is the server's choice where no order tells. How many they are
// is not, nor which rows they may be.
// https://dev.mysql.com/doc/refman/en/limit-optimization.html
// https://docs.pingcap.com/tidb/stable/dev-guide-unstable-result-set

// whyCut is why such a set of answers is open.
const whyCut = "which rows it finds before its LIMIT"

// anyOf predicts the answer to a query that would return all of the rows but for its LIMIT:
// as many as that leaves, and of them those that the answer has.
func (p *Prediction) anyOf(s *ast.SelectStmt, all [][]sqlvalue.Value, answer [][]history.Cell) error {
	if s.OrderBy != nil {
		return errUnordered // rows of equal rank only are left to the server
	}
	count, ok := leftBy(s.Limit, len(all))
	if !ok {
		return errUnordered
	}
	if count < len(all) {
		p.leaveOpen(whyCut)
	}
	came := map[string]int{}
	for _, text := range cellTexts(answer) {
		came[text]++
	}
	var there, others [][]sqlvalue.Value
	for _, row := range all {
		if text := FormatRow(row); came[text] > 0 {
			came[text]--
			there = append(there, row)
		} else {
			others = append(others, row)
		}
	}
	p.Rows = slices.Concat(there, others)[:count]
	return nil
}

// leftBy returns how many of some rows a LIMIT leaves; ok is false if it is not known.
func leftBy(limit *ast.Limit, rows int) (n int, ok bool) {
	count, ok := rowsOf(limit)
	if !ok {
		return 0, false
	}
	if limit.Offset != nil {
		skipped, ok := rowsOf(&ast.Limit{Count: limit.Offset})
		if !ok {
			return 0, false
		}
		rows -= int(min(skipped, uint64(rows)))
	}
	return int(min(count, uint64(rows))), true
}

// unlimited returns a query without its LIMIT, the same one each time, since the solver
// keeps what it compiles.
func (r *Replay) unlimited(s *ast.SelectStmt) *ast.SelectStmt {
	if s.Limit == nil {
		return s
	}
	all := r.uncut[s]
	if all == nil {
		c := *s
		c.Limit = nil
		all = &c
		r.uncut[s] = all
	}
	return all
}

// underLimit is the error of a query on some row, which settles nothing if a LIMIT may have
// ended the query in front of that row; then the answer is it or another one.
func (x *running) underLimit(s *ast.SelectStmt, err error) error {
	var failed *solve.SQLError
	switch {
	case s.Limit == nil || !errors.As(err, &failed):
	case failed.Code != errCode(x.st):
		return &Loss{Slug: "unsupported: error under ORDER BY or LIMIT"}
	default:
		x.open = strayOrNot
	}
	return err
}

// meetsTaken notes that a locking read which may stop has passed a row, without having
// waited for it, that another transaction surely holds: then it has stopped before.
func (x *running) meetsTaken(t *Table, h hit) {
	holder := x.e.holder(h.c, x.tx, x.kind == stmt.SelectForUpdate)
	if holder != nil && x.surelyHeld(t, h.c, holder) {
		x.taken = append(x.taken, h)
	}
}

// cutRead predicts a locking read of one table whose LIMIT leaves some of the rows that its
// scan found; those that others hold are none of them.
func (x *running) cutRead(s *ast.SelectStmt, t *Table, hits []hit) (*Prediction, error) {
	e := x.e
	if HasSubquery(x.node) {
		return nil, errUnordered
	}
	x.cut = true
	p := &Prediction{Matched: -1, Changed: -1}
	free := slices.DeleteFunc(hits, func(h hit) bool {
		return slices.ContainsFunc(x.taken, func(o hit) bool { return o.c == h.c })
	})
	all := e.unlimited(s)
	res, err := e.solver.Select(all, x.views(t, foundIn(free)))
	if err != nil {
		return nil, x.underLimit(s, err)
	}
	if err := p.anyOf(s, res.Rows, x.st.Result.Rows); err != nil {
		return nil, err
	}
	if plainRows(s) {
		if _, p.read, err = x.cameOf(all, t, nil, free); err != nil {
			return nil, err
		}
	}
	for _, c := range p.read {
		e.lock(c, x.tx, x.kind == stmt.SelectForUpdate)
	}
	return p, nil
}

// claimCut notes what a locking read with LIMIT surely holds: the rows that it returned, as
// far as they can be told from others that look alike.
func (x *running) claimCut() {
	s, ok := x.node.(*ast.SelectStmt)
	if !ok || !x.cut || len(x.p.read) == 0 {
		return
	}
	t := x.e.table(stmt.SoleTable(s.From).Name.O)
	x.tx.claims = append(x.tx.claims, &claim{t: t, kind: x.kind, where: s.Where, rows: x.p.read, cols: columnsOf(t.Def, s)})
}

// nameCut says of a wrong answer of such a read which row it returned for which it had to
// wait; it reports whether there is one.
func (x *running) nameCut(d *Difference) bool {
	s, ok := x.node.(*ast.SelectStmt)
	if !ok || !x.cut || !plainRows(s) {
		return false
	}
	text := x.firstIn(s, x.e.table(stmt.SoleTable(s.From).Name.O), x.taken, true, true)
	if text == "" {
		return false
	}
	d.Kind = "missing-wait"
	d.Reason = fmt.Sprintf("tx%d's %s returned the row %s, for which it had to wait: another transaction had locked it and had not ended", x.st.Session, x.kind, text)
	return true
}
