package history

// Errors that stand for an answer which never came; the numbers are those of the clients of
// MySQL and MariaDB.
// https://dev.mysql.com/doc/mysql-errors/en/client-error-reference.html
const (
	// ErrGone is the answer to a statement of a session whose connection is gone: it is not sent.
	ErrGone = 2006
	// ErrLost is that of a statement whose connection broke when the session was killed.
	ErrLost = 2013
	// ErrNoSession is that of a KILL of such a session, which is not sent either: its number
	// means nothing any more. https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
	ErrNoSession = 1094
)

// errDeadlock is the error of a transaction that a deadlock has ended.
const errDeadlock = 1213

// FailedToLock reports whether an error is that of a statement which did not get a lock in time, or which
// a deadlock has ended.
func FailedToLock(e *Error) bool {
	return e != nil && (e.Means() == errLockTimeout || e.Code == errDeadlock)
}
