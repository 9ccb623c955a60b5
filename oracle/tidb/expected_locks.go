package tidb

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// expectLocks notes the rows that an UPDATE had changed when it failed as a duplicate
// of one of the transaction's own rows. A duplicate of a stored row is found only
// when all are locked.
func (r *engine) expectLocks(tx *versions.Txn, t *versions.Table, chains []*versions.Chain, news []solve.Row, changed []bool) {
	if tx.Rules.Of(rules.FailedLocks) != rules.LocksExpected {
		return
	}
	mark, now := len(tx.Writes), versions.View{Tick: versions.Latest, Own: tx}
	defer r.Store.Undo(tx, mark)
	r.ownKeysOnly = true
	defer func() { r.ownKeysOnly = false }()
	var met []expectedLock
	for k, c := range chains {
		if !changed[k] {
			continue
		}
		if len(r.duplicates(t, now, news[k], c)) > 0 {
			kept := r.of(tx)
			kept.expected = append(kept.expected, met...)
			return
		}
		r.Store.Update(t, c, news[k], tx)
		met = append(met, expectedLock{table: t, row: c})
	}
}

// wrote marks the end of a write that succeeded.
func (t *transaction) wrote(at history.Tick) {
	for i := range t.expected {
		if e := &t.expected[i]; e.since == 0 {
			e.since = at
		}
	}
}

// missesLock reports whether COMMIT, sent at a moment, finds a row gone on which it
// expects a lock: another transaction has deleted it since, or changed its key. It is
// so, too, where the transaction has inserted the key again, or has rolled back to a
// savepoint before the UPDATE. A transaction that has written nothing writes nothing
// at COMMIT either, unless a look-up has locked keys that no row has: whether it has, the
// answer tells, seen. Others take such a transaction for ended and pass its locks, too.
func (r *engine) missesLock(tx *versions.Txn, at history.Tick, seen bool) bool {
	return (len(tx.Writes) > 0 || seen) && slices.ContainsFunc(r.of(tx).expected, func(e expectedLock) bool {
		if e.since == 0 {
			return false
		}
		for i := 1; i < len(e.row.Versions); i++ {
			was, is := &e.row.Versions[i-1], &e.row.Versions[i]
			if w := is.Txn; w == nil || w == tx || w.Commit <= e.since || w.Commit >= at || was.Row == nil {
				continue
			}
			if is.Row == nil || r.Store.ClusteredKeyOf(e.table, was.Row) != r.Store.ClusteredKeyOf(e.table, is.Row) {
				return true
			}
		}
		return false
	})
}
