package innodb

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/record"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// skippingRead answers a SELECT of one table with SKIP LOCKED.
func (x *running) skippingRead(s *ast.SelectStmt, t *versions.Table) (*mvcc.Prediction, error) {
	e := x.e
	for x.due {
		// For metadata; what else it waits for is a difference of its own.
		x.block(nil)
	}
	k := &skipping{t: t, others: x.othersNow(t), limited: s.Limit != nil, seen: map[*versions.Chain]bool{}}
	x.skip = k
	a := x.accessOf(t, s.Where)
	err := x.scan(a, x.mode(), func(h hit) error {
		k.free = append(k.free, h)
		return nil
	})
	if err != nil {
		return nil, err
	}
	e.touchInnoDB(x, t, s.Where, false, nil)
	p := &mvcc.Prediction{Matched: -1, Changed: -1}
	if len(k.unsure) > 0 {
		p.LeaveOpen("which of the rows it passes over that others may have locked")
	}
	if len(k.others) > 0 {
		// Who passes over what others are doing, and leaves its gap open, has no place in a
		// serial order.
		e.of(x.tx).missed = true
	}
	if err := x.followAnswer(s, p); err != nil {
		return nil, err
	}
	for _, c := range p.Read {
		e.locks.Take(versions.Lock{Txn: x.tx, Row: c, Mode: x.mode()})
	}
	return p, nil
}

// passesLocked decides whether the scan of a SKIP LOCKED goes on without acting on an
// entry, and keeps the row for the answer where it may be in it.
func (x *running) passesLocked(a *access, n *entry, views solve.Views) (bool, error) {
	k, c := x.skip, n.c
	at := x.standingOf(k.t, c, k.others)
	if at == isFree && !k.limited {
		return false, nil
	}
	// The entry of an index may have been locked before the row was found to be.
	x.e.uncertainLocks.Take(versions.Lock{Txn: x.tx, Row: c, Mode: x.mode()})
	ver := x.e.committed(c, x.tx)
	if k.seen[c] || ver == nil || ver.Row == nil || a.key != nil && !versions.EqualIn(a.key, ver.Row, n.row) {
		return true, nil
	}
	ok, err := x.matches(a, ver, views)
	var failed *solve.SQLError
	switch {
	case errors.As(err, &failed) && failed.Code != mvcc.ErrCode(x.st) && at != isFree:
		return true, nil // it was skipped
	case err != nil:
		return false, err
	case !ok:
		return true, nil
	}
	k.seen[c] = true
	switch h := (hit{c, ver.Row}); at {
	case isTaken:
		k.taken = append(k.taken, h)
	case isFree:
		k.free = append(k.free, h)
	default:
		k.unsure = append(k.unsure, h)
	}
	return true, nil
}

// followAnswer predicts the rows of a SKIP LOCKED: those that have to be there and of the
// others those that are.
func (x *running) followAnswer(s *ast.SelectStmt, p *mvcc.Prediction) error {
	k := x.skip
	count, ok := limitOf(s)
	if !ok {
		return &mvcc.Loss{Slug: "unsupported: SKIP LOCKED with OFFSET"}
	}
	all := x.e.Unlimited(s)
	cut := k.limited && len(x.st.Result.Rows) >= count
	if cut && len(k.unsure) == 0 {
		// Where the order says which ones they are, these are the only ones.
		res, err := x.e.Solver.Select(s, x.views(k.t, foundIn(k.free)))
		if err != nil {
			return err
		}
		if res.TotalOrder && !res.Cut {
			p.Rows, p.Ordered = res.Rows, true
			if mvcc.PlainRows(s) {
				_, p.Read, err = x.cameOf(all, k.t, nil, k.free)
			}
			return err
		}
	}
	switch {
	case mvcc.PlainRows(s):
	case k.limited:
		return &mvcc.Loss{Slug: "unsupported: SKIP LOCKED with LIMIT in a query that groups"}
	default:
		return x.tryAnswers(s, p)
	}
	must, may := k.free, k.unsure
	if cut {
		must, may = nil, slices.Concat(k.free, k.unsure)
		p.LeaveOpen(mvcc.WhyCut)
	}
	rows, read, err := x.cameOf(all, k.t, must, may)
	if err != nil {
		return err
	}
	if cut && len(rows) < count {
		// The answer is wrong. Tell a right one.
		rows = foundIn(may)
	}
	res, err := x.e.Solver.Select(all, x.views(k.t, rows))
	if err != nil {
		return err
	}
	p.Rows, p.Ordered, p.Read = res.Rows, res.TotalOrder, read
	if k.limited && len(p.Rows) > count {
		p.Rows = p.Rows[:count]
	}
	return nil
}

// cameOf returns the rows that must be in the answer with those that may be and are,
// and the records of which this is certain: two of them may look alike.
func (x *running) cameOf(s *ast.SelectStmt, t *versions.Table, must, may []hit) (rows []solve.Row, read []*versions.Chain, err error) {
	came := mvcc.CountTexts(x.st.Result.Rows)
	for _, h := range must {
		text, err := x.textOf(s, t, h.row)
		if err != nil {
			return nil, nil, err
		}
		came[text]--
		rows, read = append(rows, h.row), append(read, h.c)
	}
	texts := make([]string, len(may))
	for i, h := range may {
		if texts[i], err = x.textOf(s, t, h.row); err != nil {
			return nil, nil, err
		}
	}
	in, sure := mvcc.ReturnedOf(texts, came)
	for _, i := range in {
		rows = append(rows, may[i].row)
	}
	for _, i := range sure {
		read = append(read, may[i].c)
	}
	return rows, read, nil
}

// textOf returns the row that a query makes of one row of its table.
func (x *running) textOf(s *ast.SelectStmt, t *versions.Table, row solve.Row) (string, error) {
	res, err := x.e.Solver.Project(s, t.Def, []solve.Row{row}, x.views(nil, nil))
	if err != nil {
		return "", err
	}
	if len(res.Rows) != 1 {
		return "", &mvcc.Loss{Slug: "unsupported: LIMIT or SKIP LOCKED in a query of other rows than its table's"}
	}
	return versions.FormatRow(res.Rows[0]), nil
}

// maxPerhaps bounds the rows of which every choice is tried.
const maxPerhaps = 8

// tryAnswers looks for the rows that a query which groups must have found to answer as it
// did.
func (x *running) tryAnswers(s *ast.SelectStmt, p *mvcc.Prediction) error {
	k := x.skip
	if len(k.unsure) > maxPerhaps {
		return &mvcc.Loss{Slug: "unsupported: SKIP LOCKED of many rows in a query that groups"}
	}
	for chosen := range 1 << len(k.unsure) {
		rows := foundIn(k.free)
		for i, h := range k.unsure {
			if chosen>>i&1 == 1 {
				rows = append(rows, h.row)
			}
		}
		res, err := x.e.Solver.Select(s, x.views(k.t, rows))
		if err != nil {
			return err
		}
		if p.Rows, p.Ordered = res.Rows, res.TotalOrder; mvcc.SameRows(res.Rows, x.st.Result.Rows, res.TotalOrder) {
			break
		}
	}
	if mvcc.LocksWhatItReturns(s) {
		p.Read = chainsOf(k.free)
	}
	return nil
}

// limitOf returns the number of rows that a LIMIT leaves; ok is false if it is not known,
// or if some are left out in front of them.
func limitOf(s *ast.SelectStmt) (n int, ok bool) {
	if s.Limit == nil {
		return 0, true
	}
	count, ok := mvcc.RowsOf(s.Limit)
	return int(min(count, 1<<30)), ok && s.Limit.Offset == nil
}

func foundIn(hits []hit) []solve.Row {
	rows := make([]solve.Row, len(hits))
	for i, h := range hits {
		rows[i] = h.row
	}
	return rows
}

func chainsOf(hits []hit) []*versions.Chain {
	out := make([]*versions.Chain, len(hits))
	for i, h := range hits {
		out[i] = h.c
	}
	return out
}

// claimSkipping notes what a SKIP LOCKED surely holds: the rows that it returned.
func (x *running) claimSkipping() {
	if x.skip == nil || len(x.p.Read) == 0 {
		return
	}
	s := x.node.(*ast.SelectStmt)
	x.holdsMatching(&predicateLock{table: x.skip.t, kind: x.kind, where: s.Where, rows: x.p.Read, columns: columnsOf(x.skip.t.Def, s)})
}

// nameSkipping says of a wrong answer of a SKIP LOCKED which row it is about.
func (x *running) nameSkipping(d *mvcc.Difference) {
	s, ok := x.node.(*ast.SelectStmt)
	if !ok || x.skip == nil || !mvcc.PlainRows(s) {
		return
	}
	came, k := mvcc.CellTexts(x.st.Result.Rows), x.skip
	if text := x.firstIn(s, k.t, k.taken, true, true); text != "" {
		d.Kind, d.Reason = mvcc.LockedReturned, fmt.Sprintf("tx%d's %s returned the row %s, although another transaction had locked it and had not ended: SKIP LOCKED must leave it out", x.st.Session, x.kind, text)
	} else if text := x.firstIn(s, k.t, k.free, false, false); text != "" && !(k.limited && len(came) >= len(x.p.Rows)) {
		d.Kind, d.Reason = mvcc.FreeSkipped, fmt.Sprintf("tx%d's %s left out the row %s, although no other transaction can have locked it", x.st.Session, x.kind, text)
	}
}

// firstIn returns the first of some rows of a table, in the version that is committed or, if
// newest says so, in the newest, too, that is in the answer of a query, or, if in is not set,
// is not; "" for none.
func (x *running) firstIn(s *ast.SelectStmt, t *versions.Table, hits []hit, newest, in bool) string {
	came := mvcc.CellTexts(x.st.Result.Rows)
	for _, h := range hits {
		for _, row := range []solve.Row{h.row, h.c.Last().Row} {
			if row == nil {
				continue
			}
			if text, err := x.textOf(x.e.Unlimited(s), t, row); err == nil && slices.Contains(came, text) == in {
				return text
			}
			if !newest {
				break
			}
		}
	}
	return ""
}

// waitedForGone reports whether all that a statement waited for are records that, by what
// the server tells, may have been no row of the case at any time: marked deleted before it and not
// purged yet. MariaDB is seen to wait for one, once in tens of thousands of cases, and that
// it waits for a row no case can show then.
// https://dev.mysql.com/doc/refman/en/innodb-multi-versioning.html
func (x *running) waitedForGone() bool {
	for k, w := range x.st.Waits {
		if w.Kind != history.RowLock {
			continue
		}
		if w.At == nil || w.At.Kind != history.RecordLock {
			return false
		}
		if x.e.places == nil || k >= len(x.e.places[x.i]) {
			continue // of a table without keys the record says nothing that is known of its rows
		}
		if p := x.e.places[x.i][k]; p != nil && x.e.matchesRow(p, func(a record.Answer) bool { return a == record.Yes }) {
			return false
		}
	}
	return true
}
