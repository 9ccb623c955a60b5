package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// MaxLive is the number of sessions that a Live has.
const MaxLive = 9

// liveLockWait is the lock wait time-out of a Live, in seconds: a person takes
// longer to type the statement that releases a lock than a test may wait. It is
// the most that TiDB takes.
const liveLockWait = 3600

// liveDeadline stands for none.
const liveDeadline = 1000 * time.Hour

// Live is a case in the making: a person runs it statement by statement and sees who
// waits and who goes on. Its History is the one that a run of the whole case would
// give. It holds one worker of its pool until Close, and is for one goroutine.
type Live struct {
	w      *worker
	s      *script
	r      *run
	p      *provisioned
	c      *corpus.Case
	levels Levels
	begun  bool // the first step was submitted; set-up is over
	told   []told
	settle func(context.Context) error // undoes BeginCase
}

// told is what has been reported of a statement.
type told struct {
	blocked bool
	holders []int
	done    bool
}

// EventKind says what became of a statement.
type EventKind uint8

const (
	// Answered: the server answered at once.
	Answered EventKind = iota
	// Blocked: the statement waits for a lock.
	Blocked
	// Resumed: a statement that had waited was answered.
	Resumed
	// Parked: its session waits, so it will be sent when that has resumed.
	Parked
)

// Event is news of one statement.
type Event struct {
	Kind    EventKind
	Session int
	// Line is the index into Case.Steps.
	Line int
	// Holders names the sessions in the way of a blocked statement: those that
	// the server names, or else those that have a transaction open.
	Holders []int
	// Result is the answer; nil for Blocked and Parked.
	Result *history.Result
}

// Live begins a case without set-up and steps. Each of MaxLive sessions has the
// isolation level that levels gives it.
func (p *Pool) Live(ctx context.Context, levels Levels) (*Live, error) {
	w, err := p.borrow(ctx)
	if err != nil {
		return nil, err
	}
	l := &Live{w: w, c: &corpus.Case{}, levels: levels, s: &script{}}
	for n := range MaxLive {
		l.s.sessions = append(l.s.sessions, n+1)
	}
	if w.ctl.broken {
		w.hangUp(w.ctl)
		err = w.connectControl(ctx)
	}
	if err == nil {
		l.p, err = w.create(l.s, nil)
	}
	if err != nil {
		p.giveBack(w)
		return nil, fmt.Errorf("make a database: %w", err)
	}
	return l, nil
}

// Case returns what was submitted so far. The caller must not change it.
func (l *Live) Case() *corpus.Case { return l.c }

// Began says that a step was submitted: set-up and levels are settled.
func (l *Live) Began() bool { return l.begun }

// Prepare runs a line of the set-up. Errors: *InitError, *RefusedError.
func (l *Live) Prepare(stmt ast.StmtNode) error {
	if l.begun {
		return errors.New("set-up ends with the first statement of a session")
	}
	sql, _, err := l.prepared(stmt)
	if err != nil {
		return err
	}
	if err := l.w.use(l.w.ctl, l.p.db); err != nil {
		return err
	}
	r, err := l.w.control(sql)
	if err != nil {
		return err
	}
	if r.Err != nil {
		return &InitError{len(l.c.Init), sql, *r.Err}
	}
	l.c.Init = append(l.c.Init, corpus.Line{Stmt: stmt})
	return nil
}

func (l *Live) prepared(stmt ast.StmtNode) (string, traits, error) {
	d, ok := dialects[l.w.pool.server.DBMS]
	if !ok {
		return "", 0, fmt.Errorf("no dialect for a server of family %q", l.w.pool.server.DBMS)
	}
	sql, err := said(stmt, d)
	if err != nil {
		return "", 0, err
	}
	tr, err := inspect(stmt, sql)
	if err == nil && tr&(namesDatabase|uses) != 0 {
		// A whole case is looked through for the one database that it names; here
		// nobody knows yet which that is.
		err = &RefusedError{sql, "it names a database"}
	}
	return sql, tr, err
}

// SetLevels sets the isolation levels of sessions, before the first step.
func (l *Live) SetLevels(levels Levels) error {
	if l.begun {
		return errors.New("levels are settled with the first statement of a session; SET TRANSACTION ISOLATION LEVEL is a statement, too")
	}
	l.levels = levels
	return nil
}

// begin reads the initial state and makes the sessions ready.
func (l *Live) begin(ctx context.Context) error {
	w := l.w
	h := &history.History{Server: w.pool.server, Levels: map[int]corpus.Level{}, Cluster: w.pool.members.told()}
	h.Server.Settings = maps.Clone(h.Server.Settings)
	if h.Server.Settings == nil {
		h.Server.Settings = map[string]string{}
	}
	if w.pool.speech.patient != "" {
		h.Server.Settings["innodb_lock_wait_timeout"] = strconv.Itoa(liveLockWait)
	}
	var err error
	if l.p.tables, h.Views, err = w.listTables(l.p); err != nil {
		return fmt.Errorf("read what the set-up made: %w", err)
	}
	if h.Initial, err = w.readAll(l.p, l.p.tables); err != nil {
		return fmt.Errorf("read the initial state: %w", err)
	}
	if err := w.ready(ctx, l.s, l.p.db, l.levels); err != nil {
		return err
	}
	for _, n := range l.s.sessions {
		h.Levels[n] = l.levels.of(n)
	}
	l.r = newRun(w, l.s, h)
	l.r.end = time.Now().Add(liveDeadline)
	l.r.greet = func(c *connection) error {
		c.tainted = true // by the time-out: no other case gets this session
		if w.pool.speech.patient == "" {
			return nil
		}
		return w.idleExec(c, of(w.pool.speech.patient, liveLockWait))
	}
	for _, lane := range l.r.lanes {
		if err := l.r.greet(lane.connection); err != nil {
			return err
		}
	}
	if o, ok := w.prober.(CaseObserver); ok {
		if err := o.BeginCase(ctx, 0, l.r.ids()); err != nil {
			return fmt.Errorf("prepare the server for a case: %w", err)
		}
		l.settle = o.EndCase
	}
	l.begun = true
	return nil
}

// Do submits a statement of a session, 1 to MaxLive, and returns what came
// about until everybody has answered or waits. Errors: *RefusedError and
// *LevelError leave the Live as it was; after any other it is of no more use.
func (l *Live) Do(ctx context.Context, session int, stmt ast.StmtNode) ([]Event, error) {
	if session < 1 || session > MaxLive {
		return nil, &RefusedError{corpus.SQL(stmt, corpus.Text), fmt.Sprintf("sessions are 1 to %d", MaxLive)}
	}
	sql, tr, err := l.prepared(stmt)
	if err != nil {
		return nil, err
	}
	about, err := l.s.aboutSession(l.c, corpus.Line{Session: session, Stmt: stmt}, sql)
	if err != nil {
		return nil, err
	}
	if l.s.kill != "" && !l.w.pool.mayKill() {
		l.s.kill = ""
		return nil, &RefusedError{sql, errKill}
	}
	if !l.begun {
		if err := l.begin(ctx); err != nil {
			return nil, err
		}
	}
	i := len(l.c.Steps)
	l.c.Steps = append(l.c.Steps, corpus.Line{Session: session, Stmt: stmt})
	l.s.steps = append(l.s.steps, step{session: session, sql: sql, node: stmt, traits: tr, about: about})
	lane := l.r.lane(session)
	if lane.stmt >= 0 || len(lane.parked) > 0 {
		lane.parked = append(lane.parked, i)
		return []Event{{Kind: Parked, Session: session, Line: i}}, nil
	}
	err = l.r.advance(ctx, lane, i, false)
	if err == nil && !l.r.stuck {
		err = l.r.unpark(ctx)
	}
	return l.news(), err
}

// Outstanding returns the sessions that wait, ascending.
func (l *Live) Outstanding() []int {
	var out []int
	if l.r == nil {
		return nil
	}
	for _, lane := range l.r.lanes {
		if lane.stmt >= 0 {
			out = append(out, lane.number)
		}
	}
	return out
}

// Await waits until a waiting statement is answered, by the server's own doing,
// and returns what came about. When ctx ends it returns nothing, and the Live
// goes on. It needs an outstanding statement.
func (l *Live) Await(ctx context.Context) ([]Event, error) {
	for {
		a, ok, err := l.w.mail.receive(ctx, liveDeadline, nil)
		if ctx.Err() != nil && !ok {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if ok {
			// settle is to find it: it must not be cut short by the end of ctx.
			l.w.mail.putBack(a)
			break
		}
	}
	ctx = context.WithoutCancel(ctx)
	err := l.r.settle(ctx, nil)
	if err == nil {
		err = l.r.unpark(ctx)
	}
	return l.news(), err
}

// news returns what has come about since it was last called, in order.
func (l *Live) news() []Event {
	type dated struct {
		Event
		at history.Tick
	}
	var out []dated
	for len(l.told) < len(l.r.h.Stmts) {
		l.told = append(l.told, told{})
	}
	for i := range l.r.h.Stmts {
		st, t := &l.r.h.Stmts[i], &l.told[i]
		e := Event{Session: st.Session, Line: st.Line}
		switch {
		case t.done:
		case st.Return > 0:
			e.Kind, e.Result = Answered, &st.Result
			if len(st.Waits) > 0 {
				e.Kind = Resumed
			}
			if len(st.Waits) > 0 && !t.blocked { // it has waited and gone on within one step
				b := e
				b.Kind, b.Result, b.Holders = Blocked, nil, l.inTheWay(st)
				out = append(out, dated{b, st.Waits[0].From})
			}
			t.done = true
			out = append(out, dated{e, st.Return})
		case len(st.Waits) > 0:
			e.Kind, e.Holders = Blocked, l.inTheWay(st)
			if t.blocked && slices.Equal(t.holders, e.Holders) {
				break
			}
			t.blocked, t.holders = true, e.Holders
			out = append(out, dated{e, st.Waits[len(st.Waits)-1].From})
		}
	}
	slices.SortStableFunc(out, func(a, b dated) int { return int(a.at - b.at) })
	events := make([]Event, len(out))
	for i := range out {
		events[i] = out[i].Event
	}
	return events
}

// inTheWay returns the sessions that a statement waits for. Nobody else uses
// the database, so where the server names none they are among those with a
// transaction open.
func (l *Live) inTheWay(st *history.Stmt) []int {
	if h := st.Waits[len(st.Waits)-1].Holders; len(h) > 0 {
		return h
	}
	var out []int
	for _, lane := range l.r.lanes {
		if lane.inTxn && lane.number != st.Session {
			out = append(out, lane.number)
		}
	}
	return out
}

// ErrOutstanding says that a statement has yet to be answered.
var ErrOutstanding = errors.New("a statement still waits, so there is no whole history")

// History returns the history so far, as if the open transactions were rolled
// back now: its final state is what is committed. Errors: ErrOutstanding.
func (l *Live) History() (*history.History, error) {
	if l.r == nil {
		return nil, errors.New("no session has done anything")
	}
	if l.r.outstanding() > 0 {
		return nil, ErrOutstanding
	}
	h := *l.r.h
	h.Stmts = slices.Clone(h.Stmts)
	h.Levels = l.Levels()
	var err error
	if h.Final, err = l.w.readAll(l.p, l.p.tables); err != nil {
		return nil, fmt.Errorf("read the final state: %w", err)
	}
	return &h, nil
}

// Levels returns the levels of the sessions that have done something.
func (l *Live) Levels() map[int]corpus.Level {
	out := map[int]corpus.Level{}
	for _, n := range l.c.Sessions() {
		out[n] = l.levels.of(n)
	}
	return out
}

// Close ends the sessions, whatever they wait for, and drops the database.
func (l *Live) Close(ctx context.Context) error {
	defer l.w.pool.giveBack(l.w)
	var errs []error
	switch {
	case l.r == nil:
	case l.r.outstanding() > 0:
		errs = append(errs, l.w.kill(l.r), l.r.rollBackPrepared())
	default:
		errs = append(errs, l.r.rollBack(), l.r.rollBackPrepared())
		for _, lane := range l.r.lanes {
			l.w.discard(lane.connection)
		}
	}
	if l.settle != nil {
		errs = append(errs, l.settle(ctx))
	}
	if l.w.ctl.broken {
		l.w.hangUp(l.w.ctl)
		if err := l.w.connectControl(ctx); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	return errors.Join(append(errs, l.w.dropNow(l.p.db))...)
}
