// Command txnfuzz finds isolation bugs in transactional databases: it makes
// cases of several transactions, runs them, and judges what the server did.
//
// Each file holds one subcommand or what several share; what they do is done by the packages
// under fuzz. Exit status: 0 nothing found, 1 something found, 2 wrong usage, 3 txnfuzz or
// the server failed.
package main
