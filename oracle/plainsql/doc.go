// Package plainsql computes what PostgreSQL answers to the plainest statements of a case: those on one table, in which
// whole numbers, decimals, and texts that are the same or not decide. It saves a question to the server, which is what
// judging a case of PostgreSQL costs most.
//
// It knows no error but that of a key that is taken, no order of rows that a statement leaves open and no value that
// leaves its type: where one of these comes into it, and for all other SQL, it has no answer. What it answers is what
// the server answers, character for character, but for the text of that error; the tests hold it against servers. Who
// judges by it asks the server all the same before a case counts as a violation, and now and then otherwise.
//
//   - values and their comparison: https://www.postgresql.org/docs/current/functions-comparison.html
//   - three-valued logic: https://www.postgresql.org/docs/current/functions-logical.html
//   - an UPDATE computes from the row as it was: https://www.postgresql.org/docs/current/sql-update.html
package plainsql
