package campaign

import (
	"context"
	"runtime"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
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

// flight is a case that is on its way: prepared, run or read back.
type flight struct {
	done chan target.Trial
	// land hands the trial over to be judged; false: there is to be no other.
	land func(target.Trial) bool
}

// runAll runs the cases of one worker and hands each over to be judged, in their
// order. Up to two are on their way, of which one runs: the next follows at once, and
// where the target works ahead its tables are made and filled meanwhile.
func (c *campaign) runAll(working, keeping context.Context, worker, quota int, judging *follower) {
	var ahead *flight
	landed := func() bool { // what is on its way
		f := ahead
		ahead = nil
		return f == nil || f.land(<-f.done)
	}
	defer func() {
		if ahead != nil {
			landed()
		}
	}()
	for n := int(c.next[worker].Load()); quota != 0 && working.Err() == nil; n++ {
		if c.guide != nil || c.patterns != nil {
			judging.drain() // what is made next depends on what was seen
		}
		begun := time.Now()
		p, made := c.input(worker, n)
		charge(&c.beside.input, begun)
		for i, k := range made {
			if quota == 0 || working.Err() != nil {
				return // what is left of the input is for those who resume
			}
			quota--
			k = c.s.sentBy(k, worker, n, i)
			from := c.originOf(&p, worker, n, i)
			last := i == len(made)-1
			f := c.take(keeping, worker, k, n, func(r target.Trial) bool {
				if keeping.Err() != nil {
					return false // cut off, not judged
				}
				if !judging.do(func() error { return c.one(keeping, &r, &p, n, from) }) || r.Dead != nil {
					return false
				}
				if last {
					judging.do(func() error { c.next[worker].Store(int64(n + 1)); return nil })
				}
				return true
			})
			ok := landed()
			ahead = f
			if !ok {
				return
			}
		}
	}
}

// take sets a case of a worker on its way.
func (c *campaign) take(
	keeping context.Context, worker int, k *corpus.Case, n int, land func(target.Trial) bool,
) *flight {
	f := &flight{done: make(chan target.Trial, 1), land: land}
	go func() {
		defer c.keeper.Hold()()
		levels := levelsWithin(k, c.levels, n)
		c.doing[worker].Store(&flown{n, levels, time.Now()})
		if c.versus != nil {
			f.done <- c.versus.execute(keeping, k, levels)
			return
		}
		f.done <- c.on(worker).RunSampled(keeping, k, levels)
	}()
	return f
}

// ahead says whether the tables of the next case are made while a case runs. That
// shortens a case by what is waited for, and takes a fifth more of the processors:
// statements that run beside it take longer and are asked after more often. So it is
// for servers elsewhere and for processors that are idle; see docs/speed.md. It is for replicas, too: what one case
// waits for until the replica has come as far, the next one runs in.
func ahead(name string, workers int) bool {
	const busy = 3 // processors that a worker, its server and its judging keep busy
	return target.IsDSN(name) || target.OfSeveral(name) || (workers+1)*busy <= runtime.GOMAXPROCS(0)
}
