// Package rowversions judges a history of PostgreSQL by the versions of rows that its statements tell: which version a
// statement read or replaced, and which it made. So it is known, and not inferred from values, who read from whom and who
// replaced what; also where an UPDATE changes no value, or two transactions write the same one.
//
// It claims what holds in any order that real time allows. A COMMIT takes effect at one moment between its submission and
// its answer, and a snapshot is taken at one moment: at READ COMMITTED while its statement runs, above it while the first
// statement of its transaction does.
//
//   - What is read is committed, or of the same transaction and not undone.
//   - A snapshot shows what was committed before it, and nothing that a transaction it shows has replaced.
//   - What locks or replaces a row at READ COMMITTED takes the version that is newest.
//   - Of the transactions that replace a version one commits.
//   - If all transactions are SERIALIZABLE, no cycle leads through those that committed, of who read from whom, who
//     replaced whose versions, and who replaced what another one has read.
//
// It says nothing of rows that are missing, of predicates and of values.
//
// https://www.postgresql.org/docs/current/transaction-iso.html
package rowversions
