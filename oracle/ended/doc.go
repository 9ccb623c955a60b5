// Package ended turns a history in which sessions are killed, disconnected and connected anew
// into histories in which they are not, which every judge can read: statement for statement, so
// that what is said of one is said of the other.
//
// What KILL tx2 and disconnect do to the data is a ROLLBACK of that session, sent once its last
// statement has returned; the session that is connected anew is another one, whose state is that of a new
// one. A statement that a KILL has ended is one whose wait for a lock took too long: it is undone,
// and its transaction stays open. What is not sent, since its session is gone, is a statement
// that does nothing.
//
// Where the answer does not tell whether a statement took effect, there is a history for each way
// in which it may have been.
//
// https://dev.mysql.com/doc/refman/en/kill.html
// https://dev.mysql.com/doc/refman/en/innodb-error-handling.html
// https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/kill
// https://docs.pingcap.com/tidb/stable/sql-statement-kill
package ended
