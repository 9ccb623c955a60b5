package campaign

import (
	"context"
	"errors"
	"sync"
	"time"
)

// lastCase is how long a case may still take that runs when the time is up.
// Confirming and reducing are cut off at once: the finding has been saved, and its
// file says that it is unconfirmed, or holds the case before its reduction.
const lastCase = 300 * time.Millisecond

// until is when the time of a campaign is up, which began at one time and whose
// server was there at another: --duration counts from the beginning. But a
// server that takes most of the time to start (the first one of its kind makes a
// data directory) leaves half of it for cases.
func until(begun, opened time.Time, d time.Duration) time.Time {
	end, least := begun.Add(d), opened.Add(d/2)
	if end.Before(least) {
		return least
	}
	return end
}

// run drives the workers, and what is done with findings beside them.
func (c *campaign) run(ctx context.Context) error {
	// Ctrl-C ends both at once.
	keeping, stopKeeping := context.WithCancel(ctx)
	defer stopKeeping()
	working := ctx
	if c.s.Duration > 0 {
		var cancel context.CancelFunc
		end := until(c.asked, c.begun, c.s.Duration)
		working, cancel = context.WithDeadline(ctx, end)
		defer cancel()
		late := time.AfterFunc(time.Until(end)+lastCase, stopKeeping)
		defer late.Stop()
	}
	working, c.stop = context.WithCancelCause(working)
	defer c.stop(nil)

	done := make(chan struct{})
	var watching sync.WaitGroup
	none := newCounts()
	c.recorded.add(c.point(&none))
	watching.Go(func() { c.watch(done) })
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		if err := c.keeper.WorkOff(keeping); err != nil {
			c.stop(&stopped{err})
		}
	}()
	c.versus.begin(ctx, keeping, func(err error) { c.stop(&stopped{err}) })
	var workers sync.WaitGroup
	for w := range c.s.Workers {
		workers.Go(func() {
			if err := c.work(working, keeping, w); err != nil {
				c.stop(&stopped{err})
			}
		})
	}
	workers.Wait()
	c.keeper.NoMore()
	c.versus.noMore()
	var why *stopped
	if errors.As(context.Cause(working), &why) {
		stopKeeping() // the server or the disk is gone
	}
	<-kept
	c.versus.end()
	close(done)
	watching.Wait()
	if errors.As(context.Cause(working), &why) {
		return why.err
	}
	return nil
}

// stopped is the cause of an end that is neither a bound nor the user's wish.
type stopped struct{ err error }

func (s *stopped) Error() string { return s.err.Error() }

// close ends what the campaign has opened, all at a time. It returns the end of
// the servers in bench and fresh too.
func (c *campaign) close() error {
	ends := []func() error{c.target.Close, c.closeOthers, c.versus.close}
	if k := c.keeper; k != nil {
		ends = append(ends, k.Bench.Close, k.Fresh.End)
	}
	errs := make([]error, len(ends))
	var all sync.WaitGroup
	for i, end := range ends {
		all.Go(func() { errs[i] = end() })
	}
	all.Wait()
	return errors.Join(errs...)
}
