package harness

import (
	"context"
	"sync"
	"time"
)

// watchdog closes the sockets of a worker when a case takes too long, and soon after the end of the context: a server that
// is stopped answers nobody, whatever it is asked.
type watchdog struct {
	mu     sync.Mutex
	timer  *time.Timer
	ctx    context.Context
	asleep bool
	unhook func() bool
}

// endGrace is what a case that was broken off may take to kill what its sessions do.
const endGrace = time.Second

func newWatchdog(ctx context.Context, longest time.Duration, bite func()) *watchdog {
	d := &watchdog{timer: time.AfterFunc(longest, bite), ctx: ctx}
	d.unhook = context.AfterFunc(ctx, func() { d.Reset(endGrace) })
	return d
}

// Reset has it wait anew. Behind the end of the context it waits no longer than endGrace.
func (d *watchdog) Reset(longest time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.asleep:
	case d.ctx.Err() == nil:
		d.timer.Reset(longest)
	default:
		d.timer.Reset(min(longest, endGrace))
	}
}

// Stop is called when the worker's turn is over.
func (d *watchdog) Stop() {
	d.unhook()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asleep = true
	d.timer.Stop()
}
