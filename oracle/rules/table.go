package rules

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// The dimensions.
const (
	// ConsistentRead: which versions a plain SELECT sees.
	ConsistentRead Dimension = iota
	// SnapshotPoint: when a transaction's snapshot is taken.
	SnapshotPoint
	// CurrentRead: which versions a locking read or a write judges when it
	// waited.
	CurrentRead
	// NoOpUpdate: whether an UPDATE that changes no value writes a version.
	NoOpUpdate
	// NoOpUpsert: whether an INSERT … ON DUPLICATE KEY UPDATE that changes no value
	// of the row in its way writes a version.
	NoOpUpsert
	// KeyChange: whether a row whose clustered key changed stays the same row.
	KeyChange
	// ReverseScan: which versions a descending scan sees.
	ReverseScan
	// ShareLock: what FOR SHARE does.
	ShareLock
	// IdleSavepoint: what ROLLBACK TO a savepoint leaves of a transaction that had touched no
	// table when the savepoint was set.
	IdleSavepoint
	// LockedDerived: which versions a locking read sees of tables within its derived tables.
	LockedDerived
	// ShareNowait: which versions FOR SHARE NOWAIT reads where share modifiers are ignored.
	ShareNowait
	// AutocommitLock: whether a locking read outside of a transaction waits for
	// other transactions' locks.
	AutocommitLock
	// LateLocks: whether COMMIT takes locks.
	LateLocks
	// StaleLocks: what becomes of locks that a statement took before it started
	// again.
	StaleLocks
	// FilterScope: which rows a statement's filter is evaluated on.
	FilterScope
	// UniqueLookup: whether a read by a whole unique key checks the row that the
	// index leads to.
	UniqueLookup
	// SubqueryView: which versions a scalar subquery of a write sees.
	SubqueryView
	// LockedRow: what an UPDATE does about a row that another transaction has
	// locked.
	LockedRow
	// Resumption: where a statement goes on that waited.
	Resumption
	// RecordChanged: what a locking read or a write does about a row that was
	// changed and committed after the transaction's snapshot.
	RecordChanged
	// LateLevel: when a level set inside a transaction takes effect.
	LateLevel
	// AfterDeadlock: what a session is in whose transaction was a deadlock's
	// victim.
	AfterDeadlock
	// RowAmidKeyChange: what a SELECT that reads what is not committed finds of a row
	// whose clustered key is being changed.
	RowAmidKeyChange
	// VictimRow: what a locking read does about a row whose writer was made a deadlock's
	// victim for it.
	VictimRow
	// RestartedLookup: what a statement that starts again looks up in a unique
	// key.
	RestartedLookup
	// RecordGone: what a locking read or a write does about a row that was
	// committed away since the transaction's snapshot: deleted, or given another
	// key.
	RecordGone
	// FailedLocks: what COMMIT expects of rows that a failed UPDATE had changed.
	FailedLocks
	// RetryLimit: how often a statement starts again that meets newer data.
	RetryLimit
	// AbsentKey: what a locking look-up finds of a key that was absent when the
	// transaction looked it up before.
	AbsentKey
	// RefusedWait: whether a locking read with NOWAIT fails at once where it would wait, and
	// one with SKIP LOCKED leaves the row out.
	RefusedWait
	// UpsertRow: which row an INSERT … ON DUPLICATE KEY UPDATE changes if its new row has
	// the keys of several.
	UpsertRow
	// IdleKill: what KILL QUERY does to a session that runs no statement.
	IdleKill
	// KeyLookup: whether a serial order must explain what keys are looked up to find.
	KeyLookup
	numDimensions
)

// Answers to ConsistentRead.
const (
	// Newest: the newest version, committed or not.
	Newest Variant = iota
	// Committed: what was committed when the statement started, and own.
	Committed
	// Snapshot: what was committed at the snapshot point, and own.
	Snapshot
	// SharedLock: a locking read; SERIALIZABLE's plain SELECT.
	SharedLock
)

// Answers to SnapshotPoint.
const (
	// AtBegin: when the transaction begins.
	AtBegin Variant = iota
	// AtFirstRead: at the first consistent read, or WITH CONSISTENT SNAPSHOT.
	AtFirstRead
	// AtFirstStatement: at the first statement that touches a table.
	AtFirstStatement
)

// Answers to CurrentRead.
const (
	// UnknownRead: no rule says it, and nothing can be judged.
	UnknownRead Variant = iota
	// Retry: one view for the whole statement, renewed when a lock that it
	// waited for was released by a commit.
	Retry
	// Cursor: each row is judged when the scan passes it.
	Cursor
	// Recheck: rows are found by the statement's snapshot; of one that was changed since,
	// the condition is evaluated again on the newest version.
	Recheck
)

// Answers to NoOpUpdate and NoOpUpsert.
const (
	// NoOpWrites: a version is written, the row is then the writer's own.
	NoOpWrites Variant = iota
	// NoOpInvisible: no version is written; the row is only locked.
	NoOpInvisible
	// NoOpInvisibleIfRead: no version is written if every assigned column is
	// also read by the statement.
	NoOpInvisibleIfRead
)

// Answers to KeyChange.
const (
	// SameRow: the row keeps its identity.
	SameRow Variant = iota
	// DeleteInsert: the old row is deleted and another one inserted.
	DeleteInsert
)

// Answers to LateLocks.
const (
	// AllBefore: all locks were taken by the statements that needed them.
	AllBefore Variant = iota
	// LockedAtCommit: rows that a failed UPDATE had met but not changed are
	// locked by a later statement or by COMMIT.
	LockedAtCommit
)

// Answers to UniqueLookup.
const (
	// ChecksRow: the row returned has the key that was asked for.
	ChecksRow Variant = iota
	// TrustsIndex: the index entry of the snapshot leads to the row, whatever
	// the own transaction has made of it since.
	TrustsIndex
	// EndsAtFirst: it returns one row, although the view shows two of that key.
	EndsAtFirst
)

// Answers to SubqueryView.
const (
	// CurrentSubquery: the same as the write around it.
	CurrentSubquery Variant = iota
	// SnapshotSubquery: the transaction's snapshot.
	SnapshotSubquery
)

// Answers to StaleLocks.
const (
	// LocksKept: nothing that the client would notice.
	LocksKept Variant = iota
	// LocksForgotten: one that was the only lock of an earlier attempt may be released, and
	// the transaction still counts it as its own.
	LocksForgotten
)

// Answers to FilterScope.
const (
	// VisibleRows: on the rows that the statement sees.
	VisibleRows Variant = iota
	// OverwrittenRows: also on committed versions that the own transaction has
	// overwritten or deleted.
	OverwrittenRows
	// UnseenRows: also on the entries of an index whose rows the view does not show,
	// those that are marked deleted among them.
	UnseenRows
)

// Answers to ShareLock.
const (
	// ShareLocks: it takes share locks.
	ShareLocks Variant = iota
	// ShareRefused: it is an error.
	ShareRefused
)

// Answers to IdleSavepoint.
const (
	// KeepsTransaction: its snapshot and its locks.
	KeepsTransaction Variant = iota
	// RenewsTransaction: nothing, as if it began there.
	RenewsTransaction
)

// Answers to LockedDerived.
const (
	// DerivedPlain: those of a plain SELECT.
	DerivedPlain Variant = iota
	// DerivedNewest: the newest committed ones, as of a table that it locks.
	DerivedNewest
)

// Answers to ShareNowait.
const (
	// ShareAlike: those of FOR SHARE without NOWAIT, if that is no error.
	ShareAlike Variant = iota
	// SharePlain: those of a plain SELECT.
	SharePlain
	// ShareNewest: the newest committed ones, unless it looks rows up by a whole unique key.
	ShareNewest
)

// Answers to AutocommitLock.
const (
	// AutocommitWaits: it waits for other transactions' locks.
	AutocommitWaits Variant = iota
	// AutocommitPasses: it reads what is committed and waits for nothing.
	AutocommitPasses
)

// Answers to ReverseScan.
const (
	// SameView: the scan's direction does not matter.
	SameView Variant = iota
	// NewestCommitted: a descending scan reads the newest committed versions.
	NewestCommitted
)

// Answers to LockedRow.
const (
	// WaitForRow: it waits, then judges the newest version.
	WaitForRow Variant = iota
	// PassCommitted: where the last committed version does not match it passes
	// the row for good.
	PassCommitted
	// PassUncommitted: where the newest version, committed or not, does not
	// match it passes the row for good.
	PassUncommitted
)

// Answers to Resumption.
const (
	// ByRow: no row that it has not judged is missed.
	ByRow Variant = iota
	// ByKey: at the key where it stopped; rows that moved behind it are missed.
	ByKey
)

// Answers to RecordChanged.
const (
	// Proceed: it uses the newest committed version.
	Proceed Variant = iota
	// Refuse: it fails with error 1020, which ends the transaction.
	Refuse
	// RefuseUnlessCovered: so, but not a share locking read that an index alone
	// answers.
	RefuseUnlessCovered
)

// Answers to LateLevel.
const (
	// NextTransaction: in the next transaction.
	NextTransaction Variant = iota
	// AfterExplicitEnd: in the next transaction behind a COMMIT or ROLLBACK; not
	// in one whose BEGIN ended the former.
	AfterExplicitEnd
	// AfterOwnEnd: in the next transaction behind one that COMMIT, ROLLBACK or
	// BEGIN ended; not in one behind a transaction that an error ended.
	AfterOwnEnd
)

// Answers to AfterDeadlock.
const (
	// NoTransaction: in none; its statements commit on their own.
	NoTransaction Variant = iota
	// AnotherTransaction: in another one, which its next statement begins.
	AnotherTransaction
)

// Answers to RowAmidKeyChange.
const (
	// FoundOrNot: the row, or none.
	FoundOrNot Variant = iota
	// NotFound: an error, where an index leads to the record that is gone.
	NotFound
	// EndsThere: nothing, and of the rows behind it nothing either.
	EndsThere
)

// Answers to VictimRow.
const (
	// VictimPassed: it is rolled back and not read.
	VictimPassed Variant = iota
	// VictimReturned: it may be returned.
	VictimReturned
)

// Answers to RestartedLookup.
const (
	// GivenValues: the values that it lists.
	GivenValues Variant = iota
	// ClampedValues: in place of a value beyond the column's type, the limit of
	// that type.
	ClampedValues
)

// Answers to RecordGone.
const (
	// GoneRefused: the same as about one that was changed.
	GoneRefused Variant = iota
	// GoneUnseen: it may go by an index whose entry of the row is marked
	// deleted, and then passes it.
	GoneUnseen
)

// Answers to FailedLocks.
const (
	// NothingExpected: nothing, the statement has left nothing behind.
	NothingExpected Variant = iota
	// LocksExpected: that they are locked, although they are not.
	LocksExpected
)

// Answers to UpsertRow.
const (
	// FirstKey: the one with the first of the keys, of the newest rows.
	FirstKey Variant = iota
	// FirstInSnapshot: the same of the rows in the snapshot, if one of these is in the
	// way and has not changed since.
	FirstInSnapshot
)

// Answers to IdleKill.
const (
	// NothingToEnd: nothing, not to its next statement either.
	NothingToEnd Variant = iota
	// ClosesConnection: it may close the connection.
	ClosesConnection
)

// Answers to KeyLookup.
const (
	// KeysInOrder: yes, as it explains what is read.
	KeysInOrder Variant = iota
	// KeysNewest: no; they are looked up on the newest rows, and nobody remembers that.
	KeysNewest
)

// Answers to RetryLimit.
const (
	// UntilLocked: until it has locked what it needs.
	UntilLocked Variant = iota
	// GivesUp: a number of times, which can be reached during one wait.
	GivesUp
)

// Answers to AbsentKey.
const (
	// AbsentLookedUp: the row that has it now.
	AbsentLookedUp Variant = iota
	// AbsentRemembered: nothing, where the transaction's cache of locked keys
	// answers, which holds the absence although it was not locked.
	AbsentRemembered
)

// Answers to RefusedWait.
const (
	// FailsAtOnce: it does.
	FailsAtOnce Variant = iota
	// WaitsInMerge: it may wait like any other where it reads several indexes of its
	// table.
	WaitsInMerge
	// SkipWaitsInMerge: it does, but one with SKIP LOCKED may wait there.
	SkipWaitsInMerge
)

var (
	tidb = []history.DBMS{history.TiDB}
	// shareNowaitRefused: from the release that has tidb_enable_shared_lock_promotion on, NOWAIT
	// changes nothing of the error. https://github.com/pingcap/tidb/pull/55023
	shareNowaitRefused = []string{"8.3.0"}
	innodb             = []history.DBMS{history.MySQL, history.MariaDB}
	rc                 = []corpus.Level{corpus.ReadCommitted}
	rr                 = []corpus.Level{corpus.RepeatableRead}
)

const (
	tidbIsolation   = "https://docs.pingcap.com/tidb/stable/transaction-isolation-levels"
	tidbPessimistic = "https://docs.pingcap.com/tidb/stable/pessimistic-transaction"
	mysqlConsistent = "https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html"
	mysqlLocking    = "https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html"
	mysqlSavepoint  = "https://dev.mysql.com/doc/refman/en/savepoint.html"
	mysqlKill       = "https://dev.mysql.com/doc/refman/en/kill.html"
	tidbKill        = "https://docs.pingcap.com/tidb/stable/sql-statement-kill"
	mysqlLevels     = "https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html"
)

// Table is the ruleset. For checking, the last row that is in scope and no
// deviation answers its dimension; for explaining, deviations are tried.
var Table = []Rule{
	{Dim: ConsistentRead, Variant: Committed, Status: Promised,
		Scope: Scope{DBMS: tidb, Levels: rc}, Links: []string{tidbIsolation},
		Says: "a plain SELECT sees what was committed when it started, and what its own transaction wrote"},
	{Dim: ConsistentRead, Variant: Snapshot, Status: Promised,
		Scope: Scope{DBMS: tidb, Levels: rr}, Links: []string{tidbIsolation},
		Says: "a plain SELECT sees what was committed when the transaction's snapshot was taken, and what its own transaction wrote"},
	{Dim: SnapshotPoint, Variant: AtBegin, Status: Documented,
		Scope: Scope{DBMS: tidb}, Links: []string{tidbIsolation},
		Says: "the snapshot is taken when the transaction begins"},
	{Dim: CurrentRead, Variant: Retry, Status: Documented,
		Scope: Scope{DBMS: tidb}, Links: []string{tidbPessimistic},
		Says: "a locking read or a write works on the newest committed data. If it has to wait for a lock, and a row that it locks is changed meanwhile, it starts again with the newer data"},
	{Dim: ShareLock, Variant: ShareRefused, Status: Documented,
		Scope: Scope{DBMS: tidb, Settings: map[string]string{"tidb_enable_noop_functions": "OFF"}},
		Links: []string{"https://docs.pingcap.com/tidb/stable/system-variables#tidb_enable_noop_functions-new-in-v40"},
		Says:  "while tidb_enable_noop_functions is OFF, SELECT … FOR SHARE and SELECT … LOCK IN SHARE MODE fail with error 1235"},
	{Dim: ShareNowait, Variant: SharePlain, Status: Documented,
		Scope: Scope{DBMS: tidb, Before: shareNowaitRefused},
		Links: []string{"https://docs.pingcap.com/tidb/stable/sql-statement-select#description-of-the-syntax-elements"},
		Says:  "share modifiers are parsed and ignored, so that SELECT … FOR SHARE NOWAIT reads what a plain SELECT reads and locks nothing"},
	{Dim: AutocommitLock, Variant: AutocommitPasses, Status: Documented,
		Scope: Scope{DBMS: tidb}, Links: []string{tidbPessimistic},
		Says: "in autocommit mode SELECT … FOR UPDATE reads what is committed and does not wait for the locks of other transactions"},
	{Dim: LockedDerived, Variant: DerivedPlain, Status: Documented,
		Scope: Scope{DBMS: tidb}, Links: []string{mysqlLocking},
		Says: "FOR UPDATE does not reach into derived tables: SELECT … FROM (SELECT …) t FOR UPDATE reads what the query reads without it, and locks nothing. Whether the subqueries of a locking SELECT read what is newest, as the statement does, or the snapshot, as the plain reads that they are, is left open: either is right"},
	{Dim: NoOpUpdate, Variant: NoOpWrites, Status: Promised,
		Links: []string{mysqlConsistent},
		Says:  "a transaction sees the rows that its UPDATE matched as the UPDATE left them, not as they are in the snapshot, even if the UPDATE changed no value"},
	{Dim: NoOpUpsert, Variant: NoOpWrites, Status: Promised,
		Links: []string{mysqlConsistent},
		Says:  "a transaction sees the row that its INSERT … ON DUPLICATE KEY UPDATE found as the statement left it, not as it is in the snapshot, even if no value changed"},
	{Dim: KeyChange, Variant: SameRow, Status: Promised,
		Links: []string{mysqlConsistent},
		Says:  "an UPDATE of the primary key makes no second row: later SELECTs of the transaction show the row once, with its new key. (Where a transaction writes a key that its snapshot gives to another row, its SELECTs may as well tell rows by key.)"},
	{Dim: IdleSavepoint, Variant: KeepsTransaction, Status: Promised,
		Scope: Scope{DBMS: innodb}, Links: []string{mysqlSavepoint},
		Says: "ROLLBACK TO a savepoint does not end the transaction, whose snapshot and row locks stay"},
	{Dim: ReverseScan, Variant: SameView, Status: Promised,
		Links: []string{tidbIsolation},
		Says:  "a SELECT that scans an index backwards sees the same versions of the rows as one that scans it forwards"},
	{Dim: IdleKill, Variant: NothingToEnd, Status: Promised,
		Links: []string{mysqlKill, tidbKill},
		Says:  "KILL QUERY ends the statement that a session runs, and leaves its connection as it is. So it does nothing to a session that runs none, nor to its next statement"},

	{Name: "no-op-upsert-unseen", Dim: NoOpUpsert, Variant: NoOpInvisible, Status: Deviation,
		Scope: Scope{DBMS: tidb}, Links: []string{"https://github.com/pingcap/tidb/issues/28212", "https://bugs.mysql.com/bug.php?id=116067"},
		Says: "an INSERT … ON DUPLICATE KEY UPDATE that assigns the values that the row already has writes no new version of it. If another transaction has changed the row since the snapshot, later SELECTs of the same transaction still show the version in the snapshot"},
	{Name: "no-op-update-unseen", Dim: NoOpUpdate, Variant: NoOpInvisible, Status: Deviation,
		Scope: Scope{DBMS: tidb, Levels: rr},
		Links: []string{"https://github.com/pingcap/tidb/issues/28212", "https://jira.mariadb.org/browse/MDEV-26642"},
		Says:  "an UPDATE that assigns the values that a row already has writes no new version of the row. If another transaction has changed the row since the snapshot, later SELECTs of the same transaction still show the version in the snapshot"},
	{Name: "key-change-leaves-old-row", Dim: KeyChange, Variant: DeleteInsert, Status: Deviation,
		Scope: Scope{DBMS: tidb},
		Links: []string{"https://github.com/pingcap/tidb/issues/48960", "https://bugs.mysql.com/bug.php?id=113228"},
		Says:  "an UPDATE of the primary key deletes the row and inserts a new one. If one transaction changes the key, and another whose snapshot is older then updates or deletes the row, the SELECTs of the latter show it as it is in the snapshot, and, if it was updated, as it is now, too"},
	{Name: "commit-locks-what-a-failed-update-met", Dim: LateLocks, Variant: LockedAtCommit, Status: Deviation,
		Scope: Scope{DBMS: tidb}, Links: []string{tidbPessimistic},
		Says: "COMMIT locks the rows that an UPDATE of the transaction had matched and left unchanged before it failed, or was killed. So COMMIT can wait, time out, or be the victim of a deadlock. If another statement comes first, such as KILL or SAVEPOINT, that one locks them, and can fail so, although it has done what it was to do. Where BEGIN ends the transaction, the old transaction is committed without these locks; the new transaction then waits for them, so BEGIN can fail although the commit has succeeded"},
	{Name: "commit-misses-lock-of-restarted-update", Dim: StaleLocks, Variant: LocksForgotten, Status: Deviation,
		Scope: Scope{DBMS: tidb},
		Links: []string{"https://github.com/pingcap/tidb/issues/67213", "https://github.com/pingcap/tidb/issues/69872"},
		Says:  "an UPDATE waits and starts again. If one of its attempts matched a single row and left it unchanged, or a failed UPDATE right before had left it so, and its last attempt matches another row instead, or the same row under another key, TiDB releases the first row's lock, although the transaction still counts it as its own: the transaction does not ask for this lock again, others get it, and COMMIT, or a BEGIN that commits, fails with error 1105, \"pessimistic lock not found\"; so does the UPDATE itself if it is outside of a transaction. The same happens to the lock of a unique key's entry if an UPDATE waits for two transactions in turn, of which one deletes the row that it had matched and the other inserts one with the same key; and if an UPDATE that looked a row up by a unique key fails as a duplicate: an INSERT of that key right behind it takes this lock, which TiDB is still giving back, for its own, and succeeds although the key is there"},
	{Name: "commit-expects-locks-of-failed-update", Dim: FailedLocks, Variant: LocksExpected, Status: Deviation,
		Scope: Scope{DBMS: tidb}, Links: []string{"https://github.com/pingcap/tidb/issues/35682", tidbPessimistic},
		Says: "an UPDATE changes rows and then fails, because two rows that its own transaction has written would have the same key. From the transaction's next write on, COMMIT expects a lock on each row that the failed UPDATE had changed, but nobody holds these locks. If another transaction deletes such a row, or changes its key, COMMIT fails with error 1105. (If the transaction has changed nothing else, the built-in TiDB may panic in COMMIT, which is reported as a violation.) TiDB makes one key of a transaction its primary key, to which all its locks refer. If that is the row which is gone, TiDB takes the transaction for finished, and until its COMMIT others do not wait for the locks that it really holds either"},
	{Name: "upsert-looks-in-snapshot", Dim: UpsertRow, Variant: FirstInSnapshot, Status: Deviation,
		Scope: Scope{DBMS: tidb, Levels: rr}, Links: []string{"https://dev.mysql.com/doc/refman/en/insert-on-duplicate.html", tidbPessimistic},
		Says: "the new row of an INSERT … ON DUPLICATE KEY UPDATE has a key of one row and another key of a second row. If the second row was committed after the snapshot, TiDB does not meet it, although a write works on the newest data, and changes the first row, whatever the order of the keys. (Which of the two is changed the manual of MySQL leaves open, and advises against such statements.)"},
	{Name: "retry-limit-reached-in-one-wait", Dim: RetryLimit, Variant: GivesUp, Status: Deviation,
		Scope: Scope{DBMS: tidb}, Links: []string{"https://docs.pingcap.com/tidb/stable/tidb-configuration-file#max-retry-count", tidbPessimistic},
		Says: "a statement that waits for one lock starts again so often that it reaches TiDB's limit (max-retry-count) and fails with error 1105, \"pessimistic lock retry limit reached\""},
	{Name: "filter-judges-overwritten-rows", Dim: FilterScope, Variant: OverwrittenRows, Status: Deviation,
		Scope: Scope{DBMS: tidb}, Links: []string{"https://github.com/pingcap/tidb/issues/28092"},
		Says: "the storage layer evaluates a statement's condition (in a join or a subquery, what it says of one table) also on the committed version of a row that the same transaction has already changed or deleted. If that raises an error, such as 1690 (out of range), the statement fails, although it must not see this version"},
	{Name: "unique-lookup-trusts-snapshot-index", Dim: UniqueLookup, Variant: TrustsIndex, Status: Deviation,
		Scope: Scope{DBMS: tidb, Levels: rr}, Links: []string{tidbIsolation},
		Says: "a SELECT that gives a value for every column of a secondary unique key finds the row by the index entry in its snapshot and does not check that the row still has this key. If another transaction has changed the key since the snapshot, and the SELECT's own transaction has then changed the row, a look-up by the old key returns the row with its new key; if the own transaction has deleted the row, the look-up fails with error 8133. If the own transaction has given the old key to another row, the look-up misses the row that has it in the snapshot. It is a look-up, too, if other conditions leave the columns only values that TiDB lists: two equal bounds, alternatives of rows, LIKE without a wildcard, or any comparison of an ENUM with a text"},
	{Name: "restarted-lookup-clamps-values", Dim: RestartedLookup, Variant: ClampedValues, Status: Deviation,
		Scope: Scope{DBMS: tidb}, Links: []string{tidbPessimistic},
		Says: "a statement with `key IN (…)` on an integer column with a UNIQUE key starts again, because it waited or because a row that it locks was changed or inserted since its transaction began, or was looked for in vain by an UPDATE, a DELETE or a locking read that has committed since. In the second attempt each listed value outside the range of the column's type has become the limit of the type: with a TINYINT b, `DELETE … WHERE b IN (0, -200)` deletes the row with -128"},
	{Name: "absent-key-remembered-unlocked", Dim: AbsentKey, Variant: AbsentRemembered, Status: Deviation,
		Scope: Scope{DBMS: tidb, Levels: rc},
		Links: []string{tidbPessimistic, "https://github.com/pingcap/tidb/blob/master/pkg/executor/point_get.go"},
		Says:  "a locking look-up of one key, such as `WHERE a = 0 FOR UPDATE`, finds no row. It locks nothing, but the transaction remembers the key as absent, even when another transaction then commits a row with it. Two kinds of later locking look-ups trust this memory: look-ups of several keys, such as `a IN (0, 1)`, and those of a single key that the transaction has locked in another way since, such as by a scan. They miss the row, or fail with error 8133 if they reach it by another unique key"},
	{Name: "scalar-subquery-of-write-reads-snapshot", Dim: SubqueryView, Variant: SnapshotSubquery, Status: Deviation,
		Scope: Scope{DBMS: tidb}, Links: []string{"https://github.com/pingcap/tidb/issues/38150", "https://github.com/pingcap/tidb/issues/45677", "https://github.com/pingcap/tidb/issues/70046"},
		Says: "a scalar subquery, or that of an EXISTS, in a statement that writes is evaluated with its plan, on the transaction's snapshot (at READ COMMITTED on what was committed when the statement started), while the statement itself works on newer data; not if it, or a query within it, refers to a query around it"},
	{Name: "locked-derived-table-reads-newest", Dim: LockedDerived, Variant: DerivedNewest, Status: Deviation,
		Scope: Scope{DBMS: tidb}, Links: []string{"https://github.com/pingcap/tidb/issues/60281", mysqlLocking},
		Says: "SELECT … FROM (SELECT …) t FOR UPDATE reads the newest committed data within the derived table instead of the transaction's snapshot (at READ COMMITTED, of what was committed when it started). By a whole unique key it also locks the row there, and waits for it"},
	{Name: "share-nowait-reads-newest", Dim: ShareNowait, Variant: ShareNewest, Status: Deviation,
		Scope: Scope{DBMS: tidb, Levels: rr, Before: shareNowaitRefused},
		Links: []string{"https://docs.pingcap.com/tidb/stable/sql-statement-select#description-of-the-syntax-elements", tidbIsolation},
		Says:  "SELECT … FOR SHARE NOWAIT should read the transaction's snapshot, as its modifiers are ignored, and locks nothing. Unless it looks rows up by all columns of a unique key, it reads the newest committed data instead"},
	{Name: "kill-query-closes-idle-session", Dim: IdleKill, Variant: ClosesConnection, Status: Deviation,
		Scope: Scope{DBMS: tidb},
		Links: []string{"https://github.com/pingcap/tidb/issues/57840", "https://github.com/pingcap/tidb/issues/65447", tidbKill},
		Says:  "KILL QUERY of a session that runs no statement closes its connection, and its transaction is rolled back: it ends the server's wait for the client's next statement. A session that has only just got an answer, so that the server does not wait for it yet, keeps its connection"},
	{Name: "reverse-scan-reads-newest", Dim: ReverseScan, Variant: NewestCommitted, Status: Deviation,
		Scope: Scope{DBMS: tidb, Levels: rr, Settings: map[string]string{"store": "unistore"}},
		Links: []string{"https://github.com/pingcap/tidb/issues/57170"},
		Says:  "in the storage of the built-in TiDB (unistore) a SELECT, or a subquery of one that reads the snapshot, that scans backwards, for ORDER BY … DESC or MAX, reads the newest committed data instead"},
}
