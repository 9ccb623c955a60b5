package against

import (
	"regexp"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// sameError are errors for which servers have different numbers.
type sameError struct {
	dbms  [2]history.DBMS
	codes [2]uint16
	says  string
	link  string
}

var sameErrors = []sameError{
	{[2]history.DBMS{history.MySQL, history.MariaDB}, [2]uint16{3572, 1205},
		"NOWAIT met a lock: MySQL has an error of its own for it, MariaDB uses that of a time-out",
		"https://mariadb.com/docs/server/reference/sql-statements/transactions/wait-and-nowait"},
	{[2]history.DBMS{history.TiDB, history.MariaDB}, [2]uint16{3572, 1205},
		"NOWAIT met a lock: TiDB has an error of its own for it, MariaDB uses that of a time-out",
		"https://mariadb.com/docs/server/reference/sql-statements/transactions/wait-and-nowait"},
	{[2]history.DBMS{history.MySQL, history.MariaDB}, [2]uint16{3819, 4025},
		"a CHECK constraint is violated",
		"https://mariadb.com/docs/server/reference/error-codes"},
	{[2]history.DBMS{history.MySQL, history.MariaDB}, [2]uint16{3105, 1906},
		"a value is given for a generated column",
		"https://mariadb.com/docs/server/reference/error-codes"},
}

// ruleShows says in which differences a rule can show that holds on one of the servers
// only.
type ruleShows struct {
	dim        rules.Dimension
	kinds      []Kind
	statements []stmt.Kind // empty: all
	levels     []corpus.Level
	codes      []uint16 // one server's answer is one of these errors; nil: whatever
	// after is a kind of statement that the session must have sent before; "": none.
	after stmt.Kind
}

var rulesShow = []ruleShows{
	{dim: rules.LateLevel, kinds: []Kind{Wait, Rows, Error}, after: stmt.SetLevel},
	{dim: rules.RecordChanged, kinds: []Kind{Error, Wait}, codes: []uint16{1020}},
	{dim: rules.ShareLock, kinds: []Kind{Error}, codes: []uint16{1235}},
	{dim: rules.LockedRow, kinds: []Kind{Wait, Count, Error}, statements: []stmt.Kind{stmt.Update}},
	{dim: rules.AutocommitLock, kinds: []Kind{Wait, Rows}, statements: []stmt.Kind{stmt.SelectForUpdate, stmt.SelectForShare}},
	{dim: rules.SnapshotPoint, kinds: []Kind{Rows}, statements: []stmt.Kind{stmt.Select}, levels: []corpus.Level{corpus.RepeatableRead}},
}

// settingShows says in which differences a setting can show that has another value on the
// other server, where both were right.
type settingShows struct {
	name  string
	kinds []Kind
	codes []uint16 // one server's answer is one of these errors; nil: whatever
	// fits says that the setting can matter to the case.
	fits       func(*pair) bool
	says, link string
}

var settingsShow = []settingShows{
	{"log_bin", []Kind{Error, Wait}, []uint16{1213}, changesNothing,
		"a deadlock rolls back the transaction that has written less; with the row-based binary log an UPDATE that changes no value writes nothing", mysqlDeadlocks},
	{"collation_server", []Kind{Rows, Count, Final}, nil, holdsTexts,
		"texts are compared by the server's default collation", "https://mariadb.com/docs/server/reference/data-types/string-data-types/character-sets"},
}

// choices are asked in order when both servers were right.
var choices = []choice{
	{kind: Error, codes: []uint16{1213}, link: mysqlDeadlocks,
		says: "which transaction a deadlock rolls back, and whether there is a deadlock, depends on the order in which the server takes its locks"},
	{kind: Error, codes: []uint16{1205, 3572}, link: mysqlLocks,
		says: "which rows and gaps a statement locks beyond those that it needs, and whether it waits behind one that waits, is the server's choice; so is where NOWAIT fails and what times out"},
	{kind: Rows, sql: regexp.MustCompile(`\bSKIP LOCKED\b`), link: mysqlLocks,
		says: "which rows and gaps a statement locks beyond those that it needs is the server's choice; so is what SKIP LOCKED passes over"},
	{kind: Wait, codes: []uint16{1213}, link: mysqlDeadlocks,
		says: "which transaction a deadlock rolls back, and whether there is a deadlock, depends on the order in which the server takes its locks"},
	{kind: Wait, statements: reads, link: mysqlLevels,
		says: "a plain SELECT waits for what it reads where the level makes it lock; which rows it locks beyond those is the server's choice"},
	{kind: Wait, statements: locks, link: mysqlLocks,
		says: "a locking read or a write locks each row that it scans; which rows and gaps it scans is the server's choice"},
	{kind: Wait, statements: insert, link: mysqlLocks,
		says: "an INSERT waits for a gap that another transaction has locked; which gaps are locked beyond the rows is the server's choice"},
}
