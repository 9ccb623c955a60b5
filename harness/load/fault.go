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
	// Partition takes the network of one node of a cluster away, then gives it back. Clients reach the node meanwhile.
	Partition FaultKind = "partition"
)

// ends says that a fault ends a server.
func (k FaultKind) ends() bool { return k == Kill || k == PowerLoss }

// ParseFaults reads a list such as "kill,pause".
func ParseFaults(s string) ([]FaultKind, error) {
	var out []FaultKind
	for _, part := range strings.Split(s, ",") {
		switch k := FaultKind(strings.TrimSpace(part)); k {
		case "":
		case Kill, Pause, PowerLoss, Partition:
			out = append(out, k)
		default:
			return nil, fmt.Errorf("unknown fault %q: want kill, powerloss, pause, partition or several of them, "+
				"with commas between", part)
		}
	}
	return out, nil
}

// Fault is one that happened. Times are as in the history.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Node is which of several servers was broken; empty: there is one.
	Node string `json:"node,omitempty"`
	From int64  `json:"from"`
	// Lifted is when the node was started again, let go on, or given its network back; 0: there is one server.
	Lifted int64 `json:"lifted,omitempty"`
	// To is when the server answered again; of a node, when it was one of all again.
	To int64 `json:"to"`
	// Elected is the node that took writes meanwhile in place of this one; empty: none did.
	Elected string `json:"elected,omitempty"`
	// Told is how often the node had to be told to join the others again.
	Told int `json:"told_to_join,omitempty"`
	// Undone is what a power loss took from the server.
	Undone *harness.Undone `json:"undone,omitempty"`
}

// String tells it to people, with its times in seconds.
func (f Fault) String() string {
	s := fmt.Sprintf("%s, back at %.3f s", f.begun(), float64(f.To)/1e9)
	if f.Lifted > 0 {
		s += fmt.Sprintf(" (over at %.3f s)", float64(f.Lifted)/1e9)
	}
	if f.Undone != nil {
		s += " (" + f.Undone.String() + ")"
	}
	return s
}

func (f Fault) begun() string {
	s := string(f.Kind)
	if f.Node != "" {
		s += " of " + f.Node
	}
	return s + fmt.Sprintf(" at %.3f s", float64(f.From)/1e9)
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
	if b := r.breakable(); b != nil {
		return r.nodeFaults(b, stop)
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
