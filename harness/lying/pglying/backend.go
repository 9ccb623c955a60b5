package pglying

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

// Lie is one planted bug.
type Lie struct {
	Name string
	// Breaks names what the lie breaks, in the field's terms.
	Breaks string
	// Levels are those at which it is a lie: a level that admits what it does is not among them.
	Levels []corpus.Level
	// Form is what a statement of a case must hold for the lie to be told, empty for nothing.
	Form string
	// OwnWords says that Form is in words that only PostgreSQL has.
	OwnWords bool
	// Transactions is how many must be open for the lie to be told, if more than two.
	Transactions int
	// answer handles one statement of a session; nil passes all on.
	answer func(s *session, sql string) (harness.Reply, error)
}

// Honest passes everything on.
var Honest = Lie{Name: "honest", Levels: everywhere}

// Backend is a server seen through a lie. It implements harness.Database.
type Backend struct {
	harness.Backend
	db  harness.Database
	lie Lie
	// told counts the statements that the lie touched.
	told atomic.Int64
	// open counts the sessions whose client believes to be in a transaction.
	open atomic.Int64
	// wrote counts those that have written there.
	wrote atomic.Int64
	past  past
	drawn drawn
}

var _ harness.Database = (*Backend)(nil)

// Through returns a backend whose sessions pass through a lie; closing it closes the backend behind it.
func Through(b harness.Backend, l Lie) (*Backend, error) {
	db, ok := b.(harness.Database)
	if !ok {
		return nil, fmt.Errorf("tell lies about %s: it opens no sessions of its own", b.Server().DBMS)
	}
	return &Backend{Backend: b, db: db, lie: l}, nil
}

// Told returns how many statements the lie has touched so far.
func (b *Backend) Told() int64 { return b.told.Load() }

// Open implements harness.Database.
func (b *Backend) Open(ctx context.Context, control bool) (harness.Session, error) {
	s, err := b.db.Open(ctx, control)
	switch {
	case err != nil:
		return nil, err
	case control:
		return unpolled{s}, nil
	}
	return &session{Session: s, b: b}, nil
}

// unpolled is an honest session. Like those that lie it cannot be polled, for a pool wants its sessions alike.
type unpolled struct{ harness.Session }

// Yield implements harness.Yielding.
func (u unpolled) Yield() { yield(u.Session) }
