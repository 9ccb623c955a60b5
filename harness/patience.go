package harness

import (
	"context"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const (
	// stuckAfter is how long nothing at all must have come about, besides the
	// case's time being up, before its sessions count as stuck; at most as long
	// as the case's time was.
	stuckAfter = 3 * time.Second
	// promptly is what a server needs at most for a statement that does nothing,
	// on a machine that gives it the processor: a thousand times the usual.
	promptly = 50 * time.Millisecond
)

// standing says what it means that a case's time is up.
type standing uint8

const (
	goOn      standing = iota // it is not, or not long enough
	stuck                     // nothing moves although the server is prompt
	outOfTime                 // the machine is too slow for this case
)

// timeUp tells a server that never answers from a machine with too much else
// to do. Only a case whose time is up pays for it, with a round trip.
func (r *run) timeUp(ctx context.Context) (standing, error) {
	now := time.Now()
	if now.Before(r.end) {
		return goOn, nil
	}
	late := now.After(r.end.Add(r.w.pool.opt.DeadLine))
	if now.Sub(r.moved) < r.patience() {
		if late {
			return outOfTime, nil
		}
		return goOn, nil
	}
	if _, err := r.w.control("SELECT 1"); err != nil {
		return stuck, lostUnlessCancelled(ctx, err)
	}
	switch {
	case time.Since(now) < promptly:
		return stuck, nil
	case late:
		return outOfTime, nil
	}
	r.moved = time.Now()
	return goOn, nil
}

// untilTimeUp is how long to wait before timeUp can say something new.
func (r *run) untilTimeUp() time.Duration {
	return max(time.Until(r.end), time.Until(r.moved.Add(r.patience())), gateMax)
}

func (r *run) patience() time.Duration { return min(stuckAfter, r.w.pool.opt.DeadLine) }

// endsAs maps what timeUp found to how the History ends.
var endsAs = map[standing]history.End{stuck: history.Stuck, outOfTime: history.Unfinished}
