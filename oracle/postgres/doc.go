// Package postgres replays histories of PostgreSQL at READ COMMITTED; READ UNCOMMITTED is the
// same there. It takes a replay of package mvcc and gives the first difference between an
// answer and what the isolation level allows. Its tests against a server need the build tag postgres.
//
// Each statement has its own snapshot. An UPDATE, a DELETE or a locking SELECT finds its rows
// by it, waits for those that another transaction has changed or locked, and then takes the
// newest version, on which it evaluates the condition again; PostgreSQL calls this re-check
// EvalPlanQual. Since nobody can change a row that the statement has locked, it does not
// matter in which order it met its rows: each counts as it is when the statement ends.
//
// It follows the manual, which leaves out only what becomes of savepoints' locks and of the
// duplicates that one statement passes through:
//
//   - https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
//   - https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
//   - https://www.postgresql.org/docs/current/index-unique-checks.html
//
// The package computes no SQL. Rows and errors of a statement, given the rows that it reads,
// are answers of a server to a history.Question, which the history holds (History.Answers):
// what it lacks is in the questions of the replay (solve.Asking.Questions), and the history
// cannot be judged before they are answered, which a server may do while it is replayed
// (solve.Asking.AnsweredBy). Values are compared as the texts that the server
// prints, which for INT and TEXT are equal where the values are.
package postgres
