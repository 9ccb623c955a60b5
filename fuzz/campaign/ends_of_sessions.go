package campaign

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// SessionEnds says in how many of a campaign's cases sessions are killed, disconnected and
// connected anew: in one of so many; 0: in none.
type SessionEnds int

// NoEnds is the default, SomeEnds what costs little beside the other cases, and AllEnds as many as
// possible: a case of one session has none.
const (
	NoEnds   SessionEnds = 0
	SomeEnds SessionEnds = 64
	AllEnds  SessionEnds = 1
)

// endSessions ends sessions in the share of the cases of an input that the settings want.
func (c *campaign) endSessions(worker, n int, p *inputPlan, made []*corpus.Case) {
	if c.s.Ends == NoEnds {
		return
	}
	for i := range made {
		seed := inputSeed(^c.s.Seed, worker, n<<8+i)
		if seed%uint64(c.s.Ends) != 0 {
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
