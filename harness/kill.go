package harness

import (
	"fmt"
	"strconv"
	"time"
)

// kill ends the sessions of a case that could not be ended otherwise. The
// server is asked first, because a thread that waits for a lock does not see
// that its client has gone.
func (w *worker) kill(r *run) error {
	out := 0
	for _, l := range r.lanes {
		if l.stmt >= 0 && !r.answered(l) {
			out++
		}
	}
	for _, l := range r.lanes {
		if !w.ctl.broken {
			// An unknown id means that the session is gone already.
			if _, err := w.control("KILL " + strconv.FormatUint(l.id, 10)); err != nil {
				w.ctl.broken = true
			}
		}
		l.broken = true
	}
	limit := time.NewTimer(grace / 2)
	defer limit.Stop()
	cut := false
	for out > 0 {
		select {
		case <-w.answers:
			out--
		case <-limit.C:
			if cut {
				return &LostError{fmt.Errorf("%d killed sessions did not end", out)}
			}
			cut = true
			for _, l := range r.lanes {
				l.cut()
			}
			limit.Reset(grace)
		}
	}
	for _, l := range r.lanes {
		w.discard(l.session)
	}
	return nil
}
