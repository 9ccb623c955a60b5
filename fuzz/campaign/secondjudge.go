package campaign

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// secondShare is the part of a campaign's time that the judge by promise may take for cases that
// the rules have judged: one in so many parts.
const secondShare = 25

// second is the time that went into it.
type second struct{ spent atomic.Int64 }

// due says whether there is time for another one.
func (s *second) due(elapsed time.Duration) bool {
	return time.Duration(s.spent.Load()) < elapsed/secondShare
}

// secondJudge lets the judge by promise judge some of the cases that the rules call ok. Where it
// finds a promise broken the case is saved: neither of the two is believed.
func (c *campaign) secondJudge(ctx context.Context, r *target.Trial) error {
	v := &r.Verdict
	begun := time.Now()
	if v.Outcome != oracle.OK || v.Oracle != "" || r.Dead != nil || r.Case.EndsSessions() || c.s.Solver == judging.BySolver ||
		!c.second.due(begun.Sub(c.begun)*time.Duration(c.s.Workers)) {
		return nil
	}
	g, err := c.target.RuleByPromise(ctx, r.Case, r.History)
	c.second.spent.Add(int64(time.Since(begun)))
	if err != nil { // it could not be asked; the next case meets what is wrong with the server
		return nil
	}
	if g.Unjudged == "" {
		c.tally.seconded(g.Broken)
	}
	if !g.Broken {
		return nil
	}
	own := *r
	own.Verdict = judging.JudgesDisagree(&g)
	return c.keepUnjudged(&own)
}
