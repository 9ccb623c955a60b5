// Package rowlocks judges PostgreSQL's row locks at all levels by what is certain without a look at the rows: a
// statement waits for a row only if somebody can have locked one of the same table in a mode that conflicts, and a row
// that a transaction has surely locked is not locked by another one in a conflicting mode until the first has ended.
//
// For the first claim it knows the strongest lock that each statement can ask for, for the second the weakest that it
// must have taken on the rows that its answer names by their primary key. Between the two lies what it leaves open.
//
// https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
package rowlocks
