// Command record runs saved cases on live servers and writes what was seen as
// lines that the oracle's tests judge again without a server.
//
//	go run ./scripts/record -target mariadb:11.8 -levels RR,SER -note "…" case.sql >> oracle/testdata/innodb-known.jsonl
package main
