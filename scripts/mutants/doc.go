// Command mutants plants mistakes in the oracle, one at a time, and demands
// that a test fails for each. The mistakes stand in mutants.txt beside it, each with its file,
// the text that it replaces and what it puts there; the sources are not touched
// (go test -overlay).
//
//	go run -tags notidb ./scripts/mutants
//	go run -tags notidb ./scripts/mutants -only gap
//
// Before it plants any it makes sure that each place is found. Exit status: 0 no mistake
// survived, 1 one did or none was planted, 2 a place is not found, or wrong usage.
package main
