package history

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Tick is a point on the logical clock of a run. Every observed event takes a
// tick of its own, so ticks are totally ordered; 0 means "never".
type Tick int

// History is one run of one case at fixed levels on one server.
type History struct {
	Server Server `json:"server"`
	// Levels gives the isolation level that each session ran at.
	Levels map[int]corpus.Level `json:"levels"`
	// Initial holds each table as it was read back behind the set-up, in the
	// server's scan order; Final the same after every session ended.
	Initial []Table `json:"initial"`
	Final   []Table `json:"final"`
	// Views holds the views that the set-up made, by name.
	Views []View `json:"views,omitempty"`
	// Database is what the case calls its database; empty where it names none.
	Database string `json:"database,omitempty"`
	// Stmts holds the executed statements in order of submission.
	Stmts []Stmt `json:"stmts"`
	// Notifications holds what PostgreSQL notified sessions of, for each session in the order in which it got them.
	// Each session that listened and is there in the end has been asked for what was due.
	Notifications []Notification `json:"notifications,omitempty"`
	// End says how the run ended.
	End End `json:"end"`
	// Detail is the text behind End: the server's message, the tail of its log.
	Detail string `json:"detail,omitempty"`
	// Disagreement says how, behind the case, a table did not agree with one of
	// its indexes; empty where it did, or was not asked.
	Disagreement string `json:"disagreement,omitempty"`
	// Replica is what was wrong with a replica behind the case; nil where it held the same, or there is none.
	Replica *ReplicaTrouble `json:"replica,omitempty"`
	// Reads is what was read on the replica while the case ran; nil: nothing was.
	Reads *ReplicaReads `json:"replica_reads,omitempty"`
	// Cluster is nil where all sessions were on one server.
	Cluster *Cluster `json:"cluster,omitempty"`
	// Plans holds EXPLAIN output by index into Stmts, where it was asked for.
	Plans map[int]string `json:"plans,omitempty"`
	// Facts is what the server told when it was asked for all that it knows; nil: it
	// was not.
	Facts *Facts `json:"facts,omitempty"`
	// Answers holds what the server answered to the questions of a judge, by their keys:
	// with them a recorded history is judged without a server.
	Answers map[string]*Answer `json:"answers,omitempty"`
	// Solos holds what the server answered to the questions of the judge by promise, by their keys.
	Solos map[string]*SoloAnswer `json:"solos,omitempty"`
	// ServerComputes says that the judge is to leave to those answers what it could
	// compute itself, too.
	ServerComputes bool `json:"server_computes,omitempty"`
}

// Held says that a statement was held inside of the server: then no order of submission says what
// came first.
func (h *History) Held() bool {
	for i := range h.Stmts {
		for _, w := range h.Stmts[i].Waits {
			if w.Kind == Held {
				return true
			}
		}
	}
	return false
}

// Notification is what a session was notified of.
type Notification struct {
	// Session got it, with the answer to Stmt, an index into Stmts; -1: behind the last statement.
	Session int `json:"session"`
	Stmt    int `json:"stmt"`
	// Channel and Payload are as the case has them.
	Channel string `json:"channel"`
	Payload string `json:"payload,omitempty"`
	// Sender is the session that the server names; 0: it is none of the case.
	Sender int `json:"sender"`
}

// String prints a notification as a person reads it.
func (n Notification) String() string {
	return fmt.Sprintf("%s '%s' from tx%d", n.Channel, n.Payload, n.Sender)
}

// DBMS names a family of servers whose rules are alike.
type DBMS string

// The families that the rules table knows.
const (
	TiDB       DBMS = "tidb"
	MySQL      DBMS = "mysql"
	MariaDB    DBMS = "mariadb"
	PostgreSQL DBMS = "postgresql"
)

// Transactional reports whether a table for which a storage engine is named, "" for none, has transactions. TiDB reads the
// word and ignores it; PostgreSQL is not sent it.
func (d DBMS) Transactional(engine string) bool {
	return engine == "" || d == TiDB || d == PostgreSQL || strings.EqualFold(engine, "InnoDB")
}

// StampsNull reports whether NULL in a column of the type TIMESTAMP that takes none makes it hold the time of the statement:
// always on MariaDB, and on MySQL where explicit_defaults_for_timestamp is off, or is not known.
// https://mariadb.com/docs/server/reference/data-types/date-and-time-data-types/timestamp
// https://dev.mysql.com/doc/refman/en/server-system-variables.html#sysvar_explicit_defaults_for_timestamp
func (s *Server) StampsNull() bool {
	return s.DBMS == MariaDB || s.DBMS == MySQL && s.Settings["explicit_defaults_for_timestamp"] != "ON"
}

// Server identifies what ran the case, as far as the rules depend on it.
type Server struct {
	DBMS    DBMS   `json:"dbms"`
	Version string `json:"version"`
	// Settings holds the variables that change what is promised, for example
	// innodb_snapshot_isolation, log_bin, binlog_format, sql_mode.
	Settings map[string]string `json:"settings,omitempty"`
	// Build says which build of the version it is: the vendor's comment or, of TiDB,
	// what tidb_version() returns and the commit. For people.
	Build string `json:"build,omitempty"`
	// Declared is what somebody says that the server promises; nil: the rules table tells that.
	Declared *Declared `json:"declared,omitempty"`
}

// Declared is what a user says that the levels of a server promise, and what was learned of that server:
// then no rule speaks of it.
type Declared struct {
	// Levels maps levels to the names of package promise; there is none for the others.
	Levels map[corpus.Level]string `json:"levels"`
	// Conflicts holds the errors with which transactions that were set against each other on purpose have
	// failed.
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// OwnCounters says that a session cannot choose the next AUTO_INCREMENT value by SET insert_id.
	OwnCounters bool `json:"own_counters,omitempty"`
}

// Conflict is an error that comes of other transactions: its number and, since servers use one number for
// many errors, how its message begins.
type Conflict struct {
	Code   uint16 `json:"code"`
	Begins string `json:"begins"`
}

// ConflictOf is what is kept of an error.
func ConflictOf(e *Error) Conflict {
	words := strings.Fields(e.Message)
	return Conflict{e.Code, strings.Join(words[:min(len(words), wordsKept)], " ")}
}

// wordsKept is how many words of a message come before names and values.
const wordsKept = 3

// End says how a run ended.
type End string

const (
	// Complete: every statement returned and the final state was read.
	Complete End = ""
	// Stuck: sessions still waited when nothing was left that could release
	// them; they were killed.
	Stuck End = "stuck"
	// Unfinished: the time for the case was up although the server went on; its
	// sessions were killed.
	Unfinished End = "unfinished"
	// Lost: a connection broke or the server stopped answering.
	Lost End = "lost"
)

// Table is the content of one table, columns in order of definition.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    [][]Cell `json:"rows"`
	// Create is the server's own definition of the table, as SHOW CREATE TABLE
	// prints it. It is asked for where the set-up holds more than tables without
	// options and rows; empty elsewhere, and in a final state.
	Create string `json:"create,omitempty"`
}

// View is a view that the set-up made.
type View struct {
	Name string `json:"name"`
	// Create is its definition, as SHOW CREATE VIEW prints it.
	Create string `json:"create"`
}

// Stmt is one executed statement: the interval from Submit to Return, cut into
// segments by its waits.
type Stmt struct {
	// Line is the index into Case.Steps.
	Line    int  `json:"line"`
	Session int  `json:"session"`
	Submit  Tick `json:"submit"`
	// Return is 0 if the server never answered.
	Return Tick `json:"return"`
	// Parked says that the session was waiting when the file's order reached
	// this line, so it was submitted later.
	Parked bool `json:"parked,omitempty"`
	// Waits holds the seen lock waits in order; they do not overlap.
	Waits []Wait `json:"waits,omitempty"`
	// InTxn is SERVER_STATUS_IN_TRANS as it was last known *before* this
	// statement was sent: false inside what the case meant as a transaction
	// means that the transaction had died.
	InTxn bool `json:"in_txn,omitempty"`
	// RefusedAlone says that the statement, sent alone and on empty copies of the
	// tables, failed with the same error: one of its text, not of what ran beside it.
	RefusedAlone bool `json:"refused_alone,omitempty"`
	// Interrupted says that the harness ended its wait with KILL QUERY, because
	// nothing but the server's time-out for locks could have done it: the sessions
	// in the way were idle in open transactions and had nothing left to send.
	Interrupted bool `json:"interrupted,omitempty"`
	// EndedIdle says of a KILL QUERY that the session which it named, and which did nothing, had
	// no connection any more behind it.
	EndedIdle bool `json:"ended_idle,omitempty"`
	// Sent is "prepare" or "execute" if the statement was sent so, see package protocol, and "text" if the server
	// cannot prepare what was to be sent so; else it is empty.
	Sent   string `json:"sent,omitempty"`
	Result Result `json:"result"`
	// Versions holds, row by row, which versions a statement of PostgreSQL met, if the case tells versions and the
	// statement can.
	Versions []RowVersion `json:"versions,omitempty"`
}

// RowVersion is a version that a statement found, one that it made, or both if it made one of the other. A version is
// told by its table's number, its place and the number of the transaction that made it, with spaces between; "" is none.
// No two versions of a case are told alike.
type RowVersion struct {
	Found string `json:"found,omitempty"`
	Made  string `json:"made,omitempty"`
}

// Writer is the number of the transaction, or of the part of it behind a savepoint, that made a version.
func Writer(version string) string { return version[strings.LastIndexByte(version, ' ')+1:] }

// WaitKind tells what a statement waited for.
type WaitKind string

const (
	// RowLock is a wait for a record, gap or key lock.
	RowLock WaitKind = "row"
	// Metadata is a wait for a table's metadata lock.
	Metadata WaitKind = "metadata"
	// SafeSnapshot is a wait of PostgreSQL's SERIALIZABLE READ ONLY DEFERRABLE for a snapshot that no other transaction
	// can make one of no serial order. Its Holders are the transactions that may.
	// https://www.postgresql.org/docs/current/sql-set-transaction.html
	SafeSnapshot WaitKind = "safe snapshot"
	// Silence means that nothing could be asked and no answer came in time.
	Silence WaitKind = "silence"
	// Held is no wait of the server's: the statement was held inside of it, see corpus.Hold.
	Held WaitKind = "held"
)

// Wait is one seen wait. From is when it was noticed, Until when it was seen
// to be over; Until is 0 if it never was.
type Wait struct {
	Kind  WaitKind `json:"kind"`
	From  Tick     `json:"from"`
	Until Tick     `json:"until"`
	// Holders names the sessions that the server said stand in the way;
	// empty where it does not say.
	Holders []int `json:"holders,omitempty"`
	// At is the record waited for; nil where the server does not tell.
	At *Place `json:"at,omitempty"`
}

// Result is the server's answer to one statement.
type Result struct {
	Columns []string `json:"columns,omitempty"`
	Rows    [][]Cell `json:"rows,omitempty"`
	// Matched and Changed count the rows of an UPDATE, from the info text of
	// the OK packet; Affected is the OK packet's own number. -1: not told.
	Matched  int64 `json:"matched"`
	Changed  int64 `json:"changed"`
	Affected int64 `json:"affected"`
	LastID   int64 `json:"last_id,omitempty"`
	Warnings int   `json:"warnings,omitempty"`
	// InTxn is SERVER_STATUS_IN_TRANS of the answer. An error packet carries no
	// status: it then repeats what was known before, except after errors that
	// end the transaction.
	InTxn bool   `json:"in_txn,omitempty"`
	Err   *Error `json:"err,omitempty"`
}

// Error is an error packet.
type Error struct {
	Code    uint16 `json:"code"`
	State   string `json:"state,omitempty"`
	Message string `json:"message"`
}

// overflow is what TiDB says, under its own number or under that of an unknown error: a filter
// that its storage evaluates loses the number in 8.5.4, which it kept in July 2024. waitedLong is what it
// says under that number where a wait took too long and ended because the row had changed.
// https://docs.pingcap.com/tidb/stable/error-codes/
// https://github.com/pingcap/tidb/issues/56688
const (
	errUnknown      = 1105
	errDateOverflow = 1441
	overflow        = "Datetime function: datetime field overflow"
	waitedLong      = "lock wait timeout"
)

// Means is the code of an error, or, where only its words tell which one it is, theirs.
func (e *Error) Means() uint16 {
	switch {
	case e.Code == errUnknown && e.Message == overflow:
		return errDateOverflow
	case e.Code == errUnknown && e.Message == waitedLong:
		return errLockTimeout
	}
	return e.Code
}
