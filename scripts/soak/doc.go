// Command soak runs many cases against a target in chunks and appends a line
// for each chunk to a tally, so that a run which was interrupted goes on where
// it stopped, with fresh seeds.
//
//	go run ./scripts/soak --target embedded --cases 100000
//	go run ./scripts/soak --table docs/deviations.md
//
// The second form runs nothing: it writes what the tally holds of each
// deviation as a table.
package main
