// Package advisory judges PostgreSQL's advisory locks: who waits for them, what those that do not wait are told, and
// whether a session holds what it gives back. It knows no rows, and goes by what is certain: a lock is held for sure
// from the answer to the statement that took it until the statement is sent that gives it back, and perhaps from when
// the first was sent until the answer to the second.
//
// https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
// https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS
package advisory
