// Package transactions follows in which transactions PostgreSQL's sessions are, by their statements and whether these
// succeeded, for the judges that look at no rows: when a transaction begins and ends, what goes back to a savepoint or is
// aborted, and which session ends.
//
// https://www.postgresql.org/docs/current/tutorial-transactions.html
package transactions
