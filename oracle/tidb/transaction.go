package tidb

import (
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// transaction is what TiDB keeps of a transaction beside its versions.
type transaction struct {
	// failedUpdate says that one of its UPDATEs failed; left holds the rows that the last one of
	// these, which was statement leftBy, had matched and left unchanged: the next statement locks them.
	failedUpdate bool
	left         []*versions.Chain
	leftBy       int
	// lookedUp is the entry of a secondary unique key, and the row, that this failed UPDATE had
	// looked up, and so locked; its row is nil if there was none.
	lookedUp forgottenLock
	// forgotten holds the locks that it takes for its own although it has given them
	// back, under the rule LocksForgotten.
	forgotten []forgottenLock
	// expected holds what COMMIT expects to be locked although it is not, under the
	// rule LocksExpected.
	expected []expectedLock
	// absent is what it takes to be absent, under the rule AbsentRemembered; absentAt, by
	// savepoint, what it goes back to. nil is nothing.
	absent   *absentCache
	absentAt map[string]*absentCache
}

// expectedLock is a row that a failed UPDATE had changed in the transaction's buffer
// before it failed. From the transaction's next write that succeeds, at since, COMMIT
// expects a lock on it, which nobody holds; 0 before.
type expectedLock struct {
	table *versions.Table
	row   *versions.Chain
	since history.Tick
}

// forgottenLock is a lock that a transaction has given back and still counts as its own:
// it does not ask for it again, others get it, and COMMIT fails because it is missing.
type forgottenLock struct {
	table *versions.Table
	row   *versions.Chain
	// key is the clustered key's tuple, which is what is locked where there is one; of a lock of another
	// key's entry, that entry's tuple.
	key string
	// entry is the key whose entry is locked instead of a row, else nil.
	entry *solve.Key
}

// of returns what is kept of a transaction.
func (r *engine) of(tx *versions.Txn) *transaction {
	t := r.transactions[tx]
	if t == nil {
		t = &transaction{}
		r.transactions[tx] = t
	}
	return t
}
