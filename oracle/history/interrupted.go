package history

import "slices"

// Errors of a statement that KILL QUERY has ended, and of one whose wait for a lock
// took too long.
const (
	errInterrupted = 1317
	errLockTimeout = 1205
)

// TimedOut returns the history as it would be had the harness waited until the server
// gave up on each lock: like a time-out, KILL QUERY undoes the statement and leaves its
// transaction open. Where nothing was interrupted, it is the same history.
// https://dev.mysql.com/doc/refman/en/innodb-error-handling.html
// https://dev.mysql.com/doc/refman/en/kill.html
func (h *History) TimedOut() *History {
	interrupted := func(st Stmt) bool {
		return st.Interrupted && st.Result.Err != nil && st.Result.Err.Code == errInterrupted
	}
	if !slices.ContainsFunc(h.Stmts, interrupted) {
		return h
	}
	out := *h
	out.Stmts = slices.Clone(h.Stmts)
	for i := range out.Stmts {
		if st := &out.Stmts[i]; interrupted(*st) {
			e := *st.Result.Err
			e.Code, e.State, e.Message = errLockTimeout, "HY000", "Lock wait timeout exceeded; try restarting transaction"
			st.Result.Err = &e
		}
	}
	return &out
}
