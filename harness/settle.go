package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// settle returns when every outstanding statement has answered or is known to
// wait, and records what came about since just was submitted. With just nil
// every statement waits already, and settle first waits for an answer.
func (r *run) settle(ctx context.Context, just *lane) error {
	r.got = r.got[:0]
	return r.settleOn(ctx, just)
}

// settleOn is settle where the answers in r.got have come in already.
func (r *run) settleOn(ctx context.Context, just *lane) error {
	w := r.w
	left := r.outstanding() - len(r.got)
	if just == nil {
		for len(r.got) == 0 {
			a, ok, err := r.w.mail.receive(ctx, r.untilTimeUp(), nil)
			if err != nil {
				return err
			}
			if ok {
				r.got = append(r.got, a)
				break
			}
			up, err := r.timeUp(ctx)
			if err != nil {
				return err
			}
			if up != goOn {
				r.giveUp(up, "the server ends none of the waits")
				return nil
			}
		}
		left--
	}
	var (
		begun   = time.Now()
		pause   = gateMin
		seen    []Waiting // of the last ask, if it found all of them waiting
		waiting []Waiting
		wake    = w.prober.Wake()
		asked   = false
		hurried = false
		look    = r.look
		quiet   = begun // since when nothing was asked
	)
	switch {
	case just == nil:
	case wake != nil, !r.mayWait(just): // it tells, or there is nothing to be told; the pause is for what may be missed
		pause = gateMax
	default:
		g := w.gates.of(r.doing(just))
		if pause = g.delay(); look != nil {
			pause = g.glance()
		}
	}
	for left > 0 {
		if pause <= 0 || len(r.got) > 0 {
			if n := r.drain(); n > 0 {
				left, seen = left-n, nil
				continue
			}
		}
		// What just has answered decides whether the others can have moved.
		if just != nil && !asked && !r.loosed && r.answered(just) && left > 0 {
			if r.harmless(just) || look != nil && r.undisturbed(look) {
				break
			}
			if !hurried { // once: a look that is repeated without a pause takes the processor that a woken thread waits for
				pause, hurried = 0, true
			}
		}
		if pause > 0 {
			a, ok, err := r.w.mail.receive(ctx, pause, wake)
			if err != nil {
				return err
			}
			if ok {
				r.got = append(r.got, a)
				left, seen = left-1, nil
				continue
			}
		}
		if look != nil && r.awake(look) && time.Since(quiet) < gateMax {
			pause = glancePause
			if asked {
				pause = gateMin
			}
			continue
		}
		w.pool.stats.asks.Add(1)
		asking := time.Now()
		ws, err := w.prober.Waiting(ctx, r.pending())
		r.asked += time.Since(asking)
		if err != nil {
			return lostUnlessCancelled(ctx, fmt.Errorf("ask which sessions wait: %w", err))
		}
		asked, quiet = true, time.Now()
		if n := r.drain(); n > 0 {
			left, seen = left-n, nil
			pause = gateMin
			continue
		}
		if len(ws) == left && (!cyclic(ws) || time.Since(begun) > cyclePatience) {
			// A server that names no holders may be about to break a deadlock:
			// then only a wait seen twice is one.
			if left == 1 || holdersKnown(ws) || sameWaits(seen, ws) && r.sleptThrough(look, begun) {
				waiting = ws
				r.confirmed()
				break
			}
			seen, pause = ws, 0
			for _, l := range r.lanes {
				l.dozed = l.sight
			}
			continue
		}
		seen = nil
		up, err := r.timeUp(ctx)
		if err != nil {
			return err
		}
		if up != goOn {
			why := "a statement neither answers nor is seen to wait"
			if cyclic(ws) {
				why = "the server does not break a cycle of waits"
			}
			r.giveUp(up, why)
			return r.record(just, ws)
		}
		if time.Since(begun) > w.pool.opt.Silence && !cyclic(ws) {
			waiting = ws
			break
		}
		pause = min(max(pause*3/2, gateMin/2), gateMax)
	}
	return r.record(just, waiting)
}

// drain takes the answers that have come in.
func (r *run) drain() int {
	n := 0
	for {
		a, ok := r.w.mail.take()
		if !ok {
			return n
		}
		r.got = append(r.got, a)
		n++
	}
}

func (r *run) answered(l *lane) bool {
	for i := range r.got {
		if r.got[i].session == l.connection {
			return true
		}
	}
	return false
}

// pending returns the connections with a statement outstanding and no answer.
func (r *run) pending() []uint64 {
	var out []uint64
	for _, l := range r.lanes {
		if l.stmt >= 0 && !r.answered(l) {
			out = append(out, l.id)
		}
	}
	return out
}

// awake looks at the sessions without an answer and says that the thread of one
// of them runs, or waits for its client: then it waits for no lock.
func (r *run) awake(look Watcher) bool {
	for _, l := range r.lanes {
		if l.stmt < 0 || r.answered(l) {
			continue
		}
		if l.sight = look.Watch(l.id); l.sight.Seen && !l.sight.Asleep {
			return true
		}
	}
	return false
}

// confirmed notes that the server has just said of every session without an
// answer that it waits.
func (r *run) confirmed() {
	for _, l := range r.lanes {
		l.slept = l.sight
	}
}

// undisturbed says that every session without an answer is one that the server
// told to wait and whose thread has slept ever since: a hundredth of the price
// of asking. A server wakes whom it grants a lock before it answers the client
// that gave it back, and a thread that was woken no longer sleeps.
func (r *run) undisturbed(look Watcher) bool {
	for _, l := range r.lanes {
		if l.stmt < 0 || r.answered(l) {
			continue
		}
		if !l.waits || !l.slept.Asleep || look.Watch(l.id) != l.slept {
			return false
		}
	}
	return true
}

// sleptThrough says that no session without an answer has run since right before it
// was seen to wait. MariaDB shows a wait from the moment at which the lock is queued,
// and only then looks for a deadlock: two questions may both come between.
func (r *run) sleptThrough(look Watcher, begun time.Time) bool {
	if look == nil || time.Since(begun) > cyclePatience {
		return true
	}
	for _, l := range r.lanes {
		if l.stmt < 0 || r.answered(l) {
			continue
		}
		if s := look.Watch(l.id); s.Seen && (!s.Asleep || s != l.dozed) {
			return false
		}
	}
	return true
}

// mayWait says whether a statement can come to wait for a lock: it takes some,
// and another session may hold some. An answer that is surely under way needs no
// timer, which costs more to set and to take back than a quick statement takes.
func (r *run) mayWait(l *lane) bool {
	if r.s.traits&altersSchema != 0 {
		return true
	}
	if !slices.ContainsFunc(r.lanes, func(o *lane) bool { return o != l && (o.inTxn || o.stmt >= 0) }) {
		return false
	}
	if tr := r.doing(l); tr&plainRead == 0 {
		return tr&(locks|taints) != 0
	}
	return !r.readsFreely(l)
}

// doing returns the traits of a lane's last statement.
func (r *run) doing(l *lane) traits { return r.s.steps[r.h.Stmts[l.stmt].Line].traits }

// readsFreely says whether a lane's statement is a plain read that takes no lock.
func (r *run) readsFreely(l *lane) bool {
	return r.doing(l)&plainRead != 0 && r.h.Levels[l.number] != corpus.Serializable && l.level != 0 && !l.tainted
}

// harmless says that the statement that just answered can neither have ended a
// wait of another session nor have made one fail, so that nobody need be asked.
func (r *run) harmless(l *lane) bool {
	if !r.readsFreely(l) {
		return false
	}
	for i := range r.got {
		if r.got[i].session == l.connection {
			return r.got[i].Err == nil && r.got[i].err == nil
		}
	}
	return false
}

// cyclePatience is how long a server may take to break a cycle of waits. MySQL
// follows one holder of each wait only, so that it sees a cycle through another
// one when the first has ended: until then all of it is mere waiting.
const cyclePatience = 200 * time.Millisecond

// cyclic reports a cycle of holders among waiting connections.
func cyclic(ws []Waiting) bool {
	state := make(map[uint64]uint8, len(ws)) // 1: on the path, 2: done
	var visit func(id uint64) bool
	visit = func(id uint64) bool {
		for _, x := range ws {
			if x.Conn != id {
				continue
			}
			switch state[id] {
			case 1:
				return true
			case 2:
				return false
			}
			state[id] = 1
			if slices.ContainsFunc(x.Holders, visit) {
				return true
			}
			state[id] = 2
		}
		return false
	}
	return slices.ContainsFunc(ws, func(x Waiting) bool { return visit(x.Conn) })
}

func holdersKnown(ws []Waiting) bool {
	return !slices.ContainsFunc(ws, func(x Waiting) bool { return len(x.Holders) == 0 })
}

func sameWaits(a, b []Waiting) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for _, x := range a {
		if !slices.ContainsFunc(b, func(y Waiting) bool { return x.Conn == y.Conn && x.ID == y.ID && x.Kind == y.Kind }) {
			return false
		}
	}
	return true
}
