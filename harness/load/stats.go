package load

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// counts is what the clients did so far.
type counts struct {
	ok, fail, info atomic.Int64
	given          atomic.Int64 // of fail: rolled back as planned
	faults         atomic.Int64
	// Of backups: how many, how many were complete while clients worked, and the nanoseconds that they took, and then
	// that it took until they were read.
	backups, backupsBeside atomic.Int64
	backing, reading       atomic.Int64

	mu         sync.Mutex
	codes      map[code]int64
	unexpected int64
}

func (c *counts) all() int64 { return c.ok.Load() + c.fail.Load() + c.info.Load() }

// backedUp counts a backup: how long it took, and its reading then; beside: clients worked until it was complete.
func (c *counts) backedUp(took, read time.Duration, beside bool) {
	c.backups.Add(1)
	c.backing.Add(int64(took))
	c.reading.Add(int64(read))
	if beside {
		c.backupsBeside.Add(1)
	}
}

func (c *counts) aborted(s kv.Status, by code) {
	if s == kv.Info {
		c.info.Add(1)
	} else {
		c.fail.Add(1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.codes == nil {
		c.codes = map[code]int64{}
	}
	c.codes[by]++
}

// rolledBack counts a transaction that its client gave up by itself.
func (c *counts) rolledBack() {
	c.fail.Add(1)
	c.given.Add(1)
}

// byName returns how many transactions ended with which error.
func (c *counts) byName() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]int64, len(c.codes)+1)
	if n := c.given.Load(); n > 0 {
		out["rolled back as planned"] = n
	}
	for by, n := range c.codes {
		out[by.String()] += n
	}
	return out
}

// fewErrors is how many strange errors are no reason to give up.
const fewErrors = 50

// unexpected counts an error that competition does not explain, and returns it
// when most transactions end so.
func (r *run) unexpected(err error) error {
	c := &r.count
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unexpected++
	if c.unexpected >= fewErrors && 2*c.unexpected > c.all() {
		return fmt.Errorf("%w: %w", errStrange, err)
	}
	return nil
}

// watch writes a line of progress now and then, and hands on the report so far, until done is closed.
func (r *run) watch(j *judge, done <-chan struct{}) {
	var tick, second <-chan time.Time
	if r.settings.Progress != nil && r.settings.Every > 0 {
		t := time.NewTicker(r.settings.Every)
		defer t.Stop()
		tick = t.C
	}
	if r.settings.Live != nil {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		second = t.C
	}
	last, at := int64(0), time.Now()
	for {
		select {
		case <-done:
			return
		case <-second:
			so := j.report()
			so.Seconds = time.Since(r.begun).Seconds() // the judge knows its end only
			r.settings.Live(so)
		case now := <-tick:
			n := r.count.all()
			fmt.Fprintln(r.settings.Progress, r.line(j, float64(n-last)/now.Sub(at).Seconds()))
			last, at = n, now
		}
	}
}

// line is one of progress; rate is in transactions a second.
func (r *run) line(j *judge, rate float64) string {
	all := r.count.all()
	aborts := 0.0
	if all > 0 {
		aborts = 100 * float64(r.count.fail.Load()) / float64(all)
	}
	s := fmt.Sprintf("%4.0fs  %d transactions, %.0f/s, %.1f %% aborted, %d unknown", time.Since(r.begun).Seconds(), all, rate, aborts, r.count.info.Load())
	if n := r.count.faults.Load(); n > 0 {
		s += fmt.Sprintf(", %d faults", n)
	}
	return s + "; " + j.line()
}
