// Package graph holds dependency graphs of recorded histories: int32 nodes, a
// compressed row of edges for each, strongly connected components without
// recursion, and shortest cycles.
//
// Kinds of edges follow Adya, "Weak Consistency" (1999), section 4.3: read
// (wr), write (ww) and anti-dependencies (rw), on items and on predicates;
// beside them the order of sessions and of real time.
package graph
