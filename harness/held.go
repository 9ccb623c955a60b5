package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Holdable is implemented by a Backend whose statements can be held inside: a server that
// this process has started, on a system that lets it be traced, or one within this process.
type Holdable interface {
	// Holder returns what holds the threads of sessions. An *UnheldError says why nobody can be held.
	Holder(ctx context.Context) (Holder, error)
}

// Holder holds sessions inside of a statement. Connections are named by the ID of their Session,
// which must have no statement outstanding when they are named here. It belongs to one goroutine. One
// that is a Watcher, too, sees the threads where the Prober does not.
type Holder interface {
	// Arm has the connection held at a place when it comes there. An *UnheldError says that the
	// server's program has no such place.
	Arm(ctx context.Context, conn uint64, at *corpus.Hold) (Holding, error)
	// Entry is where a function of the server's program begins; false where none is called so.
	Entry(function string) (*corpus.Hold, bool)
	// Record notes, from now on, at which places of its program the server executes something for
	// the connection, in order, at most max of them. end returns them.
	Record(ctx context.Context, conn uint64, max int) (end func() (Trail, error), err error)
	Close() error
}

// Holding is one session that is to be held, or is.
type Holding interface {
	// Stands says that the session is held now.
	Stands() bool
	// Hit is closed when it comes to the place, and when its thread ends.
	Hit() <-chan struct{}
	// Release lets it go on, wherever it is.
	Release() error
}

// Trail is what a server executed, instruction by instruction, or what it asked its store for.
type Trail interface {
	Len() int
	// At is the place of the i-th instruction, with its number among the executions of the same one.
	At(i int) *corpus.Hold
}

// UnheldError says why a statement cannot be held.
type UnheldError struct{ Reason string }

func (e *UnheldError) Error() string { return "no statement can be held: " + e.Reason }

const (
	// glances is how often in a row a thread must be seen asleep, without having run between, to be
	// taken for one that what is held keeps from going on; they are nap apart.
	glances = 3
	nap     = 1500 * time.Microsecond
	// longestGlance ends that in any case: a thread may work for long.
	longestGlance = 50 * time.Millisecond
	// peek is how often it is looked whether the session to be held has come to its place.
	peek = 100 * time.Microsecond
	// longestHold ends a hold that others wait for by trying again and again: PostgreSQL takes a spinlock that is not
	// given back within a minute for a reason to end.
	longestHold = 10 * time.Second
	// mostApproach bounds the time until it has: single steps and waits for locks included.
	mostApproach = 500 * time.Millisecond
)

// hold submits the step that is to be held, and returns when its session stands at the place, has
// answered without coming there, or waits for something on its way.
func (r *run) hold(ctx context.Context, l *lane, step int, parked bool) error {
	st := &r.s.steps[step]
	holder, err := r.w.holder(ctx)
	if err != nil {
		return err
	}
	h, err := holder.Arm(ctx, l.id, st.hold)
	if err != nil {
		return fmt.Errorf("hold session %d in line %d: %w", l.number, step+1, err)
	}
	r.holding, r.heldLane = h, l
	if w, ok := holder.(Watcher); ok {
		r.sights = w
	} else {
		r.sights = r.look
	}
	r.submit(l, step, parked)
	r.got = r.got[:0]
	r.heldSince = time.Now()
	stop := r.heldSince.Add(mostApproach)
	asleep := slumber{look: r.sights}
	for !h.Stands() && time.Now().Before(stop) {
		a, ok, err := r.w.mail.receive(ctx, peek, h.Hit())
		if err != nil {
			return errors.Join(err, h.Release())
		}
		if ok {
			r.got = append(r.got, a)
		}
		if r.answered(l) {
			break
		}
		if asleep.since(l) >= glances {
			break
		}
	}
	return r.recordHeld(ctx, l)
}

// beside submits a step while another session is held, and returns when it has answered or is
// seen to be kept from going on. The server is not asked who waits: the question itself may need
// what the held session holds.
func (r *run) beside(ctx context.Context, l *lane, step int, parked bool) error {
	r.submit(l, step, parked)
	r.got = r.got[:0]
	stop := time.Now().Add(longestGlance)
	asleep := map[*lane]*slumber{}
	for time.Now().Before(stop) {
		a, ok, err := r.w.mail.receive(ctx, nap, nil)
		if err != nil {
			return errors.Join(err, r.holding.Release())
		}
		if ok {
			r.got = append(r.got, a)
		}
		moving := false
		for _, o := range r.lanes {
			if o.stmt < 0 || o == r.heldLane && r.holding.Stands() || r.answered(o) {
				continue
			}
			if ok { // what has just come may let it go on
				moving = true
				continue
			}
			if asleep[o] == nil {
				asleep[o] = &slumber{look: r.sights}
			}
			moving = asleep[o].since(o) < glances || moving
		}
		if !moving {
			break
		}
	}
	return r.recordHeld(ctx, l)
}

// recordHeld is record where one session stands still for no reason of the server's, and others may. A place
// that the statement did not come to holds no later one.
func (r *run) recordHeld(ctx context.Context, just *lane) error {
	var waiting []Waiting
	if r.holding.Stands() && r.heldLane.stmt >= 0 && !r.answered(r.heldLane) {
		waiting = []Waiting{{Conn: r.heldLane.id, Kind: history.Held}}
	}
	if err := r.record(just, waiting); err != nil {
		return errors.Join(err, r.holding.Release())
	}
	if r.heldLane.stmt >= 0 && time.Since(r.heldSince) < longestHold {
		return nil
	}
	return r.letGo(ctx)
}

// letGo ends the hold. What it kept from going on goes on.
func (r *run) letGo(ctx context.Context) error {
	h, l := r.holding, r.heldLane
	r.holding, r.heldLane = nil, nil
	if err := h.Release(); err != nil {
		return lostUnlessCancelled(ctx, fmt.Errorf("let session %d go on: %w", l.number, err))
	}
	if l.stmt < 0 { // it has answered, and what it kept from going on has not
		i := slices.IndexFunc(r.lanes, func(o *lane) bool { return o.stmt >= 0 })
		if i < 0 {
			return r.unpark(ctx)
		}
		l = r.lanes[i]
	}
	r.loosed = true
	err := r.quiesce(ctx, l)
	r.loosed = false
	if err != nil || r.stuck {
		return err
	}
	return r.unpark(ctx)
}

// slumber counts how often in a row a thread was seen asleep.
type slumber struct {
	look Watcher
	last Sight
	n    int
	at   time.Time
}

// since looks at a session's thread, not more often than each nap, and returns the count.
func (s *slumber) since(l *lane) int {
	if s.look == nil || time.Since(s.at) < nap {
		return s.n
	}
	s.at = time.Now()
	now := s.look.Watch(l.id)
	if now.Seen && now.Asleep && now == s.last {
		s.n++
	} else {
		s.n = 0
	}
	s.last = now
	return s.n
}

// holder is the worker's way to hold its sessions, made when it is first needed.
func (w *worker) holder(ctx context.Context) (Holder, error) {
	if w.holds != nil {
		return w.holds, nil
	}
	if w.pool.members != nil {
		return nil, errUnheldAcross
	}
	if w.pool.holdable == nil {
		return nil, &UnheldError{"only servers that txnfuzz starts itself can be traced, and this is none"}
	}
	h, err := w.pool.holdable.Holder(ctx)
	if err != nil {
		return nil, err
	}
	w.holds = h
	return h, nil
}

// tracing is one step whose statement is recorded.
type tracing struct {
	step   int
	record func(conn uint64) (end func() (Trail, error), err error)
	conn   uint64
	end    func() (Trail, error)
	trail  Trail
	err    error
}

func (t *tracing) begin(l *lane, step int) {
	if t == nil || step != t.step || t.err != nil {
		return
	}
	t.conn = l.id
	t.end, t.err = t.record(l.id)
}

func (t *tracing) over(l *lane) {
	if t == nil || t.end == nil || l.id != t.conn {
		return
	}
	t.trail, t.err = t.end()
	t.end = nil
}

// pastOfTraced is that of the tables of a run whose statement is recorded, as when it is held. On PostgreSQL deleted rows
// stay in a table's pages, so that where a row lies, and by which instructions a statement comes to it, would differ from
// run to run; and what a session meets for the first time it reads all about, by more instructions than the statement has.
func (p *Pool) pastOfTraced() past {
	if p.server.DBMS == history.PostgreSQL {
		return shown
	}
	return refilled
}

// rehearse runs a case without holding anything, unless its sessions have run it before.
func (w *worker) rehearse(ctx context.Context, c *corpus.Case, levels Levels) error {
	c = c.Clone()
	for i := range c.Steps {
		c.Steps[i].Hold, c.Steps[i].Frees = nil, false
	}
	s, err := w.pool.script(c)
	if err != nil {
		return err
	}
	key := s.key()
	isNew := func(n int) bool { return w.sessions[n] == nil || w.sessions[n].rehearsed != key }
	if !slices.ContainsFunc(s.sessions, isNew) {
		return nil
	}
	s.clean, s.shown = true, true
	if _, err := w.run(ctx, c, s, levels, (*run).observe); err != nil {
		return err
	}
	for _, n := range s.sessions {
		if on := w.sessions[n]; on != nil {
			on.rehearsed = key
		}
	}
	return nil
}

// RunTraced is Run without holding anything; it records where the server goes in a step's statement,
// at most max instructions. The trail is nil where the step was never sent. The statement takes a
// thousand times as long as usual, so the history is of use for little.
func (p *Pool) RunTraced(ctx context.Context, c *corpus.Case, levels Levels, step, max int) (*history.History, Trail, error) {
	t := &tracing{step: step}
	c = c.Clone()
	for i := range c.Steps {
		c.Steps[i].Hold = nil
	}
	h, err := p.run(ctx, c, levels, p.pastOfTraced(), func(r *run, ctx context.Context) error {
		holder, err := r.w.holder(ctx)
		if err != nil {
			return err
		}
		t.record = func(conn uint64) (func() (Trail, error), error) { return holder.Record(ctx, conn, max) }
		r.trace = t
		return r.observe(ctx)
	})
	return h, t.trail, errors.Join(err, t.err)
}
