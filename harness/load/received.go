package load

import (
	"context"
	"fmt"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// receipt is what a replica showed of an epoch while its primary was dead, of which it had received, before the primary
// acknowledged it, all that it was to show.
type receipt struct {
	node  string
	fault string
	dead  int64 // when the primary had been killed
	t     *tape
}

// receive notes what the replica holds of a primary that is dead, where COMMITs wait for the replica. Nobody uses the
// nodes' own sessions meanwhile, and no epoch ends.
func (r *run) receive(f *Fault, node int) error {
	x := r.cluster
	b, ok := r.backend.(harness.Receiving)
	kind := r.workload.kind()
	if !ok || !x.survival.received || f.Kind != Kill || x.nodes[node].Role != harness.Primary || r.current == nil ||
		kind != kv.ListAppend && kind != kv.Register {
		return nil
	}
	dead := r.now()
	ctx, cancel := context.WithTimeout(r.life, agreeTime)
	defer cancel()
	if err := b.Replayed(ctx); err != nil {
		return fmt.Errorf("wait for what the replica has received: %w", err)
	}
	for _, n := range x.others() {
		t := &tape{node: n.Name, replica: true}
		if err := r.readNode(n, t, r.workload.readAll(r.current)); err != nil {
			return fmt.Errorf("read what the replica has received: %w", err)
		}
		r.current.receipts = append(r.current.receipts, receipt{n.Name, f.begun(), dead, t})
	}
	return nil
}

// received compares what a replica held of a dead primary with what that had acknowledged.
func (j *judge) received(e *epoch, events []event) error {
	j.mu.Lock()
	j.receipts += len(e.receipts)
	j.mu.Unlock()
	for _, got := range e.receipts {
		final := event{got.t, &got.t.txns[0]}
		before := acknowledgedBefore(events, got.dead)
		found := lost(j.header.Workload, before, final)
		if len(found) == 0 {
			continue
		}
		j.mu.Lock()
		j.lost += len(found)
		j.mu.Unlock()
		f := Finding{
			Kind: KindLost, Epoch: e.number, Count: len(found), Note: j.run.excuse(), Promised: j.run.survives(),
			Says: []string{found[0].Says, fmt.Sprintf("%s was read while the primary was dead (%s), and had replayed all that "+
				"it had received", got.node, got.fault)},
		}
		if err := j.found(f, found[0].records(j.header.Workload, append(before, final))); err != nil {
			return err
		}
	}
	return nil
}

// acknowledgedBefore leaves of transactions that were acknowledged later only that they may have had an effect.
func acknowledgedBefore(events []event, then int64) []event {
	out := make([]event, 0, len(events))
	for _, e := range events {
		if e.status == kv.OK && e.ret >= then {
			later := *e.recorded
			later.status, later.ret = kv.Info, kv.Unknown
			e.recorded = &later
		}
		out = append(out, e)
	}
	return out
}
