// Package sequence judges PostgreSQL's sequences: no two calls of nextval get the same value, whatever becomes of their
// transactions, later ones get greater values, and currval and lastval tell what their session got last.
//
// https://www.postgresql.org/docs/current/functions-sequence.html
// https://www.postgresql.org/docs/current/sql-createsequence.html
package sequence
