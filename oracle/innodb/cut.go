package innodb

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// underLimit is the error of a query on some row, which settles nothing if a LIMIT may have
// ended the query in front of that row; then the answer is it or another one.
func (x *running) underLimit(s *ast.SelectStmt, err error) error {
	var failed *solve.SQLError
	switch {
	case s.Limit == nil || !errors.As(err, &failed):
	case failed.Code != mvcc.ErrCode(x.st):
		return &mvcc.Loss{Slug: "unsupported: error under ORDER BY or LIMIT"}
	default:
		x.open = mvcc.StrayOrNot
	}
	return err
}

// meetsTaken notes that a locking read which may stop has passed a row, without having
// waited for it, that another transaction surely holds: then it has stopped before.
func (x *running) meetsTaken(t *versions.Table, h hit) {
	holder := x.e.holder(h.c, x.tx, x.mode())
	if holder != nil && x.surelyHeld(t, h.c, holder) {
		x.taken = append(x.taken, h)
	}
}

// cutRead predicts a locking read of one table whose LIMIT leaves some of the rows that its
// scan found; those that others hold are none of them.
func (x *running) cutRead(s *ast.SelectStmt, t *versions.Table, hits []hit) (*mvcc.Prediction, error) {
	e := x.e
	if mvcc.HasSubquery(x.node) {
		return nil, mvcc.ErrUnordered
	}
	x.cut = true
	p := &mvcc.Prediction{Matched: -1, Changed: -1}
	free := slices.DeleteFunc(slices.Clone(hits), func(h hit) bool {
		return slices.ContainsFunc(x.taken, func(o hit) bool { return o.c == h.c })
	})
	x.tooFew = mvcc.PlainRows(s) && mvcc.MeetsBefore(s.Limit, len(hits)) > len(free)
	all := e.Unlimited(s)
	res, err := e.Solver.Select(all, x.views(t, foundIn(free)))
	if err != nil {
		return nil, x.underLimit(s, err)
	}
	if err := p.AnyOf(s, res.Rows, x.st.Result.Rows); err != nil {
		return nil, err
	}
	if mvcc.PlainRows(s) {
		if _, p.Read, err = x.cameOf(all, t, nil, free); err != nil {
			return nil, err
		}
	}
	x.lockAll(p.Read)
	return p, nil
}

// lockAll notes the locks on what a locking read has returned.
func (x *running) lockAll(read []*versions.Chain) {
	for _, c := range read {
		x.e.locks.Take(versions.Lock{Txn: x.tx, Row: c, Mode: x.mode()})
	}
}

// passedTaken reports a locking read that has come past a row which another transaction
// surely holds, as without it there are fewer rows than its LIMIT asks for.
func (x *running) passedTaken() *mvcc.Difference {
	if !x.tooFew {
		return nil
	}
	holder := x.e.holder(x.taken[0].c, x.tx, x.mode())
	if holder == nil {
		return nil // it has ended meanwhile
	}
	return &mvcc.Difference{Stmt: x.i, Kind: "missing-wait", Expected: fmt.Sprintf("waits for tx%d", holder.Session), Actual: "returned at once: " + history.Describe(x.kind, &x.st.Result),
		Reason: fmt.Sprintf("tx%d had locked a row and had not ended, and without that row tx%d's %s finds fewer than its LIMIT asks for", holder.Session, x.st.Session, x.kind)}
}

// claimCut notes what a locking read with LIMIT surely holds: the rows that it returned, as
// far as they can be told from others that look alike.
func (x *running) claimCut() {
	s, ok := x.node.(*ast.SelectStmt)
	if !ok || !x.cut || len(x.p.Read) == 0 {
		return
	}
	t := x.e.Table(stmt.SoleTable(s.From).Name.O)
	x.holdsMatching(&predicateLock{table: t, kind: x.kind, where: s.Where, rows: x.p.Read, columns: columnsOf(t.Def, s)})
}

// nameCut says of a wrong answer of such a read which row it returned for which it had to
// wait; it reports whether there is one.
func (x *running) nameCut(d *mvcc.Difference) bool {
	s, ok := x.node.(*ast.SelectStmt)
	if !ok || !x.cut || !mvcc.PlainRows(s) {
		return false
	}
	text := x.firstIn(s, x.e.Table(stmt.SoleTable(s.From).Name.O), x.taken, true, true)
	if text == "" {
		return false
	}
	d.Kind = "missing-wait"
	d.Reason = fmt.Sprintf("tx%d's %s returned the row %s, for which it had to wait: another transaction had locked it and had not ended", x.st.Session, x.kind, text)
	return true
}
