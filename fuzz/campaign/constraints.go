package campaign

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// constrain puts cases with foreign keys, triggers, checks and generated columns in the place of the
// share of an input's cases that the settings want.
func (c *campaign) constrain(worker, n int, p *inputPlan, made []*corpus.Case) {
	for i := range made {
		seed := inputSeed(c.s.Seed+1<<32, worker, n<<8+i)
		if !c.s.Constraints.takes(seed) {
			continue
		}
		made[i] = mutate.Constrained(seed, c.options(n))
		if i == 0 {
			p.weaving = nil
		}
	}
}
