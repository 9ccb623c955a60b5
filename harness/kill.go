package harness

import (
	"context"
	"fmt"
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
		if !w.ctl.broken && !l.gone {
			// An unknown id means that the session is gone already.
			if _, err := w.control(of(w.pool.speech.terminate, l.id)); err != nil {
				w.ctl.broken = true
			}
		}
		l.broken = true
	}
	limit := time.Now().Add(grace / 2)
	cut := false
	for out > 0 {
		_, ok, err := w.mail.receive(context.Background(), time.Until(limit), nil)
		switch {
		case err != nil:
			return err
		case ok:
			out--
		case time.Now().Before(limit):
		case cut:
			return &LostError{fmt.Errorf("%d killed sessions did not end", out)}
		default:
			cut = true
			for _, l := range r.lanes {
				l.Cut()
			}
			limit = time.Now().Add(grace)
		}
	}
	for _, l := range r.lanes {
		w.discard(l.connection)
	}
	return nil
}
