package mvcc

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// ruleset is the rules of one transaction. It notes each dimension that is looked
// at: a replay under another profile that says the same of all of them goes the same
// way, and need not be gone again (see gone).
type ruleset struct {
	set       *rules.Set
	consulted *rules.Dimensions
}

func (s ruleset) of(d rules.Dimension) rules.Variant {
	s.consulted.Add(d)
	return s.set[d]
}

// rulesAt returns the rules of a level. A replay has no other way to its profile, so
// that no look at it goes unnoticed.
func (r *Replay) rulesAt(l corpus.Level) ruleset {
	return ruleset{r.profile.At(l), &r.consulted[l]}
}
