package campaign

import (
	"context"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// askedShare is the share of a campaign's time that may go into asking for facts about
// cases with a known deviation: one part in so many.
const askedShare = 100

// sampler chooses cases with a known deviation: the 1st, 2nd, 4th, 8th of each kind, and
// so on, later where too much time went into the ones before.
type sampler struct {
	mu    sync.Mutex
	seen  map[string]int // cases of each kind
	due   map[string]int // which of them is to be asked about next
	spent time.Duration
}

// choose says whether the case of a kind that has just been seen is to be asked about;
// worked is the time of all workers so far.
func (s *sampler) choose(kind string, worked time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen, s.due = map[string]int{}, map[string]int{}
	}
	s.seen[kind]++
	n := s.seen[kind]
	if n < s.due[kind] || s.spent > worked/askedShare {
		return false
	}
	s.due[kind] = 2 * n
	return true
}

func (s *sampler) took(d time.Duration) {
	s.mu.Lock()
	s.spent += d
	s.mu.Unlock()
}

// askSome runs some of the cases with a known deviation again and asks for facts, which
// takes as long as some ten cases. One that is something else by the plans that the
// server tells is a defect of the oracle.
func (c *campaign) askSome(ctx context.Context, r *target.Trial) error {
	v := &r.Verdict
	if v.Outcome != oracle.Known || r.Dead != nil {
		return nil
	}
	begun := time.Now()
	if !c.sampled.choose(v.Fingerprint, begun.Sub(c.begun)*time.Duration(c.s.Workers)) {
		return nil
	}
	defer func() { c.sampled.took(time.Since(begun)) }()
	told := c.target.JudgeForFactsInPlace(ctx, r.Case, r.Levels)
	if ctx.Err() != nil || told.History == nil {
		return nil
	}
	refuted := findings.Refutes(&told, r)
	c.tally.asked(refuted)
	if !refuted {
		return nil
	}
	told.Verdict = judging.Refuted(v, &told.Verdict)
	return c.keepUnjudged(&told)
}
