package campaign

import (
	"context"
	"errors"
	"sync"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
)

// openOthers opens a server of its own for each worker behind the first, where a server is to
// run one case at a time.
func (c *campaign) openOthers(ctx context.Context, o target.Options) error {
	if !c.target.Solitary() || c.s.Against != "" {
		return nil
	}
	o.Workers = 1
	others, errs := make([]*target.Target, c.s.Workers-1), make([]error, c.s.Workers-1)
	var all sync.WaitGroup
	for i := range others {
		all.Go(func() { others[i], errs[i] = target.Open(ctx, c.s.Target, o) })
	}
	all.Wait()
	for _, t := range others {
		if t != nil {
			c.others = append(c.others, t)
		}
	}
	return errors.Join(errs...)
}

// closeOthers ends the servers of the workers behind the first.
func (c *campaign) closeOthers() error {
	errs := make([]error, len(c.others))
	var all sync.WaitGroup
	for i, t := range c.others {
		all.Go(func() { errs[i] = t.Close() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// on returns the target that runs the cases of a worker.
func (c *campaign) on(worker int) *target.Target {
	if worker == 0 || len(c.others) == 0 {
		return c.target
	}
	return c.others[worker-1]
}

// spent sums what the targets of all workers spent, and their runs.
func (c *campaign) spent() (harness.Phases, int) {
	sum, runs := c.target.Spent()
	for _, t := range c.others {
		more, n := t.Spent()
		for i, d := range more {
			sum[i] += d
		}
		runs += n
	}
	return sum, runs
}

// restarts counts the servers that died and were replaced.
func (c *campaign) restarts() int {
	n := c.target.Restarts()
	for _, t := range c.others {
		n += t.Restarts()
	}
	return n
}
