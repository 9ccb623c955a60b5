package tidb

import (
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
	var met []versions.ExpectedLock
	for k, c := range chains {
		if !changed[k] {
			continue
		}
		if len(r.duplicates(t, now, news[k], c)) > 0 {
			tx.Expected = append(tx.Expected, met...)
			return
		}
		r.Store.Update(t, c, news[k], tx)
		met = append(met, versions.ExpectedLock{Table: t, Chain: c})
	}
}

// wrote marks the end of a write that succeeded.
func wrote(tx *versions.Txn, at history.Tick) {
	for i := range tx.Expected {
		if e := &tx.Expected[i]; e.Since == 0 {
			e.Since = at
		}
	}
}
