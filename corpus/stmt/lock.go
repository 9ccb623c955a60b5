package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// Lock is what the locking clause of a SELECT says.
type Lock struct {
	Mode Mode
	Wait Wait
	// Seconds is the n of WAIT n.
	Seconds uint64
}

// Mode is which other locks a lock stands against.
type Mode uint8

// The modes of locks. A query without a clause takes none of its own accord.
const (
	None      Mode = iota
	Share          // FOR SHARE, LOCK IN SHARE MODE
	Exclusive      // FOR UPDATE
)

// Wait is what a SELECT does where somebody else holds the lock.
type Wait uint8

// What can be done then.
const (
	Waits   Wait = iota
	Fails        // NOWAIT
	Skips        // SKIP LOCKED
	Bounded      // WAIT n: it waits no longer than that
)

var kindOfRead = [...]Kind{None: Select, Share: SelectForShare, Exclusive: SelectForUpdate}

// LockOf returns what the locking clause of a query says, also of one within a statement.
func LockOf(s *ast.SelectStmt) Lock {
	if s.LockInfo == nil {
		return Lock{}
	}
	switch s.LockInfo.LockType {
	case ast.SelectLockForShare:
		return Lock{Mode: Share, Wait: Waits}
	case ast.SelectLockForShareNoWait:
		return Lock{Mode: Share, Wait: Fails}
	case ast.SelectLockForShareSkipLocked:
		return Lock{Mode: Share, Wait: Skips}
	case ast.SelectLockForUpdate:
		return Lock{Mode: Exclusive, Wait: Waits}
	case ast.SelectLockForUpdateNoWait:
		return Lock{Mode: Exclusive, Wait: Fails}
	case ast.SelectLockForUpdateSkipLocked:
		return Lock{Mode: Exclusive, Wait: Skips}
	case ast.SelectLockForUpdateWaitN:
		return Lock{Exclusive, Bounded, s.LockInfo.WaitSec}
	}
	return Lock{}
}
