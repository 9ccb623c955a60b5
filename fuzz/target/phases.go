package target

import "github.com/txnfuzz/txnfuzz/harness"

// Spent returns what the runs of a target took, and how many there were; those of
// servers that died count too.
func (t *Target) Spent() (harness.Phases, int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	s := t.pool.Stats()
	for i, d := range t.before.Phases {
		s.Phases[i] += d
	}
	return s.Phases, int(s.Cases + t.before.Cases)
}

// remember keeps what a pool counted that is about to go; t.mu is held.
func (t *Target) remember(s harness.Stats) {
	t.before.Cases += s.Cases
	t.before.Replicated += s.Replicated
	t.before.Unsafe += s.Unsafe
	t.before.Watched += s.Watched
	t.before.Reads += s.Reads
	t.before.Refused += s.Refused
	for i, d := range s.Phases {
		t.before.Phases[i] += d
	}
}
