package campaign

import "os"

// ExitCovered ends the process with status 0 if GOCOVERDIR asks for the line
// coverage of a program built with -cover, which Go writes at os.Exit only: the
// engines of fuzzing end their processes otherwise.
func ExitCovered() {
	if os.Getenv("GOCOVERDIR") != "" {
		os.Exit(0)
	}
}
