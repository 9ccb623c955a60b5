package campaign

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// endSessions has sessions killed, disconnected and connected anew in the share of an input's cases that
// the settings want: a case of one session has none.
func (c *campaign) endSessions(worker, n int, p *inputPlan, made []*corpus.Case) {
	for i := range made {
		seed := inputSeed(^c.s.Seed, worker, n<<8+i)
		if !c.s.Ends.takes(seed) {
			continue
		}
		if k := mutate.EndSessions(made[i], seed); k != nil {
			made[i] = k
			if i == 0 {
				p.weaving = nil // other statements stand between those of the pattern
			}
		}
	}
}
