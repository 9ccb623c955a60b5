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
		Says: "a plain SELECT sees the newest version of each row, committed or not"},
	{Dim: ConsistentRead, Variant: Committed, Status: Promised,
		Scope: Scope{DBMS: innodb, Levels: rc}, Links: []string{mysqlLevels, mariadbLevels},
		Says: "a plain SELECT sees what was committed when it started, and what its own transaction wrote"},
	{Dim: ConsistentRead, Variant: Snapshot, Status: Promised,
		Scope: Scope{DBMS: innodb, Levels: rr}, Links: []string{mysqlConsistent, mariadbLevels},
		Says: "a plain SELECT sees what was committed when the transaction's snapshot was taken, and what its own transaction wrote"},
	{Dim: ConsistentRead, Variant: SharedLock, Status: Promised,
		Scope: Scope{DBMS: innodb, Levels: ser}, Links: []string{mysqlLevels, mariadbLevels},
		Says: "inside a transaction a plain SELECT reads and locks as SELECT … FOR SHARE does; in autocommit mode it locks nothing and sees what was committed when it started"},
	{Dim: SnapshotPoint, Variant: AtFirstRead, Status: Documented,
		Scope: Scope{DBMS: innodb}, Links: []string{mysqlConsistent},
		Says: "the snapshot is taken by the transaction's first consistent read (a SELECT that locks nothing), or by START TRANSACTION WITH CONSISTENT SNAPSHOT"},
	{Dim: SnapshotPoint, Variant: AtFirstStatement, Status: Documented,
		Scope: Scope{DBMS: mariadb, Levels: ser, Settings: snapshotOn},
		Links: []string{mariadbSnapshot, "https://jira.mariadb.org/browse/MDEV-39778"},
		Says:  "with snapshot isolation the snapshot of a SERIALIZABLE transaction is taken by its first statement that touches a table, or by START TRANSACTION WITH CONSISTENT SNAPSHOT"},
	{Dim: CurrentRead, Variant: Cursor, Status: Documented,
		Scope: Scope{DBMS: innodb}, Links: []string{mysqlLocks, mysqlConsistent},
		Says: "a locking read or a write locks each row that it scans, and then tests its condition on the row's newest committed version"},
	{Dim: RefusedWait, Variant: FailsAtOnce, Status: Documented,
		Scope: Scope{DBMS: innodb}, Links: []string{"https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked", "https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/select-skip-locked"},
		Says: "a locking read with NOWAIT or SKIP LOCKED never waits for a row lock: where it would have to, one with NOWAIT fails at once, and one with SKIP LOCKED leaves the row out"},
	{Dim: RecordChanged, Variant: Refuse, Status: Documented,
		Scope: Scope{DBMS: mariadb, Settings: snapshotOn}, Links: []string{mariadbSnapshot},
		Says: "with snapshot isolation a locking read or a write fails with error 1020 if a row that it locks was changed after the snapshot was taken. At READ UNCOMMITTED and READ COMMITTED only a statement with a subquery can fail in this way: its subquery takes a snapshot when the statement begins"},

	{Dim: AfterDeadlock, Variant: NoTransaction, Status: Documented,
		Scope: Scope{DBMS: innodb}, Links: []string{mysqlErrors},
		Says: "a deadlock rolls back the whole transaction of its victim; after that the session is in no transaction"},

	{Name: "semi-consistent-read", Dim: LockedRow, Variant: PassCommitted, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: weak},
		Links: []string{"https://bugs.mysql.com/bug.php?id=104833", mysqlLevels},
		Says:  "an UPDATE does not wait for a row that another transaction has locked if the last committed version of the row does not match its condition. It skips the row for good, even if the other transaction makes it match and commits before the UPDATE ends"},
	{Name: "semi-consistent-read", Dim: LockedRow, Variant: PassCommitted, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: weak, Settings: snapshotOff},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-26643", "https://jira.mariadb.org/browse/MDEV-34108", mariadbLevels},
		Says:  "an UPDATE does not wait for a row that another transaction has locked if the last committed version of the row does not match its condition. It skips the row for good, even if the other transaction makes it match and commits before the UPDATE ends"},
	{Name: "semi-consistent-read", Dim: LockedRow, Variant: PassCommitted, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: weak, Settings: snapshotUnknown},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-26643", "https://jira.mariadb.org/browse/MDEV-34108", mariadbLevels},
		Says:  "an UPDATE does not wait for a row that another transaction has locked if the last committed version of the row does not match its condition. It skips the row for good, even if the other transaction makes it match and commits before the UPDATE ends"},
	{Name: "semi-consistent-read-uncommitted", Dim: LockedRow, Variant: PassUncommitted, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: ru, Settings: snapshotOn},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-34108", "https://github.com/MariaDB/server/pull/3345"},
		Says:  "with snapshot isolation an UPDATE at READ UNCOMMITTED does not wait for a row that another transaction has locked if the newest version of the row, committed or not, does not match its condition. It skips the row for good, even if that version is rolled back"},
	{Name: "moved-row", Dim: Resumption, Variant: ByKey, Status: Deviation,
		Scope: Scope{DBMS: innodb},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-27992", "https://bugs.mysql.com/bug.php?id=104833"},
		Says:  "a statement that waited for a row continues after the key where it stopped. It misses a row whose key another transaction has meanwhile changed to one that the scan has already passed; at SERIALIZABLE no serial order gives such an answer"},
	{Name: "no-op-update-unseen", Dim: NoOpUpdate, Variant: NoOpInvisible, Status: Deviation,
		Scope: Scope{DBMS: mariadb},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-26642"},
		Says:  "an UPDATE that assigns the values that a row already has writes no new version of the row. If another transaction has changed the row since the snapshot, later SELECTs of the same transaction still show the version in the snapshot (with snapshot isolation the UPDATE nearly always fails with error 1020 instead)"},
	{Name: "no-op-update-unseen", Dim: NoOpUpdate, Variant: NoOpInvisible, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: rr, Settings: rowBinlog},
		Links: []string{"https://bugs.mysql.com/bug.php?id=104986", "https://bugs.mysql.com/bug.php?id=100328"},
		Says:  "with the row-based binary log an UPDATE that assigns the values that a row already has writes no new version of the row. If another transaction has changed the row since the snapshot, later SELECTs of the same transaction still show the version in the snapshot"},
	{Name: "no-op-update-unseen-if-read", Dim: NoOpUpdate, Variant: NoOpInvisibleIfRead, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: rr, Settings: noBinlog},
		Links: []string{"https://bugs.mysql.com/bug.php?id=100328"},
		Says:  "without the binary log an UPDATE that assigns the values that a row already has writes no new version of the row, provided that it also reads each column that it assigns (in WHERE, or in an expression as in `SET b = b`) or that the column belongs to the primary key. If another transaction has changed the row since the snapshot, later SELECTs of the same transaction still show the version in the snapshot"},
	{Name: "no-op-upsert-unseen", Dim: NoOpUpsert, Variant: NoOpInvisible, Status: Deviation,
		Scope: Scope{DBMS: innodb},
		Links: []string{"https://bugs.mysql.com/bug.php?id=116067", "https://jira.mariadb.org/browse/MDEV-26642"},
		Says:  "an INSERT … ON DUPLICATE KEY UPDATE that assigns the values that the row already has writes no new version of it. If another transaction has changed the row since the snapshot, later SELECTs of the same transaction still show the version in the snapshot"},
	{Name: "rollback-to-renews-transaction", Dim: IdleSavepoint, Variant: RenewsTransaction, Status: Deviation,
		Scope: Scope{DBMS: innodb},
		Links: []string{mysqlSavepoint, "https://bugs.mysql.com/bug.php?id=95049"},
		Says:  "ROLLBACK TO a savepoint should not end the transaction, and should keep its locks. If the transaction had touched no table when the savepoint was set, it loses its locks and its snapshot, and its next SELECT takes a new one"},
	{Name: "key-change-leaves-old-row", Dim: KeyChange, Variant: DeleteInsert, Status: Deviation,
		Scope: Scope{DBMS: innodb, Levels: rr},
		Links: []string{"https://bugs.mysql.com/bug.php?id=113228", "https://jira.mariadb.org/browse/MDEV-32898"},
		Says:  "an UPDATE of the primary key deletes the row and inserts a new one. If one transaction changes the key, and another whose snapshot is older then updates or deletes the row, the SELECTs of the latter show it as it is in the snapshot, and, if it was updated, as it is now, too"},
	{Name: "unique-lookup-ends-at-first-row", Dim: UniqueLookup, Variant: EndsAtFirst, Status: Deviation,
		Scope: Scope{DBMS: innodb, Levels: rr}, Links: []string{mysqlConsistent},
		Says: "a SELECT that gives a value for every column of a unique key returns one row where it should return two: the row in its snapshot, which another transaction has deleted since, and the row with the same key that its own transaction has written"},
	{Name: "index-condition-judges-unseen-rows", Dim: FilterScope, Variant: UnseenRows, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: committed}, Links: []string{mysqlConsistent, mysqlPushdown},
		Says: "a SELECT that uses an index evaluates its condition on the entries of the index before it checks whether it may see their rows. So a row that it must not see can make it fail with an error: one that another transaction has inserted and not committed, or one that is deleted. On MySQL a deleted row does so only if its own transaction deleted it after its snapshot was taken, or while another transaction that has written something is open on the server"},
	{Name: "index-condition-judges-unseen-rows", Dim: FilterScope, Variant: UnseenRows, Status: Deviation,
		Scope: Scope{DBMS: mariadb}, Links: []string{mysqlConsistent, mysqlPushdown},
		Says: "a SELECT that uses an index evaluates its condition on the entries of the index, even those of deleted rows, before it checks whether it may see their rows. So a row that it must not see can make it fail with an error"},
	{Name: "record-changed-unseen", Dim: RecordChanged, Variant: RefuseUnlessCovered, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: keeping, Settings: snapshotOn},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-40182"},
		Says:  "with snapshot isolation a share locking read (SELECT … LOCK IN SHARE MODE; at SERIALIZABLE a plain SELECT, too) that needs only the columns of an index does not notice that a row was changed or deleted after the snapshot: it returns the new version, or leaves the deleted row out, instead of error 1020"},
	{Name: "record-gone-unseen", Dim: RecordGone, Variant: GoneUnseen, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: keeping, Settings: snapshotOn},
		Links: []string{"https://jira.mariadb.org/browse/MDEV-40092"},
		Says:  "with snapshot isolation a locking read or a write should fail with error 1020 if another transaction has deleted or changed a row since the snapshot was taken. If it finds its rows by a secondary index, it skips a row that was deleted, or whose columns in that index were changed"},
	{Name: "deadlock-leaves-transaction-open", Dim: AfterDeadlock, Variant: AnotherTransaction, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Before: []string{"10.6.23", "10.11.14", "11.4.8", "11.8.3"}},
		Links: []string{"https://github.com/MariaDB/server/pull/4122", "https://jira.mariadb.org/browse/MDEV-36959"},
		Says:  "after a deadlock has rolled back a session's transaction, the session's next statement begins a new transaction, although autocommit is on and no BEGIN was sent"},
	{Name: "row-amid-key-change-not-found", Dim: RowAmidKeyChange, Variant: NotFound, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: ru},
		Links: []string{mariadbLevels, mysqlConsistent},
		Says:  "a SELECT at READ UNCOMMITTED that merges several indexes fails with error 1032 while another transaction's UPDATE of a primary key waits: the UPDATE has deleted the old record and not yet inserted the new one"},
	{Name: "read-ends-at-row-amid-key-change", Dim: RowAmidKeyChange, Variant: EndsThere, Status: Deviation,
		Scope: Scope{DBMS: mysql, Levels: ru},
		Links: []string{mysqlLevels, "https://dev.mysql.com/doc/refman/en/index-merge-optimization.html"},
		Says:  "a SELECT at READ UNCOMMITTED that merges several indexes stops at a row whose primary key another transaction's UPDATE is changing: the UPDATE has deleted the old record and waits to insert the new one. The SELECT misses all rows behind it, even those that nobody touches"},
	{Name: "nowait-waits-in-index-merge", Dim: RefusedWait, Variant: WaitsInMerge, Status: Deviation,
		Scope: Scope{DBMS: mysql},
		Links: []string{"https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked", "https://dev.mysql.com/doc/refman/en/index-merge-optimization.html"},
		Says:  "a locking read with NOWAIT that merges several indexes (for `a = 1 OR b = 1`, for example) waits for a row lock instead of failing at once. SKIP LOCKED waits, too, instead of leaving the row out"},
	{Name: "skip-locked-waits-in-index-merge", Dim: RefusedWait, Variant: SkipWaitsInMerge, Status: Deviation,
		Scope: Scope{DBMS: mariadb},
		Links: []string{"https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/select-skip-locked"},
		Says:  "a locking read with SKIP LOCKED that merges several indexes (for `a = 1 OR b = 1`, for example) waits for a row lock instead of leaving the row out"},
	{Name: "victims-row-is-read", Dim: VictimRow, Variant: VictimReturned, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Levels: keeping, Settings: snapshotUnknown},
		Links: []string{mariadbLevels, "https://dev.mysql.com/doc/refman/en/innodb-deadlock-detection.html"},
		Says:  "a share locking read meets a row that another transaction has written. Waiting for it would be a deadlock, so the server rolls the other transaction back. Yet the read, if it needs only the columns of an index, returns the row, which was never committed"},
	{Name: "locking-read-asks-snapshot", Dim: SubqueryView, Variant: SnapshotSubquery, Status: Deviation,
		Scope: Scope{DBMS: innodb, Levels: ser},
		Links: []string{mysqlLevels, mysqlLocking},
		Says:  "in autocommit mode a locking read locks and reads the newest rows of its table, but its subqueries read from a snapshot, so that no serial order gives its answer"},
	{Name: "late-level", Dim: LateLevel, Variant: AfterExplicitEnd, Status: Deviation,
		Scope: Scope{DBMS: mysql},
		Links: []string{"https://bugs.mysql.com/bug.php?id=117835", mysqlSetLevel},
		Says:  "an isolation level that is set inside a transaction should hold from the next transaction on. It does so only if COMMIT or ROLLBACK ends the first one; if BEGIN ends it, or an error such as a deadlock, the next transaction still has the old level"},
	{Name: "late-level-after-error", Dim: LateLevel, Variant: AfterOwnEnd, Status: Deviation,
		Scope: Scope{DBMS: mariadb},
		Links: []string{"https://bugs.mysql.com/bug.php?id=117835", mariadbLevels},
		Says:  "an isolation level that is set inside a transaction should hold from the next transaction on. If an error such as a deadlock ends the first one, the next transaction still has the old level"},
	{Name: "late-level", Dim: LateLevel, Variant: AfterExplicitEnd, Status: Deviation,
		Scope: Scope{DBMS: mariadb, Settings: snapshotUnknown},
		Links: []string{"https://bugs.mysql.com/bug.php?id=117835"},
		Says:  "an isolation level that is set inside a transaction should hold from the next transaction on. It does so only if COMMIT or ROLLBACK ends the first one; if BEGIN ends it, or an error such as a deadlock, the next transaction still has the old level"},
}

func init() { Table = append(Table, innodbTable...) }
