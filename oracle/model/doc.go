// Package model says, as data, what anomalies of recorded histories there are,
// which consistency models forbid which, and what each database promises.
//
// Names and lattice follow Adya, "Weak Consistency" (1999), Cerone and Gotsman,
// "Analysing Snapshot Isolation" (2016), Daudjee and Salem (2004, 2006) for the
// variants by session, and https://jepsen.io/consistency, so a verdict here can
// be compared with one of Elle.
package model
