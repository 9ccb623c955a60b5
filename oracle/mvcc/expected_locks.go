package mvcc

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// expectedLock is a row that a failed UPDATE had changed in the transaction's buffer
// before it failed. From the transaction's next write that succeeds, at since, COMMIT
// expects a lock on it, which nobody holds; 0 before.
type expectedLock struct {
	t     *Table
	c     *Chain
	since history.Tick
}

// expectLocks notes the rows that an UPDATE had changed when it failed as a duplicate
// of one of the transaction's own rows. A duplicate of a stored row is found only
// when all are locked.
func (r *Replay) expectLocks(tx *Txn, t *Table, chains []*Chain, news []solve.Row, changed []bool) {
	if tx.Rules.of(rules.FailedLocks) != rules.LocksExpected {
		return
	}
	mark, now := len(tx.writes), View{Tick: latest, Own: tx}
	defer r.store.undo(tx, mark)
	r.ownKeysOnly = true
	defer func() { r.ownKeysOnly = false }()
	var met []expectedLock
	for k, c := range chains {
		if !changed[k] {
			continue
		}
		if len(r.duplicates(t, now, news[k], c)) > 0 {
			tx.expected = append(tx.expected, met...)
			return
		}
		r.store.Update(t, c, news[k], tx)
		met = append(met, expectedLock{t: t, c: c})
	}
}

// wrote marks the end of a write that succeeded.
func (tx *Txn) wrote(at history.Tick) {
	for i := range tx.expected {
		if e := &tx.expected[i]; e.since == 0 {
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
func (r *Replay) missesLock(tx *Txn, at history.Tick, seen bool) bool {
	return (len(tx.writes) > 0 || seen) && slices.ContainsFunc(tx.expected, func(e expectedLock) bool {
		if e.since == 0 {
			return false
		}
		for i := 1; i < len(e.c.Versions); i++ {
			was, is := &e.c.Versions[i-1], &e.c.Versions[i]
			if w := is.Txn; w == nil || w == tx || w.Commit <= e.since || w.Commit >= at || was.Row == nil {
				continue
			}
			if is.Row == nil || r.store.clusteredKeyOf(e.t, was.Row) != r.store.clusteredKeyOf(e.t, is.Row) {
				return true
			}
		}
		return false
	})
}
