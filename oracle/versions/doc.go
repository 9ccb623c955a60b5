// Package versions holds what a replay writes and reads: tables of version chains, the
// transactions that wrote the versions, what these hold locked, and views, which tell the
// versions that a read sees. It takes rows and gives rows; who may see what when is for the
// engines to say (oracle/innodb, oracle/tidb, oracle/postgres), by the rules of each transaction.
//
// Version order and visibility are those of Adya, "Weak Consistency" (1999), sections 3 and 4.
package versions
