package innodb

import (
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// An explanation of a difference tries up to some hundred profiles, each with up to
// some hundred paths. Most deviations are never looked at on a path, and the second
// look for a path, which jumps over none, repeats those of the first. A replay along a
// path depends on nothing but the history, the choices laid down for it, whether it is
// loose, and what the profile says of the dimensions that it consulted. So where these
// are the same the result is.

// triedPath is what came of a path on which the history does not fit.
type triedPath struct {
	profile    *rules.Profile
	consulted  rules.Consulted
	difference *mvcc.Difference
	err        error
	blame      []int
	// after holds the choices as the path left them.
	after mvcc.Choices
	// spent is what it took from the budget.
	spent int
}
