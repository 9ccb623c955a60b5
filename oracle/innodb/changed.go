package innodb

import (
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// isolatesSnapshots reports whether a transaction refuses to write rows that
// changed after its snapshot.
func (e *engine) isolatesSnapshots(tx *versions.Txn) bool {
	return tx.Rules.Of(rules.RecordChanged) != rules.Proceed
}

// changedError is error 1020 as a prediction; sure says that it is the only one.
type changedError struct{ sure bool }

func (changedError) Error() string { return "record has changed since last read" }

// recordChanged decides whether touching a record fails with error 1020: its
// newest version was committed after the snapshot. Where it is not certain that
// the record is touched (sure is false), the answer decides.
func (x *running) recordChanged(c *versions.Chain, sure bool) error {
	if !x.e.isolatesSnapshots(x.tx) {
		return nil
	}
	x.metChanged = x.metChanged || x.changedBelow(c)
	if !x.changedSince(c) {
		if mvcc.ErrCode(x.st) == mvcc.ErrRecordChanged && !x.due && x.writtenSince(c) {
			x.metChanged = true
			return changedError{false}
		}
		return nil
	}
	if x.excused() {
		sure = false
	}
	if sure || mvcc.ErrCode(x.st) == mvcc.ErrRecordChanged && !x.due {
		return changedError{sure}
	}
	return nil
}

// changedPerhaps is the answer of a statement that was refused for a record that it may have
// come to.
func changedPerhaps() *mvcc.Prediction {
	return &mvcc.Prediction{Matched: -1, Changed: -1, Err: mvcc.ErrRecordChanged, Open: mvcc.ChangedOrNot}
}

// excused reports whether an index covers the statement, so that it need not look at a
// row, where that excuses it from refusing one that changed.
func (x *running) excused() bool {
	return x.covered && x.tx.Rules.Of(rules.RecordChanged) == rules.RefuseUnlessCovered
}

// changedSince reports whether another transaction committed the newest version of a
// record that differs from the one before after the snapshot, and such records are
// refused. What an UPDATE to the values that a row has already leaves of it is what it
// was when it was last read, whoever did it.
// https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation
func (x *running) changedSince(c *versions.Chain) bool {
	i := len(c.Versions) - 1
	for ; i > 0; i-- {
		if is, was := c.Versions[i].Row, c.Versions[i-1].Row; is == nil || was == nil || !versions.EqualRows(is, was) {
			break
		}
	}
	return x.afterView(c, i)
}

// writtenSince is changedSince, but for versions that equal the one before.
func (x *running) writtenSince(c *versions.Chain) bool { return x.afterView(c, len(c.Versions)-1) }

// afterView reports whether another transaction committed a version of a record after
// the snapshot, where that is refused.
func (x *running) afterView(c *versions.Chain, i int) bool {
	snapshot := x.readView()
	if snapshot == 0 || !x.e.isolatesSnapshots(x.tx) || i < 0 {
		return false
	}
	w := c.Versions[i].Txn
	return w != nil && w != x.tx && w.Commit != 0 && w.Commit >= snapshot
}

// changedBelow reports whether another transaction committed, after the snapshot, any
// version of a record that differs from the one before, be it under one that is not
// committed: whether the statement waits for that one before it is refused, nobody
// promises.
func (x *running) changedBelow(c *versions.Chain) bool {
	for i := range c.Versions {
		if x.afterView(c, i) && !(i > 0 && c.Versions[i].Row != nil && c.Versions[i-1].Row != nil && versions.EqualRows(c.Versions[i].Row, c.Versions[i-1].Row)) {
			return true
		}
	}
	return false
}

// readView returns when the read view was opened that the transaction has, 0 if it
// has none: that of its snapshot, or of the statement's own subqueries.
func (x *running) readView() history.Tick {
	if x.tx.Snapshot == 0 && x.asked != nil {
		return x.asked.at
	}
	return x.tx.Snapshot
}

// lost reports whether a record that changed since the snapshot has to be
// refused although its newest version does not match: the row that the snapshot
// shows does, so that the statement would act on it. Which index it goes by must
// not matter; where it does, the record is met by those indexes only whose entry
// of it is as it was.
func (x *running) lost(a *access, c *versions.Chain, views solve.Views) bool {
	return x.changedSince(c) && x.actsOn(a, c, views)
}

// lostBelow is lost for a record whose newest version another transaction has not
// committed: a statement that neither waited for it nor was refused passed it unseen.
func (x *running) lostBelow(a *access, c *versions.Chain, views solve.Views) bool {
	return !x.due && !x.excused() && x.e.writer(c, x.tx) != nil && x.changedBelow(c) && x.actsOn(a, c, views)
}

// actsOn reports whether a statement would act on the row that the snapshot shows, by
// whatever index it is sure to meet it.
func (x *running) actsOn(a *access, c *versions.Chain, views solve.Views) bool {
	if stmt.Of(x.node).Limit != nil || mvcc.HasSubquery(x.node) {
		return false
	}
	was := versions.View{Tick: x.tx.Snapshot, Own: x.tx}.Version(c)
	if was == nil || was.Row == nil {
		return false
	}
	if x.tx.Rules.Of(rules.RecordGone) == rules.GoneUnseen && !x.keepsEntries(a.t, was.Row, c.Last().Row) {
		return false
	}
	ok, err := x.matches(a, was, views)
	return ok && err == nil
}

// keepsEntries reports whether no secondary index lost its entry of a row that
// changed.
func (x *running) keepsEntries(t *versions.Table, was, is solve.Row) bool {
	for i := range t.Def.Keys {
		if k := &t.Def.Keys[i]; k != t.Clustered && (is == nil || !versions.EqualIn(k, was, is)) {
			return false
		}
	}
	return true
}
