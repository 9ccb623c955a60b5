// Package invariant holds workloads of a load whose checks need no order of the
// transactions: what must hold of the rows in every state holds in each snapshot that
// the level promises, and at the end of each epoch, whoever came first.
//
// A Workload defines tables and makes the transactions of clients. The state of an epoch
// keeps what was acknowledged, holds the reads of committed transactions against each
// other, and reads everything when the epoch ends.
package invariant
