// Package pgsession holds the sessions of a PostgreSQL server that cases run on, and the questions
// of who waits for whom.
//
// A Session logs in through pgconn and speaks the simple protocol by itself afterwards: values come as
// texts, and the runner can wait for the sockets of many sessions at once. The statements of a text
// of several are one transaction to PostgreSQL unless the text begins one: what comes before the
// statement that fails is undone, and what comes before a BEGIN belongs to the transaction that it
// begins. A statement such as VACUUM or CREATE DATABASE must be alone in its text.
// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT
package pgsession
