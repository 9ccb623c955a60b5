// Package notify judges PostgreSQL's notifications: what a committed transaction notified reaches each session once
// that listened, in order, and nothing else reaches anybody. It knows no rows, and goes by what is certain: a LISTEN is
// in force for sure from the answer to its COMMIT until the UNLISTEN's is sent, and perhaps from when the first was
// sent until the answer to the second.
//
// https://www.postgresql.org/docs/current/sql-listen.html
// https://www.postgresql.org/docs/current/sql-notify.html
package notify
