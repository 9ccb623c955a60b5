package harness

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm is a timer for less than a millisecond. A time.Timer is not: when all
// else is idle the runtime sleeps in epoll_wait, whose unit is 1 ms, and that
// is the very moment when a statement that waits is to be noticed. A timerfd
// wakes the poller on time and costs under 1 µs to set.
type alarm struct {
	f  *os.File
	fd int
	C  chan struct{}
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	a := &alarm{f: os.NewFile(uintptr(fd), "timerfd"), fd: fd, C: make(chan struct{}, 1)}
	go func() {
		var count [8]byte
		for {
			if _, err := a.f.Read(count[:]); err != nil {
				return
			}
			select {
			case a.C <- struct{}{}:
			default:
			}
		}
	}()
	return a, nil
}

// set arms the alarm for once, d from now.
func (a *alarm) set(d time.Duration) {
	select {
	case <-a.C:
	default:
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	// It fails only for a bad descriptor or a bad time.
	if err := unix.TimerfdSettime(a.fd, 0, &spec, nil); err != nil {
		a.C <- struct{}{}
	}
}

func (a *alarm) stop() { _ = unix.TimerfdSettime(a.fd, 0, &unix.ItimerSpec{}, nil) }

func (a *alarm) close() error { return a.f.Close() }
