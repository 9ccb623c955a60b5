package harness

import (
	"context"
	"testing"
	"time"
)

// TestDog: the sockets of a worker are closed soon after the end of the context, and not when its turn is over.
func TestDog(t *testing.T) {
	for _, x := range []struct {
		name         string
		stops        bool // before the context ends
		resets, want bool
	}{
		{"a run that hangs", false, false, true},
		{"one that goes on to something else", false, true, true},
		{"one that is over", true, false, false},
		{"one that is over, and is told to wait anew", true, true, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			bitten := make(chan struct{})
			ctx, end := context.WithCancel(t.Context())
			d := newWatchdog(ctx, time.Hour, func() { close(bitten) })
			if x.stops {
				d.Stop()
			}
			end()
			if x.resets {
				d.Reset(time.Hour)
			}
			wait := 2 * endGrace
			if x.want {
				wait = 10 * time.Second
			}
			select {
			case <-bitten:
				if !x.want {
					t.Error("sockets were closed behind the end of the turn")
				}
			case <-time.After(wait):
				if x.want {
					t.Error("nothing ends what a stopped server does not answer")
				}
			}
		})
	}
}
