package harness

import (
	"context"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Backend is a live DBMS that cases can run on: either a Database, whose driver is its own, or
// Wired. It is safe for several goroutines; each worker has its own connections.
type Backend interface {
	// Server tells family, version and the settings that rules depend on.
	Server() history.Server
	// Prober returns a new way to ask which connections wait for a lock.
	// Each worker owns one; Close ends it.
	Prober(ctx context.Context) (Prober, error)
	// Log returns the last lines of the server's error log, if it can be had.
	Log() string
	// Alive returns nil while the server works.
	Alive(ctx context.Context) error
	// Close ends the server if it is ours and leaves no file or process.
	Close() error
}

// Wired is a Backend of MySQL's protocol, whose sessions a Pool opens itself.
type Wired interface {
	Backend
	// Config returns a fresh driver configuration without a database name.
	// The runner sets its own DialFunc, which calls Dial.
	Config() *mysql.Config
	// Dial opens one raw connection to the server.
	Dial(ctx context.Context) (net.Conn, error)
}

// WiredOf returns a Backend of MySQL's protocol as one. The error says that its protocol is another.
func WiredOf(b Backend) (Wired, error) {
	if w, ok := b.(Wired); ok {
		return w, nil
	}
	return nil, fmt.Errorf("%s does not speak MySQL's protocol", b.Server().DBMS)
}

// Reachable is implemented by a private server that can listen for other clients.
type Reachable interface {
	// TCP returns user, drawn password and address; nil if it does not listen.
	TCP() *mysql.Config
}

// Located is implemented by a private server of another protocol than MySQL's.
type Located interface {
	// URL returns the data source name by which its clients reach it.
	URL() string
}

// Solitary is implemented by a Backend of which there can be several, such as a private server.
type Solitary interface {
	// Solitary says that the server can be asked who waits only while it does nothing else, so that
	// each of several workers had better have a server of its own.
	Solitary() bool
}

// Waiting is one connection that waits for a lock at the moment of asking.
type Waiting struct {
	// Conn is the ID of the waiting Session.
	Conn uint64
	Kind history.WaitKind
	// Holders holds the connection ids in the way, where the server tells. A
	// cycle among them is a deadlock that the server has yet to resolve; the
	// runner keeps waiting for that.
	Holders []uint64
	// ID names the lock waited for, in any form: while a connection waits for
	// the same lock it stays equal from ask to ask. A change cuts one statement
	// into two waits. Empty where the server does not tell.
	ID string
	// At is the record waited for; nil where the server does not tell.
	At *history.Place
}

// Prober knows which of some connections wait for a lock; connections are named by the ID
// of their Session.
type Prober interface {
	// Waiting asks the server, once, which of the given connections, each of
	// which has a statement outstanding, waits for a lock right now.
	Waiting(ctx context.Context, conns []uint64) ([]Waiting, error)
	// Wake, if not nil, receives a token when something may have changed, so
	// that the runner need not poll; where it is nil the runner polls.
	Wake() <-chan struct{}
	Close() error
}

// LockLister is implemented by a Prober that can list what transactions hold. It costs more
// than Waiting.
type LockLister interface {
	// Holdings returns what the transactions of some connections hold, as far as the
	// server lists it. In it, sessions are indexes into conns. untold says what the
	// server does not list, a sentence each. An *UntoldError says that it lists nothing.
	Holdings(ctx context.Context, conns []uint64) (h history.Holding, untold []string, err error)
}

// UntoldError says that the server refuses to list what its transactions hold, for example
// because this user may not see it. Nothing is broken.
type UntoldError struct{ Reason string }

func (e *UntoldError) Error() string { return "the server lists no locks: " + e.Reason }

// CaseObserver is implemented by a Prober that has something to do around each
// case, for example hold a read view open so that purge cannot race with it.
type CaseObserver interface {
	// BeginCase is called when the tables are set up and before the first
	// statement of the case; conns holds the connection ids of its sessions.
	// key depends on the case's text alone: whatever is done for only a share
	// of the cases is to be decided from it.
	BeginCase(ctx context.Context, key uint64, conns []uint64) error
	// EndCase is called before the final state is read, whatever happened.
	EndCase(ctx context.Context) error
}

// SubmitObserver is implemented by a Prober that measures how long a statement has been
// without an answer.
type SubmitObserver interface {
	// Submitted is called right before a connection is sent a statement.
	Submitted(conn uint64)
}

// Blockers is implemented by a Prober that can find out who is in the way of waiting
// connections. It may cost more than Waiting.
type Blockers interface {
	// Blockers returns, for each of the connections that waits for a row lock, those
	// that hold it or wait for it before.
	Blockers(ctx context.Context, conns []uint64) (map[uint64][]uint64, error)
}

// Prepared stands among Blockers for a prepared transaction, which has no connection.
const Prepared uint64 = 0

// Watcher is implemented by a Prober that can see what the server's threads do
// without asking the server. It saves questions and answers none: that a
// session waits is still asked.
type Watcher interface {
	// Watch tells what the thread of a connection does right now.
	Watch(conn uint64) Sight
}

// Sight is what a thread was seen to do. The zero value: it cannot be seen.
type Sight struct {
	// Runs counts how often the thread was given a processor.
	Runs uint64
	// Asleep says that it sleeps as a thread does that waits for a lock. Two
	// sights that are equal and asleep mean that it slept all the time between.
	Asleep bool
	Seen   bool
}

// Doubter is implemented by a Backend that knows which variables of its server
// differ from the vendor's default and may change what it answers although no rule
// speaks of them: names, in order.
type Doubter interface {
	Doubtful() []string
}

// LevelLister is implemented by a Backend that does not know all four levels.
type LevelLister interface {
	Levels() []corpus.Level
}

// LevelsOf returns the isolation levels that b offers, weakest first.
func LevelsOf(b Backend) []corpus.Level {
	if l, ok := b.(LevelLister); ok {
		return l.Levels()
	}
	return corpus.Levels
}
