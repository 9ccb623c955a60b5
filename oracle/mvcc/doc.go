// Package mvcc replays a history on version chains (oracle/versions), statement by statement,
// and compares each answer with what the rules predict.
//
// A Replay takes a case, a history and a profile of rules, and gives the first Difference
// between an answer and what the profile predicts, or the dependencies between the
// transactions; a Loss says what it cannot follow. It never guesses who waits: that is in the
// history. What a statement sees, locks and waits for is the affair of an Engine, one for each
// way of isolation (oracle/engines chooses it); here is what all of them share: sessions and
// their levels, savepoints, the comparison, the choices that a history leaves open, and what
// each statement met. Dependencies are those of Adya, "Weak Consistency" (1999), sections 3.1
// and 4.
package mvcc
