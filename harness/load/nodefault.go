package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// breakable returns the cluster of a run whose nodes are broken; nil: there is none, or no fault.
func (r *run) breakable() harness.Breakable {
	if r.cluster == nil || len(r.settings.Faults) == 0 {
		return nil
	}
	b, _ := r.backend.(harness.Breakable)
	return b
}

// checkBreaking reports faults that several servers do not take.
func (s *Settings) checkBreaking(b harness.Backend) error {
	if len(s.Faults) == 0 {
		return nil
	}
	if _, ok := b.(harness.Breakable); !ok {
		return fmt.Errorf("--fault: %s is several servers, which are not killed, paused or cut off", s.Target)
	}
	if t, _ := topologyOf(b); t.Kind.ByMajority() && len(t.Nodes) < fewestToBreak {
		return fmt.Errorf("--fault: %s has %d nodes; want %d or more, so that a majority goes on when one of them fails",
			s.Target, len(t.Nodes), fewestToBreak)
	}
	if slices.Contains(s.Faults, PowerLoss) {
		return fmt.Errorf("--fault powerloss: only a private server that is alone loses its power, not %s; "+
			"its nodes are killed, paused or cut off", s.Target)
	}
	return nil
}

// nodeFaults breaks one node after another until stop is closed. It leaves all of them running, as one cluster.
func (r *run) nodeFaults(b harness.Breakable, stop <-chan struct{}) error {
	random := rand.New(rand.NewPCG(r.settings.Seed, ^uint64(0)))
	for n := 0; r.settings.MaxFaults == 0 || n < r.settings.MaxFaults; n++ {
		// Half to one and a half of what was asked for.
		wait := r.settings.FaultEvery/2 + time.Duration(random.Int64N(int64(r.settings.FaultEvery)))
		kind, node := r.settings.Faults[random.IntN(len(r.settings.Faults))], random.IntN(len(r.cluster.nodes))
		// Some are over before the others notice.
		lasts := b.Notice()/4 + time.Duration(random.Int64N(int64(2*b.Notice())))
		select {
		case <-stop:
			return nil
		case <-time.After(wait):
		}
		if ended, err := r.strike(b, kind, node, lasts, stop); ended || err != nil {
			return err
		}
	}
	r.stop() // as many as were asked for
	return nil
}

// strike does one fault to a node, and waits until it is one of all again. No epoch ends meanwhile. ended: the run has
// ended before.
func (r *run) strike(
	b harness.Breakable, kind FaultKind, node int, lasts time.Duration, stop <-chan struct{},
) (ended bool, err error) {
	r.calm.Lock()
	defer r.calm.Unlock()
	select {
	case <-stop:
		return true, nil
	default:
	}
	f := Fault{Kind: kind, Node: r.cluster.nodes[node].Name, From: r.now()}
	r.down.Add(1)
	routed := r.cluster.router.watch(r.life, node)
	err = r.breakNode(b, &f, node, lasts, stop)
	f.Elected = routed()
	r.down.Add(-1)
	if err != nil || f.To == 0 {
		f.To = r.now()
	}
	r.noteFault(f)
	r.hangUp()
	if err != nil {
		return false, fmt.Errorf("%s: %w", f.begun(), err)
	}
	return false, nil
}

func (r *run) breakNode(b harness.Breakable, f *Fault, node int, lasts time.Duration, stop <-chan struct{}) error {
	begin, lift := b.PauseNode, b.ResumeNode
	switch f.Kind {
	case Kill:
		begin, lift = b.KillNode, func(node int) error {
			ctx, cancel := context.WithTimeout(r.life, recoveryTime)
			defer cancel()
			return b.RecoverNode(ctx, node)
		}
	case Partition:
		begin, lift = b.CutNode, b.HealNode
	}
	if err := begin(node); err != nil {
		return err
	}
	if err := r.receive(f, node); err != nil {
		return err
	}
	select {
	case <-stop:
	case <-time.After(lasts):
	}
	f.Lifted = r.now()
	if err := lift(node); err != nil {
		return err
	}
	return r.agree(b, f)
}

// agree waits until all nodes take part, and goes on to ask until the others must have noticed what happened: a node
// that is back in time may be expelled all the same. Nobody expels one of a pair.
func (r *run) agree(b harness.Breakable, f *Fault) error {
	ctx, cancel := context.WithTimeout(r.life, agreeTime)
	defer cancel()
	for {
		asked := r.now()
		told, err := b.Agree(ctx)
		f.Told += told
		now := r.now()
		if f.To == 0 || now-asked > int64(agreed) {
			f.To = now
		}
		if err != nil || !r.cluster.kind.ByMajority() || now-f.Lifted > int64(b.Notice()) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(agreed / 10):
		}
	}
}

// agreeTime is generous: a member of a group that was killed has taken up to 101 s on a busy machine to be one again.
const agreeTime = 4 * time.Minute

// agreed is how soon nodes that all take part have said so.
const agreed = time.Second / 2

// hangUp closes the connections of the run's own, which are not used while a fault lasts: those to a node that was
// broken are lost.
func (r *run) hangUp() {
	r.control.close()
	for _, n := range r.cluster.nodes {
		n.control.close()
	}
	if f := r.cluster.follower; f != nil {
		_ = f.Close() // the next question connects again
	}
}

// still returns when no fault lasts, and none begins until moving is called. It is called by who runs the epochs, and
// waits until all nodes take part: one that was back in time for the others may have been expelled all the same.
func (r *run) still() error {
	b := r.breakable()
	if b == nil || r.isStill {
		return nil
	}
	r.calm.Lock()
	r.isStill = true
	if r.life.Err() != nil {
		return r.life.Err()
	}
	ctx, cancel := context.WithTimeout(r.life, agreeTime)
	defer cancel()
	_, err := b.Agree(ctx)
	return err
}

func (r *run) moving() {
	if r.isStill {
		r.isStill = false
		r.calm.Unlock()
	}
}

// passes says that an error of a session is one of a node that was broken, which will answer again.
func (r *run) passes(s *session, err error) bool {
	return err != nil && len(r.settings.Faults) > 0 && (s.conn == nil || s.away && outside(errorCode(err)))
}

// outPause is how long a client waits when its node has answered that it takes no part in its cluster.
const outPause = 50 * time.Millisecond

// standBack has a client wait for its node, if an error says that it takes no part in its cluster.
func (c *client) standBack(by code) {
	if !c.session.away || !outside(by) {
		return
	}
	select {
	case <-c.run.life.Done():
	case <-time.After(outPause):
	}
}

// fewestToBreak is how many nodes leave a majority when one fails.
const fewestToBreak = 3

// survives is what is promised of what a node that is broken had acknowledged; empty: no node is.
func (r *run) survives() string {
	if r.breakable() == nil {
		return ""
	}
	return r.cluster.survival.says
}
