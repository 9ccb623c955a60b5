package fuzz

import (
	"context"
	"time"
)

// work runs the cases of one worker. Each worker has a stream of inputs and a
// share of the cases of its own, so what is made does not depend on how fast
// the others are.
func (c *campaign) work(working, keeping context.Context, worker int) error {
	quota := -1
	if c.s.Cases > 0 {
		quota = c.s.Cases / c.s.Workers
		if worker < c.s.Cases%c.s.Workers {
			quota++
		}
	}
	judging := newFollower()
	c.runAll(working, keeping, worker, quota, judging)
	return judging.end()
}

// runAll runs the cases of one worker and hands each over to be judged.
func (c *campaign) runAll(working, keeping context.Context, worker, quota int, judging *follower) {
	for n := int(c.next[worker].Load()); quota != 0 && working.Err() == nil; n++ {
		if c.guide != nil {
			judging.drain() // what is made next depends on what was seen
		}
		begun := time.Now()
		p, made := c.input(worker, n)
		charge(&c.beside.input, begun)
		for i, made := range made {
			if quota == 0 || working.Err() != nil {
				return // what is left of the input is for those who resume
			}
			quota--
			c.keeper.quiet.RLock()
			r := c.target.execute(keeping, made, levelsWithin(made, c.levels, n))
			c.keeper.quiet.RUnlock()
			if keeping.Err() != nil {
				return // cut off, not judged
			}
			from := c.originOf(&p, worker, n, i)
			if !judging.do(func() error { return c.one(keeping, &r, &p, n, from) }) || r.Dead != nil {
				return
			}
		}
		judging.do(func() error { c.next[worker].Store(int64(n + 1)); return nil })
	}
}
