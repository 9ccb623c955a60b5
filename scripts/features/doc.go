// Command features measures what the generator makes of the forms of statements
// beside the plain ones: how often each is made, meets a statement of another open
// transaction, and is judged there. It runs a campaign on each target given, keeps
// the counts, and writes what it has of all targets as a table.
//
//	go run ./scripts/features --cases 20000 mysql:9.7 mariadb:11.8 embedded
//	go run ./scripts/features           # run nothing; write the table
package main
