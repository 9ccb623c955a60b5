// Package replicaread judges what was read on a replica while a case ran on its primary: each read is to be a state of
// the primary, and those of a session do not go back, as far as the manual promises that.
//
// The states are those in which the primary was seen. Behind several statements that may have committed, and that were
// answered together, states in between were seen by nobody: what fits none that was seen, and can be one of those, is
// undecided.
package replicaread
