package load

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load/invariant"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// run is a load that is going on.
type run struct {
	backend  harness.Backend
	dial     dial
	dialect  *dialect
	settings Settings
	workload workload
	database string
	begun    time.Time

	control *session // one goroutine's
	beside  bystanders
	count   counts
	down    atomic.Int32 // the server is being killed or stopped
	// powerLost: the server has lost its power at least once.
	powerLost atomic.Bool
	stopped   chan struct{}
	once      sync.Once
	// calm is held while a node of a cluster is broken, and between two epochs; isStill: by who runs these.
	calm    sync.Mutex
	isStill bool
	current *epoch // whose rows are there; calm is held by who uses it while clients work
	// life ends when the server is lost for good; cleaning up still needs it.
	life    context.Context
	endLife context.CancelFunc
	// cluster is what is known of several servers; nil: there is one.
	cluster *cluster
	// invariant is the workload if it is one of that package, else nil; judge keeps what it finds.
	invariant *invariant.Set
	judge     *judge

	mu      sync.Mutex
	err     error // the first that ended the run
	pending []Fault
	// sent counts how the statements of the clients were sent.
	sent sentCounts
}

// now is the time of the history: nanoseconds since the run began.
func (r *run) now() int64 { return int64(time.Since(r.begun)) }

// stop ends the run when the epoch is through.
func (r *run) stop() { r.once.Do(func() { close(r.stopped) }) }

// fail ends the run with an error.
func (r *run) fail(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.stop()
}

// die ends the run at once: the server is lost. err may be nil if that is a
// finding.
func (r *run) die(err error) {
	if err != nil {
		r.fail(err)
	}
	r.stop()
	r.endLife()
}

func (r *run) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *run) noteFault(f Fault) {
	r.count.faults.Add(1)
	r.mu.Lock()
	r.pending = append(r.pending, f)
	r.mu.Unlock()
}

func (r *run) takeFaults() []Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.pending
	r.pending = nil
	return f
}

// epochTime ends an epoch on a slow server.
const epochTime = 5 * time.Second

// epochsAhead is how many epochs may be recorded or wait while one is checked:
// clients wait for the checker rather than fill the memory.
const epochsAhead = 2

// Run loads a backend with clients until the settings or the context end it, and
// checks what they recorded. The report is there unless the run could not begin; an
// error beside it is a failure of the harness or the server.
func Run(ctx context.Context, b harness.Backend, s Settings) (report *Report, err error) {
	r, err := newRun(ctx, b, s)
	if err != nil {
		return nil, err
	}
	defer r.endLife()
	defer r.control.close()
	defer r.beside.close()
	if err := r.prepare(ctx); err != nil {
		return nil, errors.Join(err, r.drop())
	}
	defer func() { err = errors.Join(err, r.cluster.close()) }()
	if err := r.gather(ctx); err != nil {
		return nil, errors.Join(err, r.drop())
	}
	j, err := newJudge(r)
	if err != nil {
		return nil, errors.Join(err, r.drop())
	}
	r.judge = j
	err = j.explain(r.conduct(ctx, j))
	if r.life.Err() != nil {
		// A server that is lost takes its database along.
		return j.report(), r.failed()
	}
	err = errors.Join(err, r.drop())
	report = j.report()
	return report, errors.Join(err, j.makePrograms(ctx, report))
}

// newRun makes a run of which nothing has begun. Its endLife must be called.
func newRun(ctx context.Context, b harness.Backend, s Settings) (*run, error) {
	if err := s.check(b); err != nil {
		return nil, err
	}
	w, err := findWorkload(s.Workload)
	if err != nil {
		return nil, err
	}
	dial, err := dialOf(b)
	if err != nil {
		return nil, err
	}
	var salt [4]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return nil, fmt.Errorf("name the database: %w", err)
	}
	r := &run{
		backend: b, dial: dial, dialect: dialectOf(b.Server().DBMS), settings: s, workload: w,
		begun: time.Now(), stopped: make(chan struct{}),
		database: fmt.Sprintf("%s%d_%s_load", harness.DatabasePrefix, os.Getpid(), hex.EncodeToString(salt[:])),
	}
	r.life, r.endLife = context.WithCancel(context.WithoutCancel(ctx))
	r.keepInvariant()
	r.beside = r.newBystanders()
	r.control = &session{dial: dial, timeout: time.Minute}
	if r.operations() {
		r.control.timeout = s.Timeout // it does nothing that takes longer than what a client does
		r.control.opening = openTime(s.Timeout) + time.Second
	}
	return r, nil
}

// prepare makes the database and the table.
func (r *run) prepare(ctx context.Context) error {
	if r.operations() {
		return r.setUp(ctx)
	}
	enter := fmt.Sprintf(r.dialect.enter, r.database)
	first := []string{fmt.Sprintf(r.dialect.create, r.database), enter}
	for _, q := range slices.Concat(first, r.controlSettings(), r.workload.define(r.dialect), r.beside.define()) {
		if err := r.persist(func(s *session) error { return s.exec(q) }); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	r.control.setup = append([]string{enter}, r.controlSettings()...)
	return r.sweep(false)
}

// drop drops the database, which is ours by its name, even after the run was
// interrupted. Behind an adapter nothing was made.
func (r *run) drop() error {
	r.beside.close()
	if r.operations() {
		return nil
	}
	left := r.sweep(true) // locks of what is prepared would keep the tables
	q := fmt.Sprintf(r.dialect.drop, r.database)
	if err := r.persist(func(s *session) error { return s.exec(q) }); err != nil {
		return errors.Join(left, fmt.Errorf("drop %s: %w", r.database, err))
	}
	return left
}

// persist does something on the control connection, again where that is lost: the
// server may be down for a moment.
func (r *run) persist(do func(*session) error) error {
	return r.persistOn(r.control, func() error { return do(r.control) })
}

func (r *run) persistOn(s *session, do func() error) error {
	end := time.Now().Add(r.patience())
	for {
		err := s.untilConnected(r.life, time.Until(end))
		if err != nil {
			return err
		}
		if err = do(); !r.passes(s, err) || r.life.Err() != nil || time.Now().After(end) {
			return err
		}
		if s.conn != nil {
			lookAgain(r.life)
		}
	}
}

// clients starts the clients, each of which takes epochs from a channel of its own.
func (r *run) clients(ctx context.Context, j *judge, wait *sync.WaitGroup) []chan *epoch {
	server := r.backend.Server()
	locks, _ := locksFor(r.settings.Workload, r.settings.Reads, server) // checked before
	opened, _ := openingsFor(r.settings.Openings, r.settings.Workload, server.DBMS, r.settings.Level)
	setup := r.dialect.begin(r.settings.Level, r.database)
	if w, ok := r.workload.(interface{ settings(*dialect) []string }); ok {
		setup = append(setup, w.settings(r.dialect)...)
	}
	channels := make([]chan *epoch, r.settings.Clients)
	all := make([]*client, r.settings.Clients)
	var nodes []*node
	if r.cluster != nil {
		nodes = r.cluster.spread(r.settings.Clients)
	}
	for i := range channels {
		channels[i] = make(chan *epoch, 1)
		c := &client{
			run: r, number: i, process: int64(readerSession + 1 + i),
			session:  &session{dial: r.clientDial(i, r.dial), timeout: r.settings.Timeout, opening: r.control.opening, setup: setup},
			openings: opened,
			chooser: chooser{
				rand:     mathrand.New(mathrand.NewPCG(r.settings.Seed, uint64(i))),
				chained:  r.settings.Reads == AutoReads && !j.asked && j.promise.views != whole,
				replaces: r.dialect.replaces, even: r.settings.Keys > 0,
				// Its REPEATABLE READ compares with the snapshot what UPDATE, DELETE and locking reads meet, not
				// what INSERT does. https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ
				revives: server.DBMS != history.PostgreSQL || r.settings.Level != corpus.RepeatableRead,
				locks:   locks, last: kv.Value(i), step: kv.Value(r.settings.Clients),
			},
		}
		if nodes != nil {
			c.goTo(nodes[i], setup[1:])
		}
		c.keepInvariant()
		all[i] = c
	}
	if r.operations() {
		connectAll(ctx, all)
	}
	for i, c := range all {
		wait.Go(func() { c.loop(ctx, channels[i]) })
	}
	return channels
}

// conduct runs epoch after epoch and hands each to the judge.
func (r *run) conduct(ctx context.Context, j *judge) error {
	var working, judging, meddling sync.WaitGroup
	clientLife, stopClients := context.WithCancel(ctx)
	defer stopClients()
	defer context.AfterFunc(r.life, stopClients)()
	channels := r.clients(clientLife, j, &working)
	recorded := make(chan *epoch)
	judging.Add(1)
	free := make(chan []*tape, epochsAhead+1)
	for range cap(free) {
		free <- r.newTapes()
	}
	go func() {
		defer judging.Done()
		for e := range recorded {
			if err := j.judge(e); err != nil {
				r.fail(err)
			}
			free <- e.tapes
		}
	}()
	meddling.Add(1)
	go func() {
		defer meddling.Done()
		if err := r.faults(r.stopped); err != nil {
			j.faultFailed(err)
		}
	}()
	watched := make(chan struct{})
	go r.watch(j, watched)
	if r.settings.Duration > 0 {
		timer := time.AfterFunc(r.settings.Duration, r.stop)
		defer timer.Stop()
	}
	unhook := context.AfterFunc(ctx, r.stop)
	defer unhook()

	err := r.epochs(channels, free, recorded)
	r.stop()
	for _, c := range channels {
		close(c)
	}
	working.Wait()
	meddling.Wait()
	close(recorded)
	judging.Wait()
	close(watched)
	j.close()
	if failed := r.failed(); adapterFailed(failed) {
		return failed // what else failed followed from it
	}
	return errors.Join(r.failed(), err)
}

// await returns when an epoch has ended. While a node of a cluster is broken it goes on, so that the node comes back to
// clients that work.
func (r *run) await(e *epoch) {
	timer := time.NewTimer(epochTime)
	defer timer.Stop()
	for {
		select {
		case <-e.ended:
			return
		case <-r.stopped:
			e.end()
		case <-timer.C:
			if r.breakable() == nil || r.down.Load() == 0 {
				e.lasted()
			}
			timer.Reset(epochTime / 10)
		}
	}
}

// epochs runs them until the run is stopped.
func (r *run) epochs(channels []chan *epoch, free <-chan []*tape, recorded chan<- *epoch) error {
	defer r.moving()
	for n := 0; ; n++ {
		e := r.newEpoch(n, <-free)
		if err := r.still(); err != nil {
			return err
		}
		if err := r.begin(e); err != nil {
			return err
		}
		if stop, err := r.catchUp(e); stop || err != nil {
			if stop {
				recorded <- e
			}
			return err
		}
		if err := r.beside.renew(r); err != nil {
			return err
		}
		r.current = e
		r.moving()
		for _, c := range channels {
			c <- e
		}
		if r.settings.Backup != "" {
			e.running.Add(1)
			go r.backups(e)
		}
		r.await(e)
		e.running.Wait()
		if err := r.failed(); outOfStep(err) {
			return err // what this epoch has recorded may be wrong
		}
		if err := r.still(); err != nil {
			return err
		}
		if err := r.finish(e); err != nil {
			return err
		}
		end, err := r.compare(e)
		if err != nil {
			return err
		}
		if end {
			r.stop()
		}
		e.faults = r.takeFaults()
		recorded <- e
		select {
		case <-r.stopped:
			return nil
		default:
		}
		if t := r.settings.Transactions; t > 0 && r.count.all() >= t {
			return nil
		}
	}
}
