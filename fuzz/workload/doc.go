// Package workload tests what an application's transactions do to each other: it runs
// them against each other at the isolation levels of a server, and each alone in every
// serial order, and tells what no serial order gives.
//
// It takes a workload (package corpus/workload) and a server, and gives a Report: a cell for
// each set of transactions and level, and findings, each with the smallest case, the class of
// its cause and what would mend it. Anomalies of a run that is as the server promises are the
// application's, those of one that is not are the server's.
package workload
