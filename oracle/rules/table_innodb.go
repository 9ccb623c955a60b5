package rules

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var (
	mysql   = []history.DBMS{history.MySQL}
	mariadb = []history.DBMS{history.MariaDB}

	ru   = []corpus.Level{corpus.ReadUncommitted}
	ser  = []corpus.Level{corpus.Serializable}
	weak = []corpus.Level{corpus.ReadUncommitted, corpus.ReadCommitted}
	// keeping holds the levels at which a transaction has a snapshot.
	keeping = []corpus.Level{corpus.RepeatableRead, corpus.Serializable}
	// committed holds the levels at which a SELECT that locks nothing has a view of
	// committed data; at SERIALIZABLE that is one outside of a transaction.
	committed = []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable}

	snapshotOn  = map[string]string{"innodb_snapshot_isolation": "ON"}
	snapshotOff = map[string]string{"innodb_snapshot_isolation": "OFF"}
	// snapshotUnknown is a server that has no such setting yet.
	snapshotUnknown = map[string]string{"innodb_snapshot_isolation": ""}
	rowBinlog       = map[string]string{"log_bin": "ON", "binlog_format": "ROW"}
	noBinlog        = map[string]string{"log_bin": "OFF"}
)

const (
	mysqlLocks      = "https://dev.mysql.com/doc/refman/en/innodb-locks-set.html"
	mysqlPushdown   = "https://dev.mysql.com/doc/refman/en/index-condition-pushdown-optimization.html"
	mysqlErrors     = "https://dev.mysql.com/doc/refman/en/innodb-error-handling.html"
	mysqlSetLevel   = "https://dev.mysql.com/doc/refman/en/set-transaction.html"
	mariadbLevels   = "https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/set-commands/set-transaction"
	mariadbSnapshot = "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation"
)

// innodbTable holds the rows for InnoDB: MySQL and MariaDB.
var innodbTable = []Rule{
	{Dim: ConsistentRead, Variant: Newest, Status: Promised,
		Scope: Scope{DBMS: innodb, Levels: ru}, Links: []string{mysqlLevels, mariadbLevels},
		Says: "a SELECT sees the newest version of each row, committed or not"},
	{Dim: ConsistentRead, Variant: Committed, Status: Promised,
		Scope: Scope{DBMS: innodb, Levels: rc}, Links: []string{mysqlLevels, mariadbLevels},
		Says: "a SELECT sees what was committed when it started, and its own transaction's writes"},
	{Dim: ConsistentRead, Variant: Snapshot, Status: Promised,
		Scope: Scope{DBMS: innodb, Levels: rr}, Links: []string{mysqlConsistent, mariadbLevels},
		Says: "a SELECT sees what was committed at the transaction's snapshot, and its own transaction's writes"},
	{Dim: ConsistentRead, Variant: SharedLock, Status: Promised,
		Scope: Scope{DBMS: innodb, Levels: ser}, Links: []string{mysqlLevels, mariadbLevels},
		Says: "a SELECT inside a transaction is a SELECT … FOR SHARE; alone it is a consistent read"},
	{Dim: SnapshotPoint, Variant: AtFirstRead, Status: Documented,
		Scope: Scope{DBMS: innodb}, Links: []string{mysqlConsistent},
		Says: "the snapshot is taken at the first consistent read, or by START TRANSACTION WITH CONSISTENT SNAPSHOT"},
	{Dim: SnapshotPoint, Variant: AtFirstStatement, Status: Documented,
		Scope: Scope{DBMS: mariadb, Levels: ser, Settings: snapshotOn},
		Links: []string{mariadbSnapshot, "https://jira.mariadb.org/browse/MDEV-39778"},
		Says:  "with snapshot isolation the snapshot of a SERIALIZABLE transaction is taken at its first statement that touches a table"},
	{Dim: CurrentRead, Variant: Cursor, Status: Documented,
		Scope: Scope{DBMS: innodb}, Links: []string{mysqlLocks, mysqlConsistent},
		Says: "a locking read or a write locks each row that it scans, and then tests the newest committed version of it"},
	{Dim: RecordChanged, Variant: Refuse, Status: Documented,
		Scope: Scope{DBMS: mariadb, Settings: snapshotOn}, Links: []string{mariadbSnapshot},
		Says: "with snapshot isolation a locking read or a write fails with error 1020 if a row that it locks was changed after the read view was opened (below REPEATABLE READ only a subquery of the same statement has opened one)"},

	{Dim: AfterDeadlock, Variant: NoTransaction, Status: Documented,
		Scope: Scope{DBMS: innodb}, Links: []string{mysqlErrors},
		Says: "a deadlock rolls the victim's whole transaction back; what its session sends next is outside of it"},

	{Name: "semi-consistent-read", Dim: LockedRow, Variant: PassCommitted, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: weak},
		Links: []string{"https://bugs.mysql.com/bug.php?id=104833", mysqlLevels},
		Says:  "an UPDATE skips a locked row if its last committed version does not match, and never looks at it again, even if that version is out of date by the time the UPDATE ends"},
	{Name: "semi-consistent-read", Dim: LockedRow, Variant: PassCommitted, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: weak, Settings: snapshotOff},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-26643", "https://jira.mariadb.org/browse/MDEV-34108", mariadbLevels},
		Says:  "an UPDATE skips a locked row if its last committed version does not match, and never looks at it again, even if that version is out of date by the time the UPDATE ends"},
	{Name: "semi-consistent-read", Dim: LockedRow, Variant: PassCommitted, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: weak, Settings: snapshotUnknown},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-26643", "https://jira.mariadb.org/browse/MDEV-34108", mariadbLevels},
		Says:  "an UPDATE skips a locked row if its last committed version does not match, and never looks at it again, even if that version is out of date by the time the UPDATE ends"},
	{Name: "semi-consistent-read-uncommitted", Dim: LockedRow, Variant: PassUncommitted, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: ru, Settings: snapshotOn},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-34108", "https://github.com/MariaDB/server/pull/3345"},
		Says:  "with snapshot isolation an UPDATE at READ UNCOMMITTED skips a locked row if its newest version, committed or not, does not match, and never looks at it again"},
	{Name: "moved-row", Dim: Resumption, Variant: ByKey, Status: Deviation,
		Scope: Scope{DBMS: innodb},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-27992", "https://bugs.mysql.com/bug.php?id=104833"},
		Says:  "a statement that waited goes on from the key where it stopped, so that it misses a row if another transaction has meanwhile changed its key to one that the scan has passed; at SERIALIZABLE no serial order gives its answer then"},
	{Name: "no-op-update-unseen", Dim: NoOpUpdate, Variant: NoOpInvisible, Status: Deviation,
		Scope: Scope{DBMS: mariadb},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-26642"},
		Says:  "an UPDATE that finds its new values already in a row, written by another transaction, writes no version of its own, so that the snapshot goes on showing the row as it was before"},
	{Name: "no-op-update-unseen", Dim: NoOpUpdate, Variant: NoOpInvisible, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: rr, Settings: rowBinlog},
		Links: []string{"https://bugs.mysql.com/bug.php?id=104986", "https://bugs.mysql.com/bug.php?id=100328"},
		Says:  "with the row-based binary log an UPDATE that finds its new values already in a row, written by another transaction, writes no version of its own, so that the snapshot goes on showing the row as it was before"},
	{Name: "no-op-update-unseen-if-read", Dim: NoOpUpdate, Variant: NoOpInvisibleIfRead, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: rr, Settings: noBinlog},
		Links: []string{"https://bugs.mysql.com/bug.php?id=100328"},
		Says:  "an UPDATE that changes no value of a row writes no version of it if it reads every column that it assigns"},
	{Name: "no-op-upsert-unseen", Dim: NoOpUpsert, Variant: NoOpInvisible, Status: Deviation,
		Scope: Scope{DBMS: innodb},
		Links: []string{"https://bugs.mysql.com/bug.php?id=116067", "https://jira.mariadb.org/browse/MDEV-26642"},
		Says:  "an INSERT … ON DUPLICATE KEY UPDATE that finds its new values already in the row, written by another transaction, writes no version of its own, so that the snapshot goes on showing the row as it was before"},
	{Name: "key-change-leaves-old-row", Dim: KeyChange, Variant: DeleteInsert, Status: Deviation,
		Scope: Scope{DBMS: innodb, Levels: rr},
		Links: []string{"https://bugs.mysql.com/bug.php?id=113228", "https://jira.mariadb.org/browse/MDEV-32898"},
		Says:  "an UPDATE of the primary key deletes a row and inserts another, so that a snapshot shows the old one beside the new one"},
	{Name: "unique-lookup-ends-at-first-row", Dim: UniqueLookup, Variant: EndsAtFirst, Status: Deviation,
		Scope: Scope{DBMS: innodb, Levels: rr}, Links: []string{mysqlConsistent},
		Says: "a SELECT by a whole unique key returns one row, although its view shows two of that key, one that was deleted after the snapshot and one that the transaction itself wrote"},
	{Name: "index-condition-judges-unseen-rows", Dim: FilterScope, Variant: UnseenRows, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: committed}, Links: []string{mysqlConsistent, mysqlPushdown},
		Says: "a SELECT by an index tests its condition on the index's entries before it checks whether it may see their rows, so that it fails with an error caused by a row that another transaction has inserted and not committed or, while any other transaction that has written is open on the server, by a deleted row"},
	{Name: "index-condition-judges-unseen-rows", Dim: FilterScope, Variant: UnseenRows, Status: Deviation,
		Scope: Scope{DBMS: mariadb}, Links: []string{mysqlConsistent, mysqlPushdown},
		Says: "a SELECT by an index tests its condition on the index's entries, those of deleted rows too, before it checks whether it may see their rows, so that it fails with an error caused by a row that it does not see"},
	{Name: "record-changed-unseen", Dim: RecordChanged, Variant: RefuseUnlessCovered, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: keeping, Settings: snapshotOn},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-40182"},
		Says:  "with snapshot isolation a share locking read that an index alone answers does not notice that a row changed after the snapshot"},
	{Name: "record-gone-unseen", Dim: RecordGone, Variant: GoneUnseen, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: keeping, Settings: snapshotOn},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-40092"},
		Says:  "with snapshot isolation a locking read or a write by a secondary index skips, without error 1020, a row of its snapshot that was deleted since or whose columns in that index were changed"},
	{Name: "deadlock-leaves-transaction-open", Dim: AfterDeadlock, Variant: AnotherTransaction, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Before: []string{"10.6.23", "10.11.14", "11.4.8", "11.8.3"}},
		Links: []string{"https://github.com/MariaDB/server/pull/4122", "https://jira.mariadb.org/browse/MDEV-36959"},
		Says:  "a session whose transaction was a deadlock's victim begins another one with its next statement, although no BEGIN was sent"},
	{Name: "row-amid-key-change-not-found", Dim: RowAmidKeyChange, Variant: NotFound, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: ru},
		Links: []string{mariadbLevels, mysqlConsistent},
		Says:  "a SELECT at READ UNCOMMITTED that looks rows up in several indexes fails with error 1032 while another transaction's UPDATE of the primary key waits: it has deleted the old record and not yet inserted the new one"},
	{Name: "read-ends-at-row-amid-key-change", Dim: RowAmidKeyChange, Variant: EndsThere, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: ru},
		Links: []string{mysqlLevels, "https://dev.mysql.com/doc/refman/en/index-merge-optimization.html"},
		Says:  "a SELECT at READ UNCOMMITTED that merges several indexes stops, as if there were no more rows, at a row whose primary key another transaction's UPDATE is changing: the UPDATE has deleted the old record and waits to insert the new one; rows behind it that nobody touches are lost"},
	{Name: "nowait-waits-in-index-merge", Dim: RefusedWait, Variant: WaitsInMerge, Status: Deviation,
		Scope: Scope{DBMS: mysql},
		Links: []string{"https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked", "https://dev.mysql.com/doc/refman/en/index-merge-optimization.html"},
		Says:  "a locking read that merges several indexes waits for a row lock in spite of NOWAIT"},
	{Name: "victims-row-is-read", Dim: VictimRow, Variant: VictimReturned, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: keeping, Settings: snapshotUnknown},
		Links: []string{mariadbLevels, "https://dev.mysql.com/doc/refman/en/innodb-deadlock-detection.html"},
		Says:  "a share locking read that an index answers returns a row that another transaction has inserted and that is just being rolled back, because waiting for it would close the cycle of a deadlock"},
	{Name: "locking-read-asks-snapshot", Dim: SubqueryView, Variant: SnapshotSubquery, Status: Deviation,
		Scope: Scope{DBMS: innodb, Levels: ser},
		Links: []string{mysqlLevels, "https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html"},
		Says:  "a locking read that is a transaction of its own locks the newest rows of its table, but answers its subqueries from a snapshot, so that no serial order gives its answer"},
	{Name: "late-level", Dim: LateLevel, Variant: AfterExplicitEnd, Status: Deviation,
		Scope: Scope{DBMS: mysql},
		Links: []string{"https://bugs.mysql.com/bug.php?id=117835", mysqlSetLevel},
		Says:  "an isolation level that was set inside a transaction does not yet hold for the next one if its BEGIN ended the first"},
	{Name: "late-level-after-error", Dim: LateLevel, Variant: AfterOwnEnd, Status: Deviation,
		Scope: Scope{DBMS: mariadb},
		Links: []string{"https://bugs.mysql.com/bug.php?id=117835", mariadbLevels},
		Says:  "an isolation level that was set inside a transaction which an error ended does not yet hold for the next transaction"},
	{Name: "locking-read-asks-snapshot", Dim: SubqueryView, Variant: SnapshotSubquery, Status: Deviation,
		Scope: Scope{DBMS: innodb, Levels: ser},
		Links: []string{mysqlLevels, "https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html"},
		Says:  "a locking read that is a transaction of its own locks the newest rows of its table, but answers its subqueries from a snapshot, so that no serial order gives its answer"},
	{Name: "late-level", Dim: LateLevel, Variant: AfterExplicitEnd, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Settings: snapshotUnknown},
		Links: []string{"https://bugs.mysql.com/bug.php?id=117835"},
		Says:  "an isolation level that was set inside a transaction does not yet hold for the next one if its BEGIN ended the first"},
}

func init() { Table = append(Table, innodbTable...) }
