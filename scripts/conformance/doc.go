// Command conformance holds the statement solver against a live server.
//
//	go run ./scripts/conformance -target mariadb:11.8 -statements 100000 -pairs 8
//
// It prints what was compared and each difference. It makes a database
// txnfuzz_conformance_SEED of its own and drops it. With -table 'CHARSET=latin1' the tables
// have that option. With -record it writes a recording for the unit tests instead. Exit
// status: 0 no difference, 1 differences, 3 the server failed.
package main
