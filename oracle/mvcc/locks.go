package mvcc

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// MissesLock reports whether COMMIT, sent at a moment, finds a row gone on which it
// expects a lock: another transaction has deleted it since, or changed its key. It is
// so, too, where the transaction has inserted the key again, or has rolled back to a
// savepoint before the UPDATE. A transaction that has written nothing writes nothing
// at COMMIT either, unless a look-up has locked keys that no row has: whether it has, the
// answer tells, seen. Others take such a transaction for ended and pass its locks, too.
func (r *Replay) MissesLock(tx *versions.Txn, at history.Tick, seen bool) bool {
	return (len(tx.Writes) > 0 || seen) && slices.ContainsFunc(tx.Expected, func(e versions.ExpectedLock) bool {
		if e.Since == 0 {
			return false
		}
		for i := 1; i < len(e.Chain.Versions); i++ {
			was, is := &e.Chain.Versions[i-1], &e.Chain.Versions[i]
			if w := is.Txn; w == nil || w == tx || w.Commit <= e.Since || w.Commit >= at || was.Row == nil {
				continue
			}
			if is.Row == nil || r.Store.ClusteredKeyOf(e.Table, was.Row) != r.Store.ClusteredKeyOf(e.Table, is.Row) {
				return true
			}
		}
		return false
	})
}
