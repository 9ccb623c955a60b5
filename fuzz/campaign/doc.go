// Package campaign makes cases and chooses among them, by the thousand. It takes Settings,
// has the cases run on a target, hands to package findings what is wrong, and gives a
// Report: what was counted and what was found.
//
// Run is a campaign of txnfuzz, with workers, a guide that keeps inputs of rare behaviour,
// and a process of its own where the server may take it down. A Pair is what engines of
// fuzzing drive instead, with inputs of theirs.
package campaign
