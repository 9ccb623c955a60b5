package innodb

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// transaction is what InnoDB keeps of a transaction beside its versions and its locks on rows.
type transaction struct {
	// gaveUp says that one of its statements ended with a lock time-out or because
	// it was not to wait: what that had locked before, it holds.
	gaveUp bool
	// missed says that one of its statements missed what another transaction
	// committed before, or read what one rolled back, under a deviation that lets it.
	missed bool
	// entered says that InnoDB is in it since BEGIN: WITH CONSISTENT SNAPSHOT does that
	// at every level, also where it takes no snapshot.
	entered bool
	// predicates holds what its statements surely hold locked, whatever their plans.
	predicates []*predicateLock
	// idleAt holds the savepoints, by name, at which it had touched no table, and InnoDB was
	// not in it.
	idleAt map[string]bool
}

// predicateLock is what a successful statement surely holds locked until its
// transaction ends: the rows that match a condition.
type predicateLock struct {
	table *versions.Table
	kind  stmt.Kind
	where ast.ExprNode
	// rows holds the records that a locking read returned, or that were written and undone.
	rows []*versions.Chain
	// undone says that ROLLBACK TO SAVEPOINT took back what was written there.
	undone bool
	// columns holds the columns that the statement returns or tests; nil for all.
	columns map[int]bool
	// gaps says that rows cannot come to match it either (RR and SERIALIZABLE).
	gaps bool
}

// of returns what is kept of a transaction.
func (e *engine) of(tx *versions.Txn) *transaction {
	t := e.transactions[tx]
	if t == nil {
		t = &transaction{}
		e.transactions[tx] = t
	}
	return t
}

// holdsMatching notes that the statement's transaction has what matches a condition locked.
func (x *running) holdsMatching(l *predicateLock) {
	t := x.e.of(x.tx)
	t.predicates = append(t.predicates, l)
}

// mode is the mode in which a statement locks the rows that it finds.
func (x *running) mode() versions.Mode {
	if x.kind == stmt.SelectForShare {
		return versions.Share
	}
	return versions.Exclusive
}
