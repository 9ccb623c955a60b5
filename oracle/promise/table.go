package promise

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Promise is what a server promises of one isolation level.
type Promise struct {
	// Serial: the committed transactions have a serial order. The fields below say what the
	// statements see where not all transactions of a case are so.
	Serial bool
	// Plain is what a plain SELECT sees, beside its transaction's own writes.
	Plain View
	// SnapshotAtBegin: BEGIN takes the snapshot, and not the first plain SELECT. SnapshotAtFirst: the first statement
	// takes it that reads or writes a table, whatever it then waits for.
	SnapshotAtBegin, SnapshotAtFirst bool
	// Rechecked: a write or a locking read finds its rows in a snapshot of its own, and takes those for which it
	// waited in their newest version, if its condition still holds.
	Rechecked bool
	// Writes and locking reads see the newest committed rows. FirstUpdaterWins: they fail with
	// error 1020 if they come to a row that was changed behind the snapshot.
	FirstUpdaterWins bool
	// Isolated: writes and locking reads see the snapshot, too, and of two transactions that overlap
	// in time and write the same row one fails. Merged: only if they give the same column of it other values,
	// or one removes the row and the other does not.
	Isolated, Merged bool
	// Says is the manual's sentence, Link where it stands.
	Says, Link string
}

// View is what a plain SELECT sees.
type View string

// The views.
const (
	Uncommitted View = "uncommitted" // the newest rows, committed or not
	Statement   View = "statement"   // what was committed when it began
	Snapshot    View = "snapshot"    // what was committed when its transaction's snapshot was taken
	Locking     View = "locking"     // what SELECT ... FOR SHARE sees
)

const (
	mysqlLevels     = "https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html"
	mysqlConsistent = "https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html"
	mariadbSnapshot = "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation"
	postgresLevels  = "https://www.postgresql.org/docs/current/transaction-iso.html"
	tidbLevels      = "https://docs.pingcap.com/tidb/stable/transaction-isolation-levels"
)

var innodb = map[corpus.Level]Promise{
	corpus.ReadUncommitted: {Plain: Uncommitted, Link: mysqlLevels,
		Says: "a plain SELECT sees the newest version of each row, committed or not"},
	corpus.ReadCommitted: {Plain: Statement, Link: mysqlConsistent,
		Says: "each consistent read within a transaction sets and reads its own fresh snapshot"},
	corpus.RepeatableRead: {Plain: Snapshot, Link: mysqlConsistent,
		Says: "all consistent reads within the same transaction read the snapshot established by the first such read in that transaction"},
	corpus.Serializable: {Serial: true, Plain: Locking, Link: mysqlLevels,
		Says: "a plain SELECT in a transaction reads and locks as SELECT ... FOR SHARE does, so that there is a serial order"},
}

// committed is PostgreSQL's READ COMMITTED, which its READ UNCOMMITTED is, too.
var committed = Promise{
	Plain: Statement, Rechecked: true, Link: postgresLevels + "#XACT-READ-COMMITTED",
	Says: "a query sees only data committed before the query began; a write or locking read finds the rows that were committed " +
		"when it began, and those for which it waited in their newest version, if they still match",
}

// promises holds, by DBMS, what each level promises.
var promises = map[history.DBMS]map[corpus.Level]Promise{
	history.MySQL:   innodb,
	history.MariaDB: innodb,
	history.TiDB: {
		corpus.ReadCommitted: {Plain: Statement, Link: tidbLevels,
			Says: "a plain SELECT sees what was committed when it began"},
		corpus.RepeatableRead: {Plain: Snapshot, SnapshotAtBegin: true, Link: tidbLevels,
			Says: "a transaction only sees data committed before the transaction begins"},
	},
	history.PostgreSQL: {
		corpus.ReadUncommitted: committed,
		corpus.ReadCommitted:   committed,
		corpus.RepeatableRead: {Plain: Snapshot, Isolated: true, SnapshotAtFirst: true, Link: postgresLevels + "#XACT-REPEATABLE-READ",
			Says: "a transaction sees a snapshot as of the start of its first statement that is no transaction control, and its own " +
				"writes; it cannot change or lock rows that others changed after it began"},
		corpus.Serializable: {Serial: true, Plain: Snapshot, Isolated: true, SnapshotAtFirst: true, Link: postgresLevels + "#XACT-SERIALIZABLE",
			Says: "the committed transactions give what they give one after the other in some order"},
	},
}

// firstUpdaterWins is MariaDB's REPEATABLE READ under innodb_snapshot_isolation.
var firstUpdaterWins = Promise{
	Plain: Snapshot, FirstUpdaterWins: true, Link: mariadbSnapshot,
	Says: "a plain SELECT sees the snapshot, and a locking read or a write of a row that was changed after it fails with error 1020",
}

// Of returns what a server promises at a level; ok is false where neither the table nor the user says.
func Of(s history.Server, l corpus.Level) (p Promise, ok bool) {
	if s.Declared != nil {
		p, ok = declared[s.Declared.Levels[l]]
		return p, ok
	}
	if s.DBMS == history.TiDB && s.Settings["tidb_txn_mode"] == "optimistic" {
		return Promise{}, false
	}
	if p, ok = promises[s.DBMS][l]; !ok {
		return p, false
	}
	if s.DBMS == history.MariaDB && s.Settings["innodb_snapshot_isolation"] == "ON" && l == corpus.RepeatableRead {
		p = firstUpdaterWins
	}
	return p, true
}
