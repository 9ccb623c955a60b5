// Package mvcc is the external multi-version store that the oracle replays a
// history on: version chains, transactions, read views.
//
// A Replay takes a case, a history and a profile of rules, and gives the first Difference
// between an answer and what the profile predicts, or the dependencies between the
// transactions; a Loss says what it cannot follow. It never guesses who waits: that is in the
// history. Dependencies are those of Adya, "Weak Consistency" (1999), sections 3.1 and 4.
package mvcc
