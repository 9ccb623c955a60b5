package fuzz

import (
	"context"
	"errors"
	"sync"
	"time"
)

// run drives the workers.
func (c *campaign) run(ctx context.Context) error {
	// Findings may finish a little after the last case; Ctrl-C ends them too.
	keeping, stopKeeping := context.WithCancel(ctx)
	defer stopKeeping()
	working := ctx
	if c.s.Duration > 0 {
		var cancel context.CancelFunc
		working, cancel = context.WithTimeout(ctx, c.s.Duration)
		defer cancel()
		late := time.AfterFunc(c.s.Duration+finishing, stopKeeping)
		defer late.Stop()
	}
	working, c.stop = context.WithCancelCause(working)
	defer c.stop(nil)

	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Add(1)
	go func() {
		defer watching.Done()
		c.watch(done)
	}()
	var workers sync.WaitGroup
	for w := range c.s.Workers {
		workers.Add(1)
		go func() {
			defer workers.Done()
			if err := c.work(working, keeping, w); err != nil {
				c.stop(&stopped{err})
			}
		}()
	}
	workers.Wait()
	close(done)
	watching.Wait()
	var why *stopped
	if errors.As(context.Cause(working), &why) {
		return why.err
	}
	return nil
}

// stopped is the cause of an end that is neither a bound nor the user's wish.
type stopped struct{ err error }

func (s *stopped) Error() string { return s.err.Error() }
