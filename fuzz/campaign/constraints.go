package campaign

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// Constraints says how many of a campaign's cases have tables with foreign keys, triggers, checks
// and generated columns: one in so many; 0: none.
type Constraints int

// NoConstraints is the default, SomeConstraints what costs little beside the other cases: one that is
// judged by promise takes as long as ten or so that are not.
const (
	NoConstraints   Constraints = 0
	SomeConstraints Constraints = 256
	AllConstraints  Constraints = 1
)

// constrain puts cases with constraints in the place of a share of the cases of an input.
func (c *campaign) constrain(worker, n int, p *inputPlan, made []*corpus.Case) {
	if c.s.Constraints == NoConstraints {
		return
	}
	for i := range made {
		seed := inputSeed(c.s.Seed+1<<32, worker, n<<8+i)
		if seed%uint64(c.s.Constraints) != 0 {
			continue
		}
		made[i] = mutate.Constrained(seed, c.options(n))
		if i == 0 {
			p.weaving = nil
		}
	}
}
