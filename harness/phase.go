package harness

import (
	"sync/atomic"
	"time"
)

// Phase is a part of what a case takes of its worker's time.
type Phase uint8

// The phases, in the order in which a case goes through them.
const (
	// Make is what a case waits for its database and its tables to be made, and
	// for others to be dropped.
	Make Phase = iota
	// Refill brings tables that are there to their initial state.
	Refill
	// Connect gives the sessions connections, the database and their levels.
	Connect
	// Run sends the statements and takes their answers.
	Run
	// Ask asks the server who waits, between answers, and is what a CaseObserver
	// does before and behind the case.
	Ask
	// ReadBack reads the initial state, as far as it is not known, and the final
	// one, and holds it against the indexes.
	ReadBack
	// NumPhases is how many there are.
	NumPhases
)

var phaseNames = [NumPhases]string{"make", "refill", "connect", "run", "ask", "read_back"}

func (p Phase) String() string { return phaseNames[p] }

// Phases holds the time of each Phase, summed over cases and workers.
type Phases [NumPhases]time.Duration

// Minus returns what was spent since an earlier state of the same sums.
func (p Phases) Minus(earlier Phases) Phases {
	for i := range p {
		p[i] -= earlier[i]
	}
	return p
}

type phaseSums [NumPhases]atomic.Int64

func (s *phaseSums) load() (out Phases) {
	for i := range s {
		out[i] = time.Duration(s[i].Load())
	}
	return out
}

// charge adds the time since a moment to a phase, and returns it.
func (w *worker) charge(p Phase, since time.Time) time.Duration {
	d := time.Since(since)
	w.pool.stats.phases[p].Add(int64(d))
	return d
}
