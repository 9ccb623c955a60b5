// Package promise judges a history by what an isolation level promises, and knows no engine and
// no SQL: the server is the calculator. Whole transactions, or single statements, are run alone in
// a copy of the tables that holds the state which they were promised, and what they answer there
// is what they had to answer. So foreign keys, triggers, generated columns and checks need no
// model.
//
// The state of a database is a set of rows for each table. A transaction's writes are the rows by
// which the copy differs behind them. Two judges share this:
//
//   - serial (SERIALIZABLE): some order of the committed transactions that real time allows gives
//     each, run alone behind those before it, its answers, and the tables their content in the end.
//   - by statement (the other levels): each statement, run alone on what it was promised to see
//     beside the transaction's own writes, gives its answer; the committed writes, in the order of
//     the commits, give the content in the end.
//
// What each DBMS promises at each level stands in table.go, with the manual's sentence. What no
// single state can show is not judged, and counted: see undetermined.go and Ruling.Unjudged. An ok
// of this judge speaks of answers and states only: a statement that did not wait where it had to is
// noticed by its answers, or not at all; so are the wrong victim, and what the server does wrong
// alone as well. A constraint that does not hold in the end is noticed all the same (invariant.go).
package promise
