package harness

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// maxSessions bounds the sessions of one case, and so the answers that can be
// under way: a session never blocks when it delivers one.
const maxSessions = 64

// grace is what is given beyond a case's deadline to set-up, final reads and
// killed sessions before the sockets are closed.
const grace = 5 * time.Second

// worker runs one case at a time.
type worker struct {
	pool     *Pool
	ctl      *connection // for set-up, final reads and KILL
	sessions map[int]*connection
	prober   Prober
	behind   *behind   // nil where there is no replica
	readers  *readers  // nil where there is no replica to read on
	reading  *reading  // of the case that runs; nil: nothing is read
	sides    []*remote // the members of a cluster; nil until they are needed
	unsafe   []int     // statements of the case that runs that the server calls unsafe in its binary log
	holds    Holder    // nil until a statement is to be held
	mail     mail
	gates    gates
	flight   *flightFile

	mu   sync.Mutex
	live map[*connection]bool // sessions with an open socket
}

func newWorker(ctx context.Context, p *Pool) (*worker, error) {
	w := &worker{
		pool: p, sessions: map[int]*connection{}, live: map[*connection]bool{},
	}
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *worker) open(ctx context.Context) (err error) {
	o := &w.pool.opt
	if o.InFlight != "" {
		if w.flight, err = openFlight(o.InFlight); err != nil {
			return err
		}
	}
	if err := w.connectControl(ctx); err != nil {
		return errors.Join(err, w.flight.remove())
	}
	if w.mail, err = newMail(w.ctl); err != nil {
		w.hangUp(w.ctl)
		return errors.Join(err, w.flight.remove())
	}
	if w.prober, err = w.pool.prober(ctx); err != nil {
		w.hangUp(w.ctl)
		_ = w.mail.close()
		return errors.Join(fmt.Errorf("open prober: %w", err), w.flight.remove())
	}
	if w.behind, err = w.pool.follow(ctx); err != nil {
		return errors.Join(err, w.close())
	}
	if w.readers, err = w.pool.watchReplica(ctx); err != nil {
		return errors.Join(err, w.close())
	}
	return nil
}

func (w *worker) connectControl(ctx context.Context) error {
	s, err := w.connect(ctx, 0)
	if err == nil {
		w.ctl = s
	}
	return err
}

func (w *worker) connect(ctx context.Context, number int) (*connection, error) {
	opened, member, err := w.pool.open(ctx, number)
	if err != nil {
		return nil, fmt.Errorf("connect session %d: %w", number, err)
	}
	s := newConnection(opened, number)
	s.id |= member
	w.mu.Lock()
	w.live[s] = true
	w.mu.Unlock()
	return s, nil
}

// hangUp closes an idle or broken session, once.
func (w *worker) hangUp(s *connection) {
	w.mu.Lock()
	open := w.live[s]
	delete(w.live, s)
	w.mu.Unlock()
	if !open {
		return
	}
	if s.joined {
		w.mail.leave(s)
	}
	_ = s.Close()
}

// cutAll closes every socket; it is called from a timer.
func (w *worker) cutAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.live {
		s.Cut()
	}
}

// control runs a statement on the control connection.
func (w *worker) control(sql string) (Reply, error) {
	r, err := w.ctl.Execute(sql)
	if err != nil {
		w.ctl.broken = true
		return r, &LostError{fmt.Errorf("control connection: %s: %w", sql, err)}
	}
	return r, nil
}

// query is control for statements that are ours, where an error packet is a
// fault of the harness.
func (w *worker) query(sql string) (Reply, error) {
	r, err := w.control(sql)
	if err == nil && r.Err != nil {
		err = fmt.Errorf("%s: error %d (%s): %s", sql, r.Err.Code, r.Err.State, r.Err.Message)
		if w.pool.members != nil && OutsideCluster(r.Err.Code) {
			err = &LostError{&LeftError{err}}
		}
	}
	return r, err
}

func (w *worker) ctlExec(sql string) error {
	_, err := w.query(sql)
	return err
}

// use makes db the database of an idle session.
func (w *worker) use(s *connection, db string) error {
	if s.db == db {
		return nil
	}
	if err := w.idleExec(s, w.pool.speech.use+db); err != nil {
		return err
	}
	s.db = db
	return nil
}

// idleExec runs a statement of ours on a session that has none outstanding.
func (w *worker) idleExec(s *connection, sql string) error {
	r, err := w.idle(s, sql)
	if err == nil && r.Err != nil {
		err = fmt.Errorf("session %d: %s: error %d (%s): %s", s.number, sql, r.Err.Code, r.Err.State, r.Err.Message)
	}
	return err
}

// idle runs a statement on a session's connection from this goroutine, which
// is allowed while the session's own goroutine waits for a statement.
func (w *worker) idle(s *connection, sql string) (Reply, error) {
	r, err := s.Execute(sql)
	if err != nil {
		s.broken = true
		return r, &LostError{fmt.Errorf("session %d: %s: %w", s.number, sql, err)}
	}
	return r, nil
}

// ready gives the sessions of a case their connections, in the state that a
// case starts from: no transaction, the case's database, the level.
func (w *worker) ready(ctx context.Context, s *script, db string, levels Levels) error {
	for _, n := range s.sessions {
		c := w.sessions[n]
		// What a node of a cluster does with a transaction can depend on whether its connection has written before.
		if c != nil && (c.broken || c.tainted || s.traits&taints != 0 || w.pool.members != nil) {
			w.discard(c)
			c = nil
		}
		if c == nil {
			var err error
			if c, err = w.openSession(ctx, n); err != nil {
				return err
			}
		}
		if err := w.readySession(c, db, levels.of(n)); err != nil {
			return err
		}
		if err := c.readyFor(s); err != nil {
			return err
		}
	}
	return nil
}

// openSession connects a session of a case.
func (w *worker) openSession(ctx context.Context, number int) (*connection, error) {
	c, err := w.connect(ctx, number)
	if err != nil {
		return nil, &LostError{err}
	}
	if err := w.mail.join(c); err != nil {
		w.hangUp(c)
		return nil, err
	}
	c.joined = true
	w.sessions[number] = c
	return c, nil
}

// readySession brings a session's connection into the state that it starts from.
func (w *worker) readySession(c *connection, db string, want corpus.Level) error {
	c.inTxn = false
	if err := w.use(c, db); err != nil {
		return err
	}
	if want == 0 {
		return fmt.Errorf("no isolation level given for session %d", c.number)
	}
	if c.level == want {
		return nil
	}
	r, err := w.idle(c, w.pool.speech.setsLevel(want))
	if err != nil {
		return err
	}
	if r.Err != nil {
		return &LevelError{want, *r.Err}
	}
	c.level = want
	return nil
}

// discard closes a session's connection for good.
func (w *worker) discard(s *connection) {
	delete(w.sessions, s.number)
	w.hangUp(s)
}

// run executes one case from set-up to final read; observe submits the statements.
func (w *worker) run(ctx context.Context, c *corpus.Case, s *script, levels Levels, observe func(*run, context.Context) error) (*history.History, error) {
	if len(s.sessions) > maxSessions {
		return nil, fmt.Errorf("case has %d sessions, at most %d can be run", len(s.sessions), maxSessions)
	}
	h := &history.History{Server: w.pool.server, Levels: map[int]corpus.Level{}, Cluster: w.pool.members.told()}
	for _, n := range s.sessions {
		h.Levels[n] = levels.of(n)
	}
	if w.flight != nil {
		if err := w.flight.write(c, h.Levels); err != nil {
			return nil, err
		}
		defer w.flight.clear()
	}
	err := w.perform(ctx, s, h, levels, observe)
	return w.conclude(ctx, h, err)
}

// perform does the work of run; submit is what submits the statements.
func (w *worker) perform(ctx context.Context, s *script, h *history.History, levels Levels, submit func(*run, context.Context) error) (err error) {
	if s.kill != "" && !w.pool.mayKill() {
		return &RefusedError{s.kill, errKill}
	}
	dog, err := w.start(ctx)
	if err != nil {
		return err
	}
	defer dog.Stop()
	if o, ok := w.prober.(CaseObserver); ok && s.past {
		// What the set-up deletes is to be there when the case begins: purge must
		// not come between.
		if err := o.BeginCase(ctx, 0, nil); err != nil {
			return lostUnlessCancelled(ctx, fmt.Errorf("prepare the server for a set-up: %w", err))
		}
		defer func() { _ = o.EndCase(ctx) }() // at the latest
	}
	p, initial, err := w.provision(s)
	if err != nil {
		return err
	}
	h.Initial, h.Views, h.Database = initial, p.views, s.database
	defer func() { w.retire(p, err != nil) }()
	if err := w.everywhere(ctx); err != nil {
		return err
	}
	begun := time.Now()
	err = w.ready(ctx, s, p.db, levels)
	w.charge(Connect, begun)
	if err != nil {
		return err
	}
	err = w.drive(ctx, dog, s, p, h, submit)
	defer func() {
		w.reading.close(w, h, err)
		w.reading = nil
	}()
	if err != nil || h.End != history.Complete {
		return err
	}
	defer w.charge(ReadBack, time.Now())
	if err := w.everywhere(ctx); err != nil {
		return err
	}
	specs := p.tables
	if s.traits&altersSchema != 0 {
		if specs, _, err = w.listTables(p); err != nil {
			return err
		}
	}
	if h.Final, err = w.readAll(p, specs); err == nil {
		for i := range h.Final {
			h.Final[i].Create = ""
		}
		p.after = h.Final
		h.Disagreement, err = w.agreement(s, h.Final)
	}
	if err == nil && w.behind != nil {
		if err = w.compareReplica(ctx, outcome{s, p, specs, h.Final, "the primary"}, h); h.Replica != nil {
			p.dirty = true
		}
	}
	if err == nil && w.pool.members != nil {
		on := "member " + w.pool.members.names[0]
		if err = w.compareMembers(ctx, outcome{s, p, specs, h.Final, on}, h); h.Replica != nil {
			p.dirty = true
		}
	}
	w.pool.stats.cases.Add(1)
	w.pool.stats.statements.Add(int64(len(h.Stmts)))
	return err
}

// drive runs the statements of a case when it is its turn, and leaves no session in
// a transaction.
func (w *worker) drive(
	ctx context.Context, dog *watchdog, s *script, p *provisioned, h *history.History,
	submit func(*run, context.Context) error,
) (err error) {
	select {
	case <-w.pool.turn:
	case <-ctx.Done():
		return fmt.Errorf("run a case: %w", ctx.Err())
	}
	defer func() { w.pool.turn <- struct{}{} }()
	dog.Reset(w.longest())
	r := newRun(w, s, h)
	r.tables = p
	w.unsafe = nil
	if o, ok := w.prober.(CaseObserver); ok {
		begun := time.Now()
		err = o.BeginCase(ctx, s.key(), r.ids())
		w.charge(Ask, begun)
		if err != nil {
			return lostUnlessCancelled(ctx, fmt.Errorf("prepare the server for a case: %w", err))
		}
		defer func() {
			begun := time.Now()
			e := o.EndCase(ctx)
			w.charge(Ask, begun)
			if e != nil && err == nil {
				err = lostUnlessCancelled(ctx, fmt.Errorf("release the server after a case: %w", e))
			}
		}()
	}
	r.watch()
	if s.shown {
		if err := w.show(p, r); err != nil {
			return err
		}
	}
	begun := time.Now()
	err = submit(r, ctx)
	w.pool.stats.phases[Run].Add(int64(time.Since(begun) - r.asked))
	w.pool.stats.phases[Ask].Add(int64(r.asked))
	if s.traits&altersSchema != 0 {
		p.dirty = true
	}
	if err != nil || h.End != history.Complete {
		p.dirty = true
		return errors.Join(err, w.kill(r), r.rollBackPrepared())
	}
	return errors.Join(r.rollBack(), r.rollBackPrepared())
}

// show has each session come across the tables, without a look at their rows.
func (w *worker) show(p *provisioned, r *run) error {
	var b strings.Builder
	for _, t := range p.tables {
		b.WriteString("SELECT FROM " + w.pool.speech.quote(t.name) + " WHERE false;")
	}
	for _, l := range r.lanes {
		if err := w.idleExec(l.connection, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// start makes sure of the control connection and bounds what comes: a server
// that stops answering ends in closed sockets, never in a hang.
func (w *worker) start(ctx context.Context) (*watchdog, error) {
	if w.ctl.broken {
		w.hangUp(w.ctl)
		if err := w.connectControl(ctx); err != nil {
			return nil, &LostError{err}
		}
	}
	return newWatchdog(ctx, w.longest(), w.cutAll), nil
}

// longest is what a case may take before its sockets are closed; its turn counts
// anew.
func (w *worker) longest() time.Duration { return 2*w.pool.opt.DeadLine + stuckAfter + grace }

// conclude turns the loss of a server into End and Detail.
func (w *worker) conclude(ctx context.Context, h *history.History, err error) (*history.History, error) {
	var lost *LostError
	if errors.As(err, &lost) {
		h.End = history.Lost
		h.Detail = lost.Error()
		if e := w.pool.db.Alive(ctx); e != nil {
			h.Detail += "\nserver: " + e.Error()
		}
		if log := w.pool.db.Log(); log != "" {
			h.Detail += "\n" + log
		}
		return h, err
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// retire gives a database back, or leaves it to be dropped if it cannot be used
// again.
func (w *worker) retire(p *provisioned, failed bool) {
	if p.dirty || failed {
		w.pool.shelf.discard(p.db)
		return
	}
	w.pool.shelf.give(p)
}

// key hashes what a script sends, so that equal cases are treated alike.
func (s *script) key() uint64 {
	f := fnv.New64a()
	for _, sql := range s.init {
		_, _ = f.Write([]byte(sql))
		_, _ = f.Write([]byte{0})
	}
	for _, st := range s.steps {
		_, _ = f.Write([]byte{byte(st.session)})
		_, _ = f.Write([]byte(st.sql))
		_, _ = f.Write([]byte{0})
	}
	return f.Sum64()
}

// dropNow drops a database and waits for it.
func (w *worker) dropNow(db string) error {
	return w.pool.shelf.drop([]string{db}, func(dbs []string) error { return w.ctlExec(w.pool.speech.dropping(dbs)) })
}

func (w *worker) close() error {
	w.hangUp(w.ctl)
	var errs []error
	if w.holds != nil {
		errs = append(errs, w.holds.Close())
	}
	if w.behind != nil {
		errs = append(errs, w.behind.close())
	}
	if w.readers != nil {
		errs = append(errs, w.readers.close())
	}
	errs = append(errs, w.leaveMembers())
	return errors.Join(append(errs, w.mail.close(), w.prober.Close(), w.flight.remove())...)
}
