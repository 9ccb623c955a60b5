package rules

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const (
	postgresReadCommitted = "https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED"
	postgresSerializable  = "https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE"
	postgresForeignChecks = "https://www.postgresql.org/message-id/AC19E024-578A-4E1A-87DC-BF068094785A%40phlo.org"
	// It says of foreign keys that the scans which check them take no predicate locks.
	postgresSSI   = "https://github.com/postgres/postgres/blob/master/src/backend/storage/lmgr/README-SSI"
	postgresLocks = "https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS"
)

// postgresTable holds the rows for PostgreSQL at READ COMMITTED, which READ UNCOMMITTED is
// there, too. The row of CurrentRead names no level, for it chooses the engine of a server at
// all of them; the engine refuses the levels that it does not know.
var postgresTable = []Rule{
	{Dim: ConsistentRead, Variant: Committed, Status: Promised,
		Scope: Scope{DBMS: postgres, Levels: []corpus.Level{corpus.ReadUncommitted, corpus.ReadCommitted}}, Links: []string{postgresReadCommitted},
		Says: "a plain SELECT sees what was committed when it started, and what its own transaction wrote"},
	{Dim: CurrentRead, Variant: Recheck, Status: Promised,
		Scope: Scope{DBMS: postgres}, Links: []string{postgresReadCommitted, postgresLocks},
		Says: "at READ COMMITTED an UPDATE, a DELETE or a locking SELECT finds its rows as a plain SELECT does. For one that another transaction has changed or locked it waits; if that transaction commits a change, the condition is evaluated again on the newest version of the row, which is used if it still matches. Nothing else is read again, so rows that match only now are not found"},
	{Dim: KeyLookup, Variant: KeysInOrder, Status: Promised,
		Scope: Scope{DBMS: postgres, Levels: []corpus.Level{corpus.Serializable}}, Links: []string{postgresSerializable},
		Says: "the committed transactions give what they give one after the other in some order, with what they do by foreign keys and by unique keys"},

	{Name: "serializable-forgets-key-lookups", Dim: KeyLookup, Variant: KeysNewest, Status: Deviation,
		Scope: Scope{DBMS: postgres, Levels: []corpus.Level{corpus.Serializable}}, Links: []string{postgresSerializable, postgresSSI, postgresForeignChecks},
		Says: "at SERIALIZABLE, too, foreign keys are checked, cascades carried out and keys looked up by ON CONFLICT on the newest rows, and that counts as no read. So transactions may commit that have no order, if they depend on each other by such a look-up; what they read themselves has one"},
}

var postgres = []history.DBMS{history.PostgreSQL}

func init() { Table = append(Table, postgresTable...) }
