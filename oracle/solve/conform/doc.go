// Package conform holds the statement solver against live servers: it makes
// random single statements, runs them on a server and compares rows, counts,
// errors and the table behind them with what the solver predicts.
//
// A Checker takes a connection and a database of its own; its Report counts what was compared
// and keeps the differences. A recording of such a comparison is replayed without a server.
package conform
