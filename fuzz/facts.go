package fuzz

import (
	"context"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// factRuns bounds the runs in which a server is asked for facts about a finding that
// does not show each time.
const factRuns = 3

// forFacts runs a finding that was confirmed once more, and asks the server for what it
// knows. It returns the run that showed the same, or r if none did: then nothing is
// told. refuted says that the server did the same, and that by the plans that it told
// this is no violation: then the oracle had foreseen another plan.
func forFacts(ctx context.Context, judge judgeFunc, r *Trial) (_ *Trial, refuted bool) {
	if judge == nil || r.Verdict.Kind == KindCrash || r.Verdict.Kind == KindLog || r.History == nil {
		return r, false
	}
	for range factRuns {
		t := judge(ctx, r.Case, r.Levels)
		if ctx.Err() != nil || t.History == nil {
			break
		}
		if t.Verdict.Fingerprint == r.Verdict.Fingerprint {
			return &t, false
		}
		if t.Verdict.Outcome != oracle.Violation && refutes(&t, r) {
			return &t, true
		}
	}
	return r, false
}

// refutes says that a run for facts is another thing than r, and would be the same
// without what the server told. That nothing can be said of it refutes nothing.
func refutes(told, r *Trial) bool {
	v := told.Verdict.Outcome
	return v != oracle.Unknown && told.Verdict.Fingerprint != r.Verdict.Fingerprint && judgedUntold(told).Fingerprint == r.Verdict.Fingerprint
}

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
func (c *campaign) askSome(ctx context.Context, r *Trial) error {
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
	refuted := refutes(&told, r)
	c.tally.asked(refuted)
	if !refuted {
		return nil
	}
	was := told.Verdict
	told.Verdict = oracle.Verdict{
		Outcome: oracle.Unknown, Stmt: -1, Reason: reasonPlan,
		Actual: "it is " + v.Fingerprint + ", and by the plans that the server told " + string(was.Outcome) + " " + was.Fingerprint,
	}
	return c.keepUnjudged(&told)
}

// reasonPlan is why a case is kept whose verdict changes with the plans that the server
// tells.
const reasonPlan = "plan-not-foreseen"

// judgedUntold is the verdict of a run without what the server told of it.
func judgedUntold(t *Trial) oracle.Verdict {
	h := *t.History
	h.Facts = nil
	return oracle.Judge(t.Case, &h, false)
}
