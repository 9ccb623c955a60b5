//go:build !linux

package harness

import "time"

// alarm is a timer; here it is only as fine as the runtime's.
type alarm struct {
	t *time.Timer
	C chan struct{}
}

func newAlarm() (*alarm, error) {
	a := &alarm{C: make(chan struct{}, 1)}
	a.t = time.AfterFunc(time.Hour, func() {
		select {
		case a.C <- struct{}{}:
		default:
		}
	})
	a.t.Stop()
	return a, nil
}

// set arms the alarm for once, d from now.
func (a *alarm) set(d time.Duration) {
	a.t.Stop()
	select {
	case <-a.C:
	default:
	}
	a.t.Reset(d)
}

func (a *alarm) stop() { a.t.Stop() }

func (a *alarm) close() error { a.t.Stop(); return nil }
