package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// lane is one session in one run.
type lane struct {
	*connection
	// stmt is the index into History.Stmts of the outstanding statement, -1
	// where there is none.
	stmt  int
	sent  time.Time
	wait  string // ID of the open wait, where the server tells it
	waits bool   // the last wait of stmt is open
	sight Sight  // of its thread, the last one
	// gone says that the session was killed or disconnected and has no connection; doomed that
	// it was killed, so that its connection may break; struck that a KILL was sent while stmt
	// was outstanding.
	gone, doomed, struck bool
	slept                Sight // the one right before the server said that it waits
	dozed                Sight // the one right before the server said so first, and was asked again
	parked               []int // steps that the file's order reached while it waited
	// untimed says that what stmt takes is no measure: it waited, unobserved.
	untimed bool
}

// run is one case being executed.
//
// The contract is that of the submitted order: lines run in the order of the
// file; a line of a waiting session is parked; when a session resumes, its
// parked lines run before the next line of the file. Before a line is sent,
// every outstanding statement is known to wait.
type run struct {
	w     *worker
	s     *script
	h     *history.History
	lanes []*lane // by session number
	clock history.Tick
	end   time.Time
	moved time.Time // when something last came about
	ready []*lane   // resumed, in order of return, with lines parked
	got   []answer
	stuck bool
	look  Watcher       // nil where the server's threads cannot be seen
	facts *inquiry      // nil but in a run for facts
	asked time.Duration // spent on questions who waits
	// holding is what is armed or held in the session of heldLane; nil: nothing is, or no more.
	// loosed says that it has just been let go. sights sees who sleeps meanwhile; nil: nobody does.
	holding   Holding
	sights    Watcher
	heldLane  *lane
	heldSince time.Time
	loosed    bool
	trace     *tracing
	// greet, if not nil, makes the new connection of a session like its first one.
	greet func(*connection) error
	// numbers are those of the sessions that have had a connection, by its ID.
	numbers map[uint64]int
	// sent counts how often a session has sent a text, altered says that a line has changed tables: what decides how a
	// statement is sent.
	sent    map[sending]int
	altered bool
	// reading is what goes on on the replica meanwhile; nil: nothing does.
	reading *reading
	// tables are those of the case.
	tables *provisioned
	// own are the names that stand for those of the case; nil: it has had none yet.
	own *ownNames
}

func newRun(w *worker, s *script, h *history.History) *run {
	r := &run{w: w, s: s, h: h, end: time.Now().Add(w.pool.opt.DeadLine), numbers: map[uint64]int{}}
	h.Stmts = make([]history.Stmt, 0, len(s.steps))
	for _, n := range s.sessions {
		r.lanes = append(r.lanes, &lane{connection: w.sessions[n], stmt: -1})
		r.numbers[w.sessions[n].id] = n
	}
	return r
}

// watch finds out whether the threads of all sessions can be seen.
func (r *run) watch() {
	look, ok := r.w.prober.(Watcher)
	if !ok {
		return
	}
	for _, l := range r.lanes {
		if !look.Watch(l.id).Seen {
			return
		}
	}
	r.look = look
}

func (r *run) ids() []uint64 {
	out := make([]uint64, len(r.lanes))
	for i, l := range r.lanes {
		out[i] = l.id
	}
	return out
}

func (r *run) lane(session int) *lane {
	for _, l := range r.lanes {
		if l.number == session {
			return l
		}
	}
	panic(fmt.Sprintf("harness: no lane for session %d", session))
}

func (r *run) tick() history.Tick {
	r.clock++
	r.reading.ticks(r.clock)
	return r.clock
}

// observe executes the steps and finds out which statements wait.
func (r *run) observe(ctx context.Context) error {
	for i, st := range r.s.steps {
		l := r.lane(st.session)
		if l.stmt >= 0 || len(l.parked) > 0 {
			l.parked = append(l.parked, i)
		} else {
			if err := r.advance(ctx, l, i, false); err != nil || r.stuck {
				return err
			}
			if err := r.unpark(ctx); err != nil || r.stuck {
				return err
			}
		}
		if r.holding != nil && st.frees {
			if err := r.letGo(ctx); err != nil || r.stuck {
				return err
			}
		}
	}
	if r.holding != nil {
		if err := r.letGo(ctx); err != nil || r.stuck {
			return err
		}
	}
	// Nothing is left to submit but parked lines: the server itself must end
	// the waits, by finding a deadlock or giving up on a lock. What could only
	// end by the latter is ended here.
	for r.outstanding() > 0 {
		if l, err := r.hopeless(ctx); err != nil {
			return err
		} else if l != nil {
			if err := r.interrupt(l); err != nil {
				return err
			}
		}
		if err := r.quiesce(ctx, nil); err != nil || r.stuck {
			return err
		}
		if err := r.unpark(ctx); err != nil || r.stuck {
			return err
		}
	}
	return nil
}

// advance submits one step and waits until the system is quiescent again.
func (r *run) advance(ctx context.Context, l *lane, step int, parked bool) error {
	switch {
	case r.s.steps[step].about != nil:
		return r.onSession(ctx, l, step, parked)
	case l.gone:
		r.answerUnsent(l, step, parked, history.ErrGone, "the session is gone")
		return nil
	case r.s.steps[step].hold != nil && r.holding == nil:
		return r.hold(ctx, l, step, parked)
	case r.holding != nil:
		return r.beside(ctx, l, step, parked)
	}
	if r.facts != nil {
		if err := r.facts.explain(len(r.h.Stmts), &r.s.steps[step]); err != nil {
			return err
		}
	}
	r.submit(l, step, parked)
	return r.quiesce(ctx, l)
}

// quiesce waits until all that was sent has answered or is known to wait; just is the
// session that has submitted, if one has.
func (r *run) quiesce(ctx context.Context, just *lane) error {
	r.got = r.got[:0]
	return r.settled(ctx, just)
}

// settled is quiesce where some answers have been taken already.
func (r *run) settled(ctx context.Context, just *lane) error {
	if err := r.settleOn(ctx, just); err != nil {
		return err
	}
	if err := r.seeState(); err != nil {
		return err
	}
	if r.w.pool.members != nil && r.mayHaveCommitted() {
		if err := r.w.everywhere(ctx); err != nil {
			return err
		}
	}
	if r.facts == nil {
		return nil
	}
	return r.facts.list(ctx, r)
}

// unpark runs the parked lines of the sessions that have resumed.
func (r *run) unpark(ctx context.Context) error {
	for len(r.ready) > 0 {
		l := r.ready[0]
		r.ready = r.ready[1:]
		for l.stmt < 0 && len(l.parked) > 0 {
			i := l.parked[0]
			l.parked = l.parked[1:]
			if err := r.advance(ctx, l, i, true); err != nil || r.stuck {
				return err
			}
		}
	}
	return nil
}

func (r *run) submit(l *lane, i int, parked bool) {
	r.enter(l, i, parked)
	r.trace.begin(l, i)
	r.w.mail.send(l.connection, r.text(l, &r.s.steps[i]), r.way(l, i))
}

// enter makes a line the outstanding statement of its session.
func (r *run) enter(l *lane, i int, parked bool) {
	st := &r.s.steps[i]
	l.stmt = len(r.h.Stmts)
	r.h.Stmts = append(r.h.Stmts, history.Stmt{
		Line: i, Session: st.session, Submit: r.tick(), Parked: parked, InTxn: l.inTxn,
		Result: history.Result{Matched: -1, Changed: -1, Affected: -1},
	})
	if st.traits&setsLevel != 0 {
		l.level = 0
	}
	if st.traits&taints != 0 {
		l.tainted = true
	}
	if r.reading != nil && st.traits&plainRead == 0 && (!l.inTxn || st.traits&locks == 0) {
		r.reading.sends()
	}
	l.sent = time.Now()
	r.moved = l.sent
	if o, ok := r.w.prober.(SubmitObserver); ok {
		o.Submitted(l.id)
	}
}

func (r *run) outstanding() int {
	n := 0
	for _, l := range r.lanes {
		if l.stmt >= 0 {
			n++
		}
	}
	return n
}

// record gives ticks to what came about in one phase. All of it overlaps: each
// answered statement was outstanding when the phase began with the submission
// of just. So an order may be chosen that does not depend on which of two
// sockets was read first; see rank for why it is a true one.
func (r *run) record(just *lane, waiting []Waiting) error {
	slices.SortStableFunc(r.got, func(a, b answer) int { return a.At.Compare(b.At) })
	ends := func(a *answer) bool {
		l := r.lane(a.session.number)
		return just == l && r.doing(l)&(aboutSession|ends) != 0
	}
	rank := func(a *answer) int {
		if r.lane(a.session.number).struck {
			return rankStruck
		}
		return rank(a, ends(a))
	}
	slices.SortStableFunc(r.got, func(a, b answer) int {
		x, y := rank(&a), rank(&b)
		if x == rankKeeper && y == rankKeeper {
			return a.session.number - b.session.number
		}
		return x - y
	})
	var lost error
	for i := range r.got {
		a := &r.got[i]
		l := r.lane(a.session.number)
		if err := r.finish(l, a); err != nil && lost == nil {
			lost = err
		}
		if len(l.parked) > 0 {
			r.ready = append(r.ready, l)
		}
	}
	if lost != nil {
		return lost
	}
	for _, l := range r.lanes {
		if l.stmt >= 0 {
			r.noteWait(l, waiting)
		}
	}
	return nil
}

const (
	rankStruck   = iota // what the submitted KILL has ended
	rankCommit          // the submitted end of a transaction, or of a session
	rankVictim          // a deadlock's victim, or another error that has surely rolled back
	rankReleaser        // another statement that left no transaction behind
	rankKeeper          // a statement inside a transaction that goes on
)

// rank orders the answers of one phase by who can have released whom. Only
// what ends a transaction releases locks, so a keeper released nobody: keepers
// come last, and among them the order can make no difference, so it is that of
// the session numbers. Releasers keep the order in which they answered.
func rank(a *answer, ends bool) int {
	switch {
	case ends:
		return rankCommit
	case a.Err != nil && (a.Err.Code == errDeadlock || a.InTxnTold && !a.InTxn):
		return rankVictim
	case !a.InTxn && a.Err == nil:
		return rankReleaser
	}
	return rankKeeper
}

// finish records the answer to the outstanding statement of l.
func (r *run) finish(l *lane, a *answer) error {
	st := &r.h.Stmts[l.stmt]
	r.moved = time.Now()
	r.trace.over(l)
	l.asLost(a)
	if a.err != nil {
		l.broken = true
		l.stmt = -1
		return &LostError{fmt.Errorf("session %d, line %d: %w", l.number, st.Line+1, a.err)}
	}
	if len(a.Holders) > 0 { // a deadlock may be found before its last wait is asked for
		r.noteWait(l, []Waiting{{Conn: l.id, Kind: history.RowLock, Holders: a.Holders, ID: toldByError}})
	}
	if l.waits {
		st.Waits[len(st.Waits)-1].Until = r.tick()
	} else if !l.untimed {
		r.w.gates.of(r.s.steps[st.Line].traits).observe(a.At.Sub(l.sent))
	}
	st.Return = r.tick()
	st.Versions = takeVersions(r.s.steps[st.Line].versions, &a.Result)
	st.Result = a.Result
	st.Sent = r.sentBy(a)
	r.notified(l.number, l.stmt, a.Notifications)
	if err := r.askUnsafe(l, &a.Result); err != nil {
		return err
	}
	if a.Err != nil {
		r.s.nameDatabase(a.Err, l.db)
		r.asNamed(a.Err)
		if !a.InTxnTold {
			st.Result.InTxn = l.inTxn && !r.endsTxn(st, a.Err)
		}
	}
	l.inTxn = st.Result.InTxn
	if r.s.steps[st.Line].traits&closes != 0 && a.Err == nil {
		l.broken, l.inTxn = true, false
	}
	if l.struck {
		r.clock++ // room for what the end of the session does, before the KILL has returned
	}
	l.stmt, l.waits, l.wait, l.sight, l.slept, l.dozed, l.untimed, l.struck = -1, false, "", Sight{}, Sight{}, Sight{}, false, false
	return nil
}

// Error codes that the harness must understand.
const (
	errDeadlock = 1213
	// errSnapshot is MariaDB's "Record has changed since last read".
	errSnapshot = 1020
	// errDuringCommit and errRolledBackDuringCommit tell of a transaction that Group Replication has given up for one of
	// another member, with the next statement, whatever that is.
	// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html#error_er_error_during_commit
	errDuringCommit, errRolledBackDuringCommit = 1180, 3101
)

// endsTxn infers, for a server that does not tell, that an error took the whole transaction with it. A failed
// COMMIT or ROLLBACK leaves none either.
func (r *run) endsTxn(st *history.Stmt, e *history.Error) bool {
	switch e.Code {
	case errDeadlock, errDuringCommit, errRolledBackDuringCommit:
		return true
	case errSnapshot:
		return r.h.Server.DBMS == history.MariaDB
	}
	return r.s.steps[st.Line].traits&ends != 0
}

// noteWait opens a wait, or cuts it in two where the lock is another one now.
func (r *run) noteWait(l *lane, waiting []Waiting) {
	i := slices.IndexFunc(waiting, func(x Waiting) bool { return x.Conn == l.id })
	st := &r.h.Stmts[l.stmt]
	if i < 0 {
		if !l.waits { // neither answered nor waits: silence
			l.waits, l.wait = true, ""
			st.Waits = append(st.Waits, history.Wait{Kind: history.Silence, From: r.tick()})
		}
		return
	}
	x := &waiting[i]
	if l.waits {
		last := &st.Waits[len(st.Waits)-1]
		if x.ID == toldByError && slices.Equal(last.Holders, r.sessionsOf(x.Holders)) {
			return
		}
		if held := last.Kind == history.Held; x.ID != toldByError && held == (x.Kind == history.Held) && (x.ID == l.wait || x.ID == "" || l.wait == "") {
			if last.At == nil || len(last.At.Fields) == 0 {
				last.At = x.At
			}
			return
		}
		last.Until = r.tick()
	}
	if c := &r.w.pool.stats; !l.waits {
		c.known.Add(int64(time.Since(l.sent)))
		c.timed.Add(1)
	}
	r.w.pool.stats.waits.Add(1)
	l.waits, l.wait = true, x.ID
	st.Waits = append(st.Waits, history.Wait{Kind: x.Kind, From: r.tick(), At: x.At, Holders: r.sessionsOf(x.Holders)})
}

// toldByError is the ID of a lock for which a statement waited last, as its error says.
const toldByError = "told by the error"

// sessionsOf returns the numbers of the sessions that have some connections, ascending.
func (r *run) sessionsOf(conns []uint64) (numbers []int) {
	for _, c := range conns {
		for _, o := range r.lanes {
			if o.id == c {
				numbers = append(numbers, o.number)
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

// giveUp ends the case before its statements have ended.
func (r *run) giveUp(up standing, why string) {
	r.stuck = true
	var who []string
	for _, l := range r.lanes {
		if l.stmt < 0 || r.answered(l) {
			continue
		}
		who = append(who, fmt.Sprintf("session %d in line %d", l.number, r.h.Stmts[l.stmt].Line+1))
	}
	r.h.End = endsAs[up]
	r.h.Detail = why + ": " + strings.Join(who, ", ")
}

// lostUnlessCancelled tells a server that does not answer from a caller that
// no longer wants to know.
func lostUnlessCancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("run a case: %w", ctx.Err())
	}
	return &LostError{err}
}

// rollBack ends the transactions that the case left open.
func (r *run) rollBack() error {
	for _, l := range r.lanes {
		// After an error it is not known for sure, and after SET autocommit = 0
		// the flag may lag; a needless ROLLBACK costs a round trip.
		if !l.broken && (l.inTxn || l.tainted || r.lastFailed(l)) {
			if err := r.idle(l, "ROLLBACK"); err != nil {
				return err
			}
			l.inTxn = false
		}
	}
	return r.hear()
}

func (r *run) lastFailed(l *lane) bool {
	for i := len(r.h.Stmts) - 1; i >= 0; i-- {
		if st := &r.h.Stmts[i]; st.Session == l.number {
			return st.Result.Err != nil
		}
	}
	return false
}
