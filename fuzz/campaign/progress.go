package campaign

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
	nobody := c.s.keepReport == nil && c.state == nil && c.s.Live == nil
	last, at := newCounts(), c.begun
	for {
		select {
		case <-done:
			return
		case now := <-tick.C:
			counts := c.tally.snapshot()
			line := progressLine(now.Sub(c.begun), now.Sub(at), &last, &counts, len(c.keeper.Findings()))
			if c.s.Phases {
				spent, runs := c.spent()
				line += "  " + c.beside.times(spent, runs).Text()
			}
			if c.s.Area {
				line = c.areaLine(now, at, &last, &counts)
			}
			fmt.Fprintln(c.s.Progress, line)
			last, at = counts, now
		case <-keep.C:
			counts := c.tally.snapshot()
			c.recorded.add(c.point(&counts))
			if nobody {
				continue
			}
			r := c.report()
			err := c.keepState(r)
			if c.s.keepReport != nil || c.s.Live != nil {
				r.Doing, r.Jobs = c.atWork(), c.keeper.Jobs()
			}
			if c.s.keepReport != nil {
				err = errors.Join(err, c.s.keepReport(r))
			}
			if c.s.Live != nil {
				c.s.Live(r)
			}
			if err != nil {
				c.s.logf("warning: %v", err)
			}
		}
	}
}

// AreaMark begins a line of progress that stands for several rows of the terminal,
// and separates the rows. They travel as one line, since a campaign may run in a
// child process whose output is read line by line.
const AreaMark = "\x1d"

// areaLine tells how a campaign stands, in the rows of an area that is drawn again
// and again.
func (c *campaign) areaLine(now, at time.Time, last, counts *Counts) string {
	since := max(now.Sub(at).Seconds(), 1e-3)
	findings := c.keeper.Findings()
	doing, waiting := c.keeper.Waiting()
	of := func(o oracle.Outcome) int { return counts.Verdicts[o] }
	rows := []string{
		fmt.Sprintf("%s: %s, %.0f a second; %.0f %% in conflict, %.1f %% judged",
			now.Sub(c.begun).Round(time.Second), Count(counts.Cases, "case"), float64(counts.Cases-last.Cases)/since, 100*counts.Conflicting(), 100*counts.Judged()),
		fmt.Sprintf("ok %d, known %d, violation %d, unknown %d", of(oracle.OK), of(oracle.Known), of(oracle.Violation), of(oracle.Unknown)),
		fmt.Sprintf("%s; confirming or reducing %d, waiting %d", Count(len(findings), "finding"), doing, waiting),
	}
	if n := len(findings); n > 0 {
		newest := &findings[0]
		for i := range findings {
			if findings[i].FirstSeen > newest.FirstSeen {
				newest = &findings[i]
			}
		}
		rows = append(rows, fmt.Sprintf("last after %.0f s: %s", newest.FirstSeen, newest.ID))
	}
	return AreaMark + strings.Join(rows, AreaMark)
}

// Count is a number with its noun: 1 case, 2 cases.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// progressLine tells the rates since the last line and the sums since the
// start.
func progressLine(total, since time.Duration, last, now *Counts, findings int) string {
	rate := func(a, b int) float64 { return float64(b-a) / max(since.Seconds(), 1e-3) }
	parts := []string{
		fmt.Sprintf("%5.0fs", total.Seconds()),
		fmt.Sprintf("%s (%.0f/s)", Count(now.Cases, "case"), rate(last.Cases, now.Cases)),
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
