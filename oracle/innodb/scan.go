package innodb

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/record"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// scan walks over a table as a locking read or a write does and calls visit
// for each row that matches, in the order of the index, while it goes.
func (x *running) scan(a *access, mode versions.Mode, visit func(hit) error) error {
	e, t, tx := x.e, a.t, x.tx
	if nothing, err := x.skips(t, a.where); nothing || err != nil {
		return err
	}
	views := x.views(nil, nil)
	if _, err := e.Solver.Matches(x.node, t.Def, nil, views); errors.Is(err, solve.ErrSubstituted) {
		// It may fail before a row is read.
		return err
	}
	x.covered = x.kind == stmt.SelectForShare && x.coverable(t)
	keeps := tx.Level == corpus.RepeatableRead || tx.Level == corpus.Serializable
	judged := make(map[int]bool, len(t.Chains))
	if asked, inner := x.asked, visit; asked != nil {
		visit = func(h hit) error {
			asked.met()
			return inner(h)
		}
	}
	a.other, a.pending = x.otherPath(t, a.where), e.pending
	only := !e.loose && stmt.Of(x.node).Limit == nil && !a.other
	x.scansAll = only && (t.Clustered == nil || !e.tested(t, a.where)[t.Clustered.Columns[0]])
	if a.ended && x.due {
		x.sure = false
		x.block(nil)
	}
	var waitedFor *versions.Chain
	var prev *entry
	var failed error
	n := a.next(nil, true)
	stopped := func(holder *versions.Txn, doubtful bool) bool {
		var where stop
		var met versions.Version
		if n != nil {
			x.at, x.wants = n.c, mode
			if len(n.c.Versions) > 0 {
				met = *n.c.Last()
			}
		}
		if doubtful {
			where = x.mayWait(x.atEntryOf(a, n, mode), holder)
		} else {
			where = x.point(x.atEntryOf(a, n, mode), holder, true, x.due && holder != nil && x.needsLock(a, n, holder, mode, views))
		}
		x.at = nil
		switch where {
		case atEntry:
			x.resumeDuringRollback()
			if n != nil {
				waitedFor = n.c
				if x.readsVictim(a, &met, views) {
					failed = visit(hit{n.c, met.Row})
				}
				n = a.next(n, true)
			}
		case beforeEntry:
			n = x.behindUnseen(a, prev, n)
		}
		return where != nowhere
	}
	for {
		if failed != nil {
			return failed
		}
		if x.due && x.atUnseen && chooseFixed(e.choices, 2) == 1 {
			x.sure = false
			x.block(nil)
			n = x.behindUnseen(a, prev, n)
			continue
		}
		if n == nil {
			if !stopped(nil, false) {
				break
			}
			continue
		}
		if !e.touches(a, n) {
			// The scan of a range ends behind it, at an entry that it has
			// locked; which ranges there are is the optimiser's affair.
			if a.ranged || !a.unique && x.waitsHere(x.atEntryOf(a, n, mode)) == record.Yes {
				holder := e.holder(n.c, tx, mode)
				if holder == nil {
					holder = e.uncertainLocks.Holder(tx, n.c, mode)
				}
				if stopped(holder, !e.loose) {
					continue
				}
				if err := x.recordChanged(n.c, false); err != nil {
					return err
				}
				e.uncertainLocks.Take(versions.Lock{Txn: tx, Row: n.c, Mode: mode})
				prev = n
			}
			if err := x.strayError(a, n, views); err != nil {
				return err
			}
			n = a.next(n, false)
			continue
		}
		if x.skip != nil {
			passes, err := x.passesLocked(a, n, views)
			if err != nil {
				return err
			}
			if passes {
				prev, n = n, a.next(n, false)
				continue
			}
		}
		if err := x.recordChanged(n.c, only || x.lost(a, n.c, views)); err != nil {
			return err
		}
		holder := e.holder(n.c, tx, mode)
		if (holder != nil || x.versionDuringRollback(n.c) != nil) && x.kind == stmt.Update && (a.key == nil || e.loose) && !a.unique && !keeps {
			pass, err := x.passes(a, n.c, judged)
			if err != nil {
				return err
			}
			// A scan of another index than the clustered one may not pass, nor may the
			// look-up of a whole key among ranges. A scan for committed versions, or one that
			// follows an order, may wait in place of it, and so does one that is told to.
			mayWait := a.key != nil || looksUpPart(a.where, t) || inOrder(x.node) || e.loose && tx.Rules.Of(rules.LockedRow) == rules.PassCommitted
			if pass && x.due {
				here := x.waitsHere(x.atEntryOf(a, n, mode))
				pass, mayWait = here != record.Yes, mayWait && here != record.No
			}
			if pass && (!mayWait || e.choices.Choose(2) == 1) {
				prev, n = n, a.next(n, false)
				continue
			}
		}
		if a.key != nil && holder != nil && e.writer(n.c, tx) == nil && !a.live(n) {
			holder = nil
		}
		if holder == nil && (stopped(e.queued(n.c, tx, mode), true) || stopped(e.uncertainLocks.Holder(tx, n.c, mode), true)) || stopped(holder, false) {
			continue
		}
		h, err := x.judge(a, n, holder, keeps, mode, waitedFor == n.c, judged, views)
		if err != nil {
			return err
		}
		if h != nil {
			if err := visit(*h); err != nil {
				return err
			}
		}
		prev, n = n, a.next(n, false)
	}
	for _, c := range t.Chains {
		if x.skip == nil && x.lostBelow(a, c, views) {
			return changedError{true}
		}
	}
	return x.sweep(a, judged, views, visit)
}

// behindUnseen returns the entry at which a scan goes on that waited for one which no
// statement sees, between the entries prev and n. What was inserted meanwhile in front
// of that one is passed.
func (x *running) behindUnseen(a *access, prev, n *entry) *entry {
	next := a.next(prev, false)
	for next != nil && (n == nil || a.order(next, n) < 0) && x.e.choices.Choose(2) == 1 {
		next = a.next(next, false)
	}
	return next
}

// readsVictim decides, under the rule VictimReturned, whether a share locking read
// that an index alone may answer returns the row that it waited for although the
// transaction that wrote it was a deadlock's victim meanwhile.
func (x *running) readsVictim(a *access, met *versions.Version, views solve.Views) bool {
	if x.tx.Rules.Of(rules.VictimRow) != rules.VictimReturned || !x.covered || met.Row == nil {
		return false
	}
	w := met.Txn
	if w == nil || w == x.tx || w.Ended == 0 || w.Commit != 0 {
		return false
	}
	ok, err := x.matches(a, met, views)
	if err != nil || !ok || x.e.choices.Choose(2) == 0 {
		return false
	}
	x.e.of(x.tx).missed = true
	return true
}

// strayError returns the statement's own error if it comes from a row that the
// conditions on the index's columns exclude: the server may have gone by another
// index, or by none.
func (x *running) strayError(a *access, n *entry, views solve.Views) error {
	code := mvcc.ErrCode(x.st)
	if code == 0 && !x.e.EveryAnswer || x.due || code == mvcc.ErrRecordChanged {
		return nil
	}
	ver := x.e.committed(n.c, x.tx)
	if ver == nil || ver.Row == nil {
		return nil
	}
	_, err := x.matches(a, ver, views)
	var e *solve.SQLError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		if x.open = mvcc.StrayOrNot; e.Code != code {
			return nil
		}
	case code == 0:
		return nil // it would be asked for what the answer does not need
	}
	return err
}

// mustLock reports whether the row of an entry is surely needed, whatever the
// plan: another transaction wrote it, and its newest or its last committed
// version matches and is what the entry stands for.
func (x *running) mustLock(a *access, n *entry, views solve.Views) bool {
	if x.e.writer(n.c, x.tx) == nil {
		return false
	}
	for _, v := range []*versions.Version{n.c.Last(), x.e.committed(n.c, x.tx)} {
		if v == nil || v.Row == nil || a.key != nil && !versions.EqualIn(a.key, v.Row, n.row) {
			continue
		}
		if ok, err := x.matches(a, v, views); ok && err == nil {
			return true
		}
	}
	return false
}

// judge decides whether a scan acts on an entry that it has reached; nil if not.
func (x *running) judge(a *access, n *entry, holder *versions.Txn, keeps bool, mode versions.Mode, waitedFor bool, judged map[int]bool, views solve.Views) (*hit, error) {
	e, tx := x.e, x.tx
	if len(n.c.Versions) == 0 {
		return nil, nil
	}
	ver := n.c.Last()
	if holder != nil && e.writer(n.c, tx) != nil {
		if ver = e.committed(n.c, tx); ver == nil {
			return nil, nil
		}
	}
	if ver.Row == nil || a.key != nil && !versions.EqualIn(a.key, ver.Row, n.row) {
		return nil, nil
	}
	if keeps && holder == nil && !a.other {
		x.locks(n.c, mode)
	}
	ok, err := x.matches(a, ver, views)
	if err != nil {
		return nil, err
	}
	if ok && e.loose && x.waited && !waitedFor && x.cameToMatch(a, ver, views) && e.choices.Choose(2) == 1 {
		// It did not match when the statement began.
		return nil, nil
	}
	if !ok {
		judged[ver.RowID] = true
		if waitedFor || keeps && holder == nil && a.other {
			e.uncertainLocks.Take(versions.Lock{Txn: tx, Row: n.c, Mode: mode})
		}
		return nil, nil
	}
	// LIMIT may end the scan before it.
	if err := x.recordChanged(n.c, stmt.Of(x.node).Limit == nil); err != nil {
		return nil, err
	}
	if holder == nil {
		x.locks(n.c, mode)
	}
	if judged[ver.RowID] && x.written(n.c) {
		return nil, nil
	}
	judged[ver.RowID] = true
	return &hit{n.c, ver.Row}, nil
}

// locks notes the lock on a record that the scan has met, which is not certain where it may
// have stopped before.
func (x *running) locks(c *versions.Chain, mode versions.Mode) {
	if x.mayStop {
		x.e.uncertainLocks.Take(versions.Lock{Txn: x.tx, Row: c, Mode: mode})
	} else {
		x.e.locks.Take(versions.Lock{Txn: x.tx, Row: c, Mode: mode})
	}
}

// matches tests the statement's condition on a row. Where a conversion fails, a
// write fails in strict mode, a read does not; a LIMIT is counted elsewhere.
func (x *running) matches(a *access, ver *versions.Version, views solve.Views) (bool, error) {
	if x.kind == stmt.Update || x.kind == stmt.Delete {
		if stmt.Of(x.node).Limit == nil {
			idx, err := x.e.Solver.Matches(x.node, a.t.Def, []solve.Row{ver.Row}, views)
			return len(idx) > 0, err
		}
		idx, err := x.e.Solver.Matches(x.e.Solver.Unlimited(x.node), a.t.Def, []solve.Row{ver.Row}, views)
		var e *solve.SQLError
		if errors.As(err, &e) {
			// Whether the row is evaluated before the limit is reached is the plan's affair.
			return false, &mvcc.Loss{Slug: "unsupported: error under ORDER BY or LIMIT"}
		}
		return len(idx) > 0, err
	}
	truth, _, err := x.e.Solver.Where(a.where, a.t.Def, ver.Row, views)
	return truth == sqlvalue.True, err
}

// inOrder reports whether an UPDATE has an ORDER BY.
func inOrder(n ast.StmtNode) bool {
	v := stmt.Of(n)
	return v.Kind == stmt.Update && v.Order != nil
}

// passes decides whether an UPDATE passes a row that another transaction has
// locked without waiting for it.
func (x *running) passes(a *access, c *versions.Chain, judged map[int]bool) (bool, error) {
	e, tx := x.e, x.tx
	var ver *versions.Version
	switch tx.Rules.Of(rules.LockedRow) {
	case rules.PassCommitted:
		ver = e.committed(c, nil)
		if ver != nil && ver.Txn == tx {
			return false, nil
		}
	case rules.PassUncommitted:
		if ver = x.versionDuringRollback(c); ver == nil {
			ver = c.Last()
		}
	default:
		return false, nil
	}
	if ver != nil {
		judged[ver.RowID] = true
	}
	if ver == nil || ver.Row == nil {
		if n := c.Last(); n != nil {
			judged[n.RowID] = true
		}
		return true, nil
	}
	ok, err := x.matches(a, ver, x.views(nil, nil))
	return err == nil && !ok, err
}
