// Command mutants plants mistakes in the oracle and demands that a test fails for each. The
// mistakes stand in mutants.txt beside it, each with its file, the text that it replaces and
// what it puts there; the sources are not touched (go test -overlay).
//
//	go run -tags notidb ./scripts/mutants
//	go run -tags notidb ./scripts/mutants -only gap
//
// All mistakes are built into the same test binaries, each behind a switch that the environment
// sets, and each in turn is switched on; tests count only if they pass with none switched on.
// Before anything is built each place must be found. Exit status: 0 no mistake
// survived, 1 one did or none was planted, 2 a place is not found, a mistake does not compile,
// tests fail without one, or wrong usage.
package main
