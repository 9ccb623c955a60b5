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

var locks = [...]Lock{
	ast.SelectLockForShare:            {Mode: Share},
	ast.SelectLockForShareNoWait:      {Mode: Share, Wait: Fails},
	ast.SelectLockForShareSkipLocked:  {Mode: Share, Wait: Skips},
	ast.SelectLockForUpdate:           {Mode: Exclusive},
	ast.SelectLockForUpdateNoWait:     {Mode: Exclusive, Wait: Fails},
	ast.SelectLockForUpdateSkipLocked: {Mode: Exclusive, Wait: Skips},
	ast.SelectLockForUpdateWaitN:      {Mode: Exclusive, Wait: Bounded},
}

// LockOf returns what the locking clause of a query says, also of one within a statement.
func LockOf(s *ast.SelectStmt) Lock {
	if s.LockInfo == nil {
		return Lock{}
	}
	l := locks[s.LockInfo.LockType]
	if l.Wait == Bounded {
		l.Seconds = s.LockInfo.WaitSec
	}
	return l
}
