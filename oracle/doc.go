// Package oracle judges a History of a Case: is what was seen legal at the
// isolation levels that the server promised? It never talks to a database.
//
// It takes a case and a history and gives a Verdict: ok, known (which deviations of the rules
// table explain it), violation, or unknown, with the reason. Check follows the history on
// version chains under the rules (packages mvcc and rules). Judge asks, besides, whether the
// dependencies between transactions form a phenomenon that the levels exclude (package graph),
// and what the answers alone tell (package answers); the worst verdict wins. What only the
// server can compute is left to it as Questions.
package oracle
