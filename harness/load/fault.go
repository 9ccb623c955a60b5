package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// FaultKind is what is done to a server.
type FaultKind string

// The faults.
const (
	Kill  FaultKind = "kill"  // SIGKILL, then a start on the same data
	Pause FaultKind = "pause" // SIGSTOP, then SIGCONT
	// PowerLoss is a kill after which what was not synced is undone.
	PowerLoss FaultKind = "powerloss"
)

// ParseFaults reads a list such as "kill,pause".
func ParseFaults(s string) ([]FaultKind, error) {
	var out []FaultKind
	for _, part := range strings.Split(s, ",") {
		switch k := FaultKind(strings.TrimSpace(part)); k {
		case "":
		case Kill, Pause, PowerLoss:
			out = append(out, k)
		default:
			return nil, fmt.Errorf("unknown fault %q: want kill, powerloss, pause or several of them, with commas between", part)
		}
	}
	return out, nil
}

// Fault is one that happened. Times are as in the history.
type Fault struct {
	Kind FaultKind `json:"kind"`
	From int64     `json:"from"`
	To   int64     `json:"to"`
	// Undone is what a power loss took from the server.
	Undone *harness.Undone `json:"undone,omitempty"`
}

// String tells it to people, with its times in seconds.
func (f Fault) String() string {
	s := fmt.Sprintf("%s at %.3f s, back at %.3f s", f.Kind, float64(f.From)/1e9, float64(f.To)/1e9)
	if f.Undone != nil {
		s += " (" + f.Undone.String() + ")"
	}
	return s
}

// tally counts faults by their kind, and sums up what power losses have undone; nil: there was none.
func tally(faults []Fault) (kinds map[FaultKind]int, undone *harness.Undone) {
	kinds = map[FaultKind]int{}
	for _, f := range faults {
		kinds[f.Kind]++
		if f.Undone == nil {
			continue
		}
		if undone == nil {
			undone = &harness.Undone{}
		}
		undone.Add(*f.Undone)
	}
	return kinds, undone
}

// faults does one after another until stop is closed. It leaves the server
// running.
func (r *run) faults(stop <-chan struct{}) error {
	if len(r.settings.Faults) == 0 {
		return nil
	}
	crasher := r.backend.(harness.Crasher)
	random := rand.New(rand.NewPCG(r.settings.Seed, ^uint64(0)))
	for n := 0; r.settings.MaxFaults == 0 || n < r.settings.MaxFaults; n++ {
		// Half to one and a half of what was asked for.
		wait := r.settings.FaultEvery/2 + time.Duration(random.Int64N(int64(r.settings.FaultEvery)))
		select {
		case <-stop:
			return nil
		case <-time.After(wait):
		}
		kind := r.settings.Faults[random.IntN(len(r.settings.Faults))]
		f := Fault{Kind: kind, From: r.now()}
		var err error
		r.down.Add(1)
		switch kind {
		case Kill:
			if err = crasher.Kill(); err == nil {
				err = r.recover(crasher)
			}
		case PowerLoss:
			err = r.losePower(crasher, &f, random.Uint64())
		case Pause:
			err = r.pause(crasher, time.Duration(random.Int64N(int64(2*r.settings.Timeout))), stop)
		}
		r.down.Add(-1)
		if err != nil {
			return err
		}
		f.To = r.now()
		r.noteFault(f)
	}
	r.stop() // as many as were asked for
	return nil
}

// recoveryTime is generous: a recovery takes one to three seconds here.
const recoveryTime = 2 * time.Minute

// losePower notes what was undone before the server starts, since it may not.
func (r *run) losePower(c harness.Crasher, f *Fault, seed uint64) error {
	undone, err := c.(harness.PowerLoser).LosePower(seed)
	if err != nil {
		return err
	}
	f.Undone = &undone
	r.powerLost.Store(true)
	if err := r.recover(c); err != nil {
		f.To = r.now()
		r.noteFault(*f)
		return err
	}
	return nil
}

func (r *run) recover(c harness.Crasher) error {
	ctx, cancel := context.WithTimeout(context.Background(), recoveryTime)
	defer cancel()
	return c.Recover(ctx)
}

func (r *run) pause(c harness.Crasher, d time.Duration, stop <-chan struct{}) error {
	if err := c.Pause(); err != nil {
		return err
	}
	select {
	case <-stop:
	case <-time.After(d):
	}
	return c.Resume()
}
