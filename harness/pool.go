package harness

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// DatabasePrefix starts the name of every database that the tool makes. No
// other database is ever written to or dropped.
const DatabasePrefix = history.ScratchPrefix

// PoolOptions says how cases are run. Zero values mean the defaults.
type PoolOptions struct {
	// Workers is how many cases run at a time; default 1.
	Workers int
	// DeadLine bounds one case, set-up excluded; default 8 s, because a worker
	// of native fuzzing gives up after 10.
	DeadLine time.Duration
	// Silence is how long a statement may neither answer nor be seen to wait
	// before it counts as waiting; default 2 s.
	Silence time.Duration
	// Ahead lets each worker prepare a second case while the first runs: its tables
	// are made and filled, and those of the first are read back while the second
	// runs. It is for callers that have the next case before they need the last
	// one's history. It takes a second database for each schema, and second
	// connections.
	Ahead bool
	// CacheSize is of how many schemas the pool keeps databases for each worker, twice
	// as many with Ahead; default 96, a little more than the stored cases have schemas.
	CacheSize int
	// TruncateEvery is after how many uses a table is truncated instead of
	// emptied; default 500 on TiDB, which never collects dead versions here,
	// else 5000.
	TruncateEvery int
	// Clean truncates the tables before each case. DELETE leaves delete-marked
	// records until purge has passed, and InnoDB's locks on them can change what
	// a case does: with Clean a history does not depend on what ran before. It
	// costs 0.5 ms a case on MariaDB and 2 ms on MySQL; on TiDB, where nothing is
	// left to be met, it is ignored.
	Clean bool
	// InFlight is a directory for the text of the cases that are running, for
	// the case that they take the process down; empty: none is written.
	InFlight string
	// AllowKill lets cases with KILL run on a server of others, a Tenant's.
	AllowKill bool
	// ReplicaPromise is what the primary's replica promises to show: what sessions on it read while a case runs is in the
	// History then. nil: nothing is read there.
	ReplicaPromise *history.ReplicaPromise
	// Declared is what histories tell of their server beside what the server tells of itself.
	Declared *history.Declared

	_ struct{} // no positional literals
}

func (o *PoolOptions) fillDefaults(dbms history.DBMS) {
	if o.Workers <= 0 {
		o.Workers = 1
	}
	if o.DeadLine <= 0 {
		o.DeadLine = 8 * time.Second
	}
	if o.Silence <= 0 {
		o.Silence = 2 * time.Second
	}
	if o.CacheSize <= 0 {
		o.CacheSize = 96
	}
	if o.TruncateEvery <= 0 {
		o.TruncateEvery = 5000
		if dbms == history.TiDB {
			o.TruncateEvery = 500
		}
	}
}

// Levels gives the isolation level of each session: By where it has the
// session, else Default.
type Levels struct {
	Default corpus.Level
	By      map[int]corpus.Level
}

// At returns Levels that are the same for every session.
func At(l corpus.Level) Levels { return Levels{Default: l} }

func (l Levels) of(session int) corpus.Level {
	if v, ok := l.By[session]; ok {
		return v
	}
	return l.Default
}

// LevelError says that the server does not take an isolation level.
type LevelError struct {
	Level corpus.Level
	Err   history.Error
}

func (e *LevelError) Error() string {
	return fmt.Sprintf("the server does not take level %s: error %d: %s", e.Level, e.Err.Code, e.Err.Message)
}

// LostError says that the server or a connection to it was lost in a case. The
// History that comes with it holds what was seen until then.
type LostError struct{ Err error }

func (e *LostError) Error() string { return "lost the server: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// Pool runs cases on one backend, several at a time. Each worker keeps its own
// connections; the databases are common to all. A Pool is safe for several
// goroutines.
type Pool struct {
	db     Database
	speech *speech
	// replicated is nil where nothing is replicated.
	replicated Replicated
	// members is nil where all sessions are on one server.
	members *members
	// holdable is nil where no statement can be held.
	holdable Holdable
	server   history.Server
	opt      PoolOptions
	prefix   string // of the databases of this pool
	shelf    *shelf
	reaped   func()        // closes the connection of what empties the shelf
	cutReap  func()        // breaks off what that does
	owner    Session       // holds the lock of the prefix; nil: none is needed
	turn     chan struct{} // a token for each case that may run
	idle     chan *worker
	workers  []*worker
	// alone holds a place for each worker that runs statements alone, nil until it is first needed: judging a case does
	// not wait for the run of another.
	alone  chan *worker
	close  sync.Once
	closed chan struct{}
	stats  counters
	// tenant says that the server is one of others.
	tenant bool
	// named counts the runs that have drawn names of their own.
	named atomic.Int64
	// suspect is set once a table disagreed with its indexes.
	suspect atomic.Bool
}

// Stats counts what a pool has done since it was made.
type Stats struct {
	Cases, Statements, Waits int64
	// Asks counts the questions put to the server about waits.
	Asks int64
	// WaitKnown sums, over the waits of statements just submitted, the time
	// from the submission until the wait was known; WaitsTimed counts them.
	WaitKnown  time.Duration
	WaitsTimed int64
	// Provisioned counts schemas made, Reused those found in a cache.
	Provisioned, Reused int64
	// Agreed counts the cases whose tables were held against their indexes.
	Agreed int64
	// Replicated counts the cases whose tables were compared with those of a replica, Unsafe the statements in cases of
	// which the server told that their form in the binary log is unsafe.
	Replicated, Unsafe int64
	// Watched counts the cases that were read on the replica, Reads those reads, and Refused the ones among them that it
	// answered with an error.
	Watched, Reads, Refused int64
	// Prepared counts the statements of cases that were prepared, executed and closed, Executed those whose session kept
	// them prepared, Unprepared those that were to be prepared and went as text, since the server cannot.
	Prepared, Executed, Unprepared int64
	// Phases sums what the cases took, those that broke down too.
	Phases Phases
}

type counters struct {
	cases, statements, waits, asks, known, timed, made, reused, agreed, replicated, unsafe atomic.Int64
	prepared, executed, unprepared, watched, reads, refused                                atomic.Int64
	phases                                                                                 phaseSums
}

// Stats returns the counters of the pool.
func (p *Pool) Stats() Stats {
	c := &p.stats
	return Stats{
		Cases: c.cases.Load(), Statements: c.statements.Load(), Waits: c.waits.Load(), Asks: c.asks.Load(),
		WaitKnown: time.Duration(c.known.Load()), WaitsTimed: c.timed.Load(),
		Provisioned: c.made.Load(), Reused: c.reused.Load(), Agreed: c.agreed.Load(),
		Prepared: c.prepared.Load(), Executed: c.executed.Load(), Unprepared: c.unprepared.Load(),
		Watched: c.watched.Load(), Reads: c.reads.Load(), Refused: c.refused.Load(),
		Replicated: c.replicated.Load(), Unsafe: c.unsafe.Load(), Phases: c.phases.load(),
	}
}

// ErrClosed is what Run returns after Close.
var ErrClosed = errors.New("pool is closed")

// NewPool connects the workers. The pool does not own the backend.
func NewPool(ctx context.Context, b Backend, o PoolOptions) (*Pool, error) {
	_, tenant := b.(Tenant)
	holdable, _ := b.(Holdable)
	db, err := DatabaseOf(b)
	if err != nil {
		return nil, err
	}
	members, err := membersOf(b)
	if err != nil {
		return nil, err
	}
	replicated, _ := b.(Replicated)
	return newPool(ctx, db, replicated, members, holdable, tenant, o)
}

// DatabaseOf returns a Backend as a Database.
func DatabaseOf(b Backend) (Database, error) {
	if db, ok := b.(Database); ok {
		return db, nil
	}
	w, err := WiredOf(b)
	if err != nil {
		return nil, err
	}
	return mysqlDatabase{w, &Refusals{}}, nil
}

func newPool(ctx context.Context, db Database, replicated Replicated, members *members, holdable Holdable, tenant bool, o PoolOptions) (*Pool, error) {
	var salt [4]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return nil, fmt.Errorf("name the databases: %w", err)
	}
	p := &Pool{
		db: db, speech: speechOf(db.Server().DBMS), replicated: replicated, members: members, holdable: holdable, server: db.Server(), opt: o, tenant: tenant, closed: make(chan struct{}),
		prefix: fmt.Sprintf("%s%d_%s_", DatabasePrefix, os.Getpid(), hex.EncodeToString(salt[:])),
	}
	p.server.Declared = o.Declared
	p.opt.fillDefaults(p.server.DBMS)
	if tenant {
		p.prefix = fmt.Sprintf("%s%d_%sk_", DatabasePrefix, os.Getpid(), hex.EncodeToString(salt[:]))
		var err error
		if p.owner, err = claim(ctx, db, p.prefix); err != nil {
			return nil, err
		}
	}
	workers := p.opt.Workers
	p.turn = make(chan struct{}, workers)
	for range workers {
		p.turn <- struct{}{}
	}
	if p.opt.Ahead {
		workers *= 2
	}
	var reap func([]string) error
	reap, p.cutReap, p.reaped = reaper(db)
	p.shelf = newShelf(p.prefix, (workers+p.opt.Workers)*p.opt.CacheSize, reap)
	p.idle, p.alone = make(chan *worker, workers), make(chan *worker, p.opt.Workers)
	for range p.opt.Workers {
		p.alone <- nil
	}
	for i := range workers {
		w, err := newWorker(ctx, p)
		if err != nil {
			_ = p.Close()
			return nil, fmt.Errorf("start worker %d: %w", i, err)
		}
		p.workers = append(p.workers, w)
		p.idle <- w
	}
	return p, nil
}

// mayKill says whether a case may kill its own sessions.
func (p *Pool) mayKill() bool { return !p.tenant || p.opt.AllowKill }

// Server tells what the cases run on.
func (p *Pool) Server() history.Server { return p.server }

// Run executes a case and returns what was seen. Errors: *InitError,
// *LevelError and *RefusedError blame the case or its levels; *LostError comes
// with a partial History; anything else is a fault of the harness.
//
// Final is read when every session has ended: a transaction that the case left
// open is rolled back first. It is absent from a history that ended Stuck.
func (p *Pool) Run(ctx context.Context, c *corpus.Case, levels Levels) (*history.History, error) {
	return p.run(ctx, c, levels, p.past(), (*run).watched)
}

// past is what the tables of a case have been used for before.
func (p *Pool) past() past {
	if p.opt.Clean {
		return truncated
	}
	return refilled
}

// RunSampled is Run for one of many cases: while one of readEvery cases runs, which its text decides, its tables are read
// on the replica.
func (p *Pool) RunSampled(ctx context.Context, c *corpus.Case, levels Levels) (*history.History, error) {
	return p.run(ctx, c, levels, p.past(), (*run).sampled)
}

// RunUnread is Run without readers on the replica.
func (p *Pool) RunUnread(ctx context.Context, c *corpus.Case, levels Levels) (*history.History, error) {
	return p.run(ctx, c, levels, p.past(), (*run).observe)
}

// RunFresh is Run in a database that is made for this one run and dropped behind
// it, which costs up to 100 ms: no table of it has held anything before.
func (p *Pool) RunFresh(ctx context.Context, c *corpus.Case, levels Levels) (*history.History, error) {
	return p.run(ctx, c, levels, brandNew, (*run).watched)
}

// RunClean is Run on truncated tables, see PoolOptions.Clean: for a history
// that is to be repeated.
func (p *Pool) RunClean(ctx context.Context, c *corpus.Case, levels Levels) (*history.History, error) {
	return p.run(ctx, c, levels, truncated, (*run).watched)
}

// past is what the tables of a run may have held before it.
type past uint8

const (
	refilled  past = iota // what earlier cases left, deleted
	truncated             // earlier cases' tables, made anew
	// shown is truncated for a statement of PostgreSQL that is held or recorded: the sessions have run the same
	// statements before, and come across the tables since.
	shown
	brandNew // nothing
)

func (p *Pool) run(ctx context.Context, c *corpus.Case, levels Levels, tables past, observe func(*run, context.Context) error) (*history.History, error) {
	w, err := p.borrow(ctx)
	if err != nil {
		return nil, err
	}
	defer p.giveBack(w)
	s, err := p.script(c)
	if err != nil {
		return nil, err
	}
	if held, _ := c.Held(); held >= 0 && p.server.DBMS == history.PostgreSQL {
		tables = shown
	}
	s.clean = (tables == truncated || tables == shown || s.leftovers) && p.server.DBMS != history.TiDB
	s.shown = tables == shown
	s.refill = s.refill && tables != brandNew
	s.readable = s.known(c, p.server.DBMS)
	if s.shown {
		if err := w.rehearse(ctx, c, levels); err != nil {
			return nil, err
		}
	}
	return w.run(ctx, c, s, levels, observe)
}

func (p *Pool) borrow(ctx context.Context) (*worker, error) { return p.oneOf(ctx, p.idle) }

// borrowAlone returns a worker that runs statements alone.
func (p *Pool) borrowAlone(ctx context.Context) (*worker, error) {
	w, err := p.oneOf(ctx, p.alone)
	if err == nil && w == nil {
		if w, err = newWorker(ctx, p); err != nil {
			p.alone <- nil
			return nil, fmt.Errorf("start a worker that runs statements alone: %w", err)
		}
	}
	return w, err
}

func (p *Pool) oneOf(ctx context.Context, idle chan *worker) (*worker, error) {
	select {
	case <-p.closed: // a select among ready cases is random
		return nil, ErrClosed
	default:
	}
	select {
	case w := <-idle:
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, ErrClosed
	}
}

func (p *Pool) giveBack(w *worker) { p.idle <- w }

func (p *Pool) giveBackAlone(w *worker) { p.alone <- w }

// Close waits for running cases, drops the databases that the pool made and
// closes its connections.
func (p *Pool) Close() error { return p.end(true) }

// Leave is Close for a server that ends with its data right behind it: nothing is
// dropped, which takes MySQL seconds.
func (p *Pool) Leave() error { return p.end(false) }

func (p *Pool) end(drop bool) error {
	var errs []error
	p.close.Do(func() {
		close(p.closed)
		for range p.workers {
			w := <-p.idle
			for _, s := range w.sessions {
				w.hangUp(s)
			}
		}
		for range p.opt.Workers {
			if w := <-p.alone; w != nil {
				p.workers = append(p.workers, w)
			}
		}
		if drop {
			errs = append(errs, p.emptyShelf())
		} else {
			p.leaveShelf()
		}
		for _, w := range p.workers {
			errs = append(errs, w.close())
		}
		if p.owner != nil {
			_ = p.owner.Close()
		}
	})
	return errors.Join(errs...)
}

// leaveShelf forgets the databases that the pool made.
func (p *Pool) leaveShelf() {
	p.cutReap()
	p.shelf.end()
	p.reaped()
}

// emptyShelf drops the databases that the pool made, on the control connection of
// one of its workers.
func (p *Pool) emptyShelf() error {
	defer p.reaped()
	if len(p.workers) == 0 {
		return p.shelf.close(func([]string) error { return nil })
	}
	w := p.workers[0]
	return p.shelf.close(func(dbs []string) error {
		if w.ctl.broken {
			w.hangUp(w.ctl)
			ctx, cancel := context.WithTimeout(context.Background(), grace)
			defer cancel()
			if err := w.connectControl(ctx); err != nil {
				return fmt.Errorf("drop databases: %w", err)
			}
		}
		late := time.AfterFunc(dropPatience, w.ctl.Cut)
		defer late.Stop()
		return w.ctlExec(p.speech.dropping(dbs))
	})
}
