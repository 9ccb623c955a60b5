// Package harness executes cases on a live DBMS and records what it was seen
// to do.
//
// A Pool takes a case and levels and gives a history.History; it sends the lines of the case
// in the submitted order, and asks a Prober which statements wait, so that no time-out decides
// that. It knows the server by interfaces: a Database opens Sessions, which execute statements,
// and Probers. Backends of MySQL's protocol register themselves under a target name; their
// Sessions are those of go-sql-driver/mysql, and what that driver keeps to itself is read off
// the protocol
// (https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html).
package harness
