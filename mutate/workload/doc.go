// Package workload makes what a run of a workload needs from bytes: the rows of its
// tables, which transactions run with which parameters, and in which order.
//
// It takes a workload (package corpus/workload) and bytes and gives an Input; the same bytes
// give the same one. Sets lists which transactions can meet at all, and Dangerous which of
// those can give an anomaly of snapshot isolation (Fekete et al., "Making Snapshot Isolation
// Serializable", TODS 30(2), 2005).
package workload
