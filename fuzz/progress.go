package fuzz

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// lineWriter lets several goroutines write whole lines.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// keepEvery is how often the report so far is handed to keepReport: what a
// death of the process may cost of the counts.
const keepEvery = time.Second

// watch writes a line of progress, and hands on the report so far, every now
// and then until done is closed.
func (c *campaign) watch(done <-chan struct{}) {
	every := c.s.Every
	if c.s.Progress == nil || every <= 0 {
		every = math.MaxInt64
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	keep := time.NewTicker(keepEvery)
	defer keep.Stop()
	if c.s.keepReport == nil && c.state == nil {
		keep.Stop()
	}
	last, at := newCounts(), c.begun
	for {
		select {
		case <-done:
			return
		case now := <-tick.C:
			counts := c.tally.snapshot()
			line := progressLine(now.Sub(c.begun), now.Sub(at), &last, &counts, len(c.keeper.Findings()))
			if c.s.Phases {
				spent, runs := c.target.spent()
				line += "  " + c.beside.times(spent, runs).text()
			}
			fmt.Fprintln(c.s.Progress, line)
			last, at = counts, now
		case <-keep.C:
			r := c.report()
			err := c.keepState(r)
			if c.s.keepReport != nil {
				err = errors.Join(err, c.s.keepReport(r))
			}
			if err != nil {
				c.s.logf("warning: %v", err)
			}
		}
	}
}

// progressLine tells the rates since the last line and the sums since the
// start.
func progressLine(total, since time.Duration, last, now *Counts, findings int) string {
	rate := func(a, b int) float64 { return float64(b-a) / max(since.Seconds(), 1e-3) }
	parts := []string{
		fmt.Sprintf("%5.0fs", total.Seconds()),
		fmt.Sprintf("%d cases (%.0f/s)", now.Cases, rate(last.Cases, now.Cases)),
		fmt.Sprintf("%.0f statements/s", rate(last.Statements, now.Statements)),
		fmt.Sprintf("judged %.1f%%", 100*now.Judged()),
		fmt.Sprintf("blocked %d", now.Blocked),
		fmt.Sprintf("deadlocks %d", now.Deadlocks),
		fmt.Sprintf("conflicting %.0f%%", 100*now.Conflicting()),
		fmt.Sprintf("unknown %d", now.Verdicts[oracle.Unknown]),
		fmt.Sprintf("known %d", now.Verdicts[oracle.Known]),
		fmt.Sprintf("findings %d", findings),
	}
	return strings.Join(parts, "  ")
}
