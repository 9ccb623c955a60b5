package target

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// ParseSolver reads model, server or both.
func ParseSolver(s string) (judging.Solver, error) {
	switch v := judging.Solver(s); {
	case s == "both":
		return judging.ByBoth, nil
	case v == judging.BySolver, v == judging.ByServer:
		return v, nil
	}
	return "", fmt.Errorf("unknown solver %q: want model, server or both", s)
}
