package versions

import (
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// Ruleset is the rules of one transaction. It notes each dimension that is looked
// at: a replay under another profile that says the same of all of them goes the same
// way, and need not be gone again.
type Ruleset struct {
	Set       *rules.Set
	Consulted *rules.Dimensions
}

func (s Ruleset) Of(d rules.Dimension) rules.Variant {
	s.Consulted.Add(d)
	return s.Set[d]
}
