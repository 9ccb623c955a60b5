package harness

import (
	"context"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness/direct"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Session is one connection to a server, whose statements run one at a time. A driver
// implements it; nothing else of a driver is known where the lines of a case are run.
//
// A new Session has no transaction open and commits each statement by itself. It belongs
// to one goroutine at a time; only Cut may come from another.
type Session interface {
	// ID is the number by which the server knows the connection and a Prober is asked
	// about it, for example CONNECTION_ID(). It stays the same until Close.
	ID() uint64
	// Execute sends one statement and returns when its answer has come in whole. An
	// error that the server answers with is Reply.Err. The error that Execute returns
	// says that the connection is of no more use: it broke, it was cut, or what came in
	// follows no protocol. The Reply then holds what came before.
	//
	// There is no time-out: whoever wants one calls Cut.
	Execute(sql string) (Reply, error)
	// Cut breaks the connection, at any time and any number of times. An Execute under
	// way ends with an error. The server may notice only when the statement ends.
	Cut()
	// Close ends the connection; no statement may be outstanding. After it only Cut may
	// be called. An error says that the farewell failed, no more.
	Close() error
}

// Polled is implemented by a Session that need not block: the goroutine that runs a case
// then waits for the sockets of all its sessions at once, and an answer costs no switch to
// another goroutine. Other Sessions are given a goroutine each, which calls Execute.
type Polled interface {
	Session
	// Socket is what the answers come in by. nil: it cannot be waited for, and neither
	// Send nor Receive is called. After Cut it has something to read, if only an error.
	Socket() *direct.Conn
	// Send sends one statement and does not wait for the answer. Errors are those of
	// Execute.
	Send(sql string) error
	// Receive takes what has come in and does not wait for more; done says that the
	// answer to the statement sent last is whole, which r then is. Errors are those of
	// Execute.
	Receive() (r Reply, done bool, err error)
}

// Pipelined is implemented by a Session whose server works off what it is sent without being asked for each answer:
// several texts cost one round trip.
type Pipelined interface {
	Session
	// Pipeline sends texts and returns the answer to each, those to texts behind one that failed, too. Errors are
	// those of Execute; the answers that came before one are returned with it.
	Pipeline(texts []string) ([]Reply, error)
}

// Yielding is implemented by a Session whose Execute can leave the processor to others while it waits.
type Yielding interface {
	// Yield has it do so from now on, which makes each answer some microseconds slower. It is for a process that has
	// more sessions with a statement under way than processors. Behind it the Session is no longer Polled: Socket is nil.
	Yield()
}

// Reply is what a server answered to one text.
//
// Of the Result, Matched, Changed and Affected are -1 and Warnings is 0 where the server
// does not tell them. InTxn says that a transaction is open which may hold locks: one that
// has failed and only waits for its ROLLBACK is not.
type Reply struct {
	history.Result
	// InTxnTold says that the server told InTxn with this answer. Where it did not, as
	// MySQL does not with an error, the runner infers it from the error and from what
	// was open before.
	InTxnTold bool
	// Tag is what the server says that it has done, of the last statement, such as "UPDATE 1" or, to a COMMIT of a
	// transaction that has failed, "ROLLBACK". PostgreSQL alone tells it.
	Tag string
	// Earlier holds the rows of all statements of the text but the last, as far as they
	// gave any.
	Earlier []RowSet
	// Holders are the sessions, by their IDs, that an error says were in the way when the statement ended waiting.
	Holders []uint64
	// Notifications are what the server told since the last answer without being asked, in its order.
	Notifications []Notification
	// Sent is how the statement was sent in the end. AsText says that it was to be prepared and the server cannot, so
	// that its text was sent.
	Sent   protocol.Way
	AsText bool
	// At is when the end of the answer came in. It orders the answers of sessions that
	// waited for each other.
	At time.Time
}

// Notification is one that a session of PostgreSQL gets; Sender is the ID of the session that it comes from.
type Notification struct {
	Sender           uint64
	Channel, Payload string
}

// RowSet is the rows of one of several statements.
type RowSet struct {
	Columns []string
	Rows    [][]history.Cell
}

// Database is what a Pool needs to know of a server. It is safe for several goroutines.
//
// What a pool sends of its own (USE, SET TRANSACTION, SHOW TABLES, KILL and so on) is in
// the SQL of Server().DBMS; a Database passes it on as it is.
type Database interface {
	// Server tells family, version and the settings that rules depend on.
	Server() history.Server
	// Open connects. A control session takes texts of several statements, too, which ';'
	// separates: the server stops at the first that fails, whose error is the Reply's.
	Open(ctx context.Context, control bool) (Session, error)
	// Prober returns a new way to ask which sessions wait for a lock. Each worker owns
	// one and closes it.
	Prober(ctx context.Context) (Prober, error)
	// Log returns the last lines of the server's error log, if it can be had.
	Log() string
	// Alive returns nil while the server works.
	Alive(ctx context.Context) error
}
