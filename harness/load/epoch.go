package load

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load/invariant"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// epoch is a stretch of a run with keys of its own, after which all clients stop
// between two transactions and everything is read.
type epoch struct {
	number int
	keys   *keys
	// tapes of the clients, and behind them that of the reader.
	tapes []*tape
	// quota of one client: what it may record before the epoch ends.
	quota int

	over atomic.Bool
	// copying: the files of the server are being copied, and the clients are to work until that is through.
	copying atomic.Bool
	// short: the epoch can have no more transactions than it is to have.
	short bool
	// due: the epoch has lasted long enough.
	due atomic.Bool
	// sent counts transactions of clients that do not only read.
	sent    atomic.Int64
	ended   chan struct{}
	once    sync.Once
	running sync.WaitGroup
	faults  []Fault
	// receipts are what a replica held of primaries that were killed.
	receipts []receipt
	// differ and stop are what is wrong with the nodes behind the first one when the epoch has ended.
	differ []difference
	stop   *harness.StoppedError
	wrong  [][]string // of a workload without a history
	// unfit is what backups of files showed before they could be read.
	unfit []Finding
	// late says of nodes of which nobody knows how far they are that they had not come to hold the same in time.
	late []string
	// invariant is what a workload of that package knows of the epoch; else nil.
	invariant *invariant.Epoch
}

// end asks the clients to stop when their transactions are through.
func (e *epoch) end() {
	e.once.Do(func() {
		e.over.Store(true)
		close(e.ended)
	})
}

// lasted ends an epoch that has lasted long enough, when no copy is being taken.
func (e *epoch) lasted() {
	e.due.Store(true)
	if !e.copying.Load() {
		e.end()
	}
}

// copied lets the epoch end that has waited for a copy.
func (e *epoch) copied() {
	e.copying.Store(false)
	if e.due.Load() {
		e.end()
	}
}

// full says that a client which has recorded n transactions has recorded enough. The epoch is longer where a copy would
// end with nobody at work: of such a copy little could be wrong.
func (e *epoch) full(n int) bool {
	return n >= e.quota && (!e.copying.Load() || e.short || n >= copyLead*e.quota)
}

const (
	// copyLead is how many times as long as another one an epoch may become.
	copyLead = 3
	// copyPace is how long the second half of an epoch that cannot become longer is to last while a copy is taken.
	copyPace = 2 * time.Second
)

// pace has a client that has recorded n transactions save the others for a copy that is being taken, where the epoch
// cannot become longer.
func (e *epoch) pace(n int) {
	half := e.quota / 2
	if !e.short || n < half {
		return
	}
	end := time.Now().Add(copyPace / time.Duration(half+1))
	for e.copying.Load() && !e.over.Load() && (n == e.quota-1 || time.Now().Before(end)) {
		select {
		case <-e.ended:
		case <-time.After(lookEvery):
		}
	}
}

// reader is the tape of what happens before the clients begin and when they have
// stopped.
func (e *epoch) reader() *tape { return e.tapes[len(e.tapes)-1] }

// newEpoch makes the next epoch; it takes its tapes from those that were checked.
func (r *run) newEpoch(number int, tapes []*tape) *epoch {
	size := r.workload.size()
	if r.settings.Keys > 0 {
		size.inUse = r.settings.Keys
	}
	transactions := size.transactions
	if r.settings.Epoch > 0 {
		transactions = r.settings.Epoch
	}
	if size.longest > 0 {
		transactions = min(transactions, size.longest)
	}
	for _, t := range tapes {
		t.reset()
	}
	limit := max(1, size.inUse) + int(float64(transactions)*size.fresh)
	first := kv.Value(1)
	if !size.same {
		first += kv.Value(number * limit)
	}
	e := &epoch{
		number: number, tapes: tapes, ended: make(chan struct{}),
		keys:  newKeys(first, limit, size.inUse, size.most),
		quota: max(1, transactions/r.settings.Clients), short: size.longest > 0,
	}
	e.copying.Store(r.settings.Backup.Copies())
	e.running.Add(r.settings.Clients)
	return e
}

// begin loads the rows of an epoch and throws away those of the ones before.
func (r *run) begin(e *epoch) error {
	switch {
	case r.invariant != nil:
		return r.beginInvariant(e)
	case r.operations():
		return r.fillByOperations(e, false)
	}
	for _, q := range r.workload.fill(e) {
		err := r.persist(func(s *session) error { return s.exec(q) })
		// The connection may have broken when it was through.
		if err != nil && !duplicateKey[errorCode(err)] {
			return fmt.Errorf("load the rows of an epoch: %w", err)
		}
	}
	if w, ok := r.workload.(interface{ born(*epoch) []kv.RecordOp }); ok {
		t, now := e.reader(), r.now()
		t.from, t.to = now, now
		for _, o := range w.born(e) {
			t.add(o, plain)
		}
		t.end(readerSession, now, now, kv.OK)
	}
	if q := r.workload.discard(e); q != "" && e.number > 0 {
		if err := r.persist(func(s *session) error { return s.exec(q) }); err != nil {
			return fmt.Errorf("delete the rows of earlier epochs: %w", err)
		}
		if err := r.tidy(); err != nil {
			return err
		}
	}
	return nil
}

// tidy frees the place of rows that were deleted, where the server does not do it as it goes.
func (r *run) tidy() error {
	if r.dialect.tidy == "" {
		return nil
	}
	if err := r.persist(func(s *session) error { return s.exec(r.dialect.tidy + r.workload.table()) }); err != nil {
		return fmt.Errorf("free the place of rows of earlier epochs: %w", err)
	}
	return nil
}

// finish reads all keys, with nothing else going on.
func (r *run) finish(e *epoch) error {
	if r.invariant != nil {
		return r.finishInvariant(e)
	}
	return r.finishWith(e, r.workload.readAll(e))
}

func (r *run) finishWith(e *epoch, s step) error {
	q := string(r.workload.sql(r.dialect, nil, s))
	t := e.reader()
	err := r.persist(func(c *session) error {
		invoke := r.now()
		a, err := r.readWhole(c, s, q)
		if err != nil {
			return err
		}
		t.from, t.to = invoke, r.now()
		if err := r.workload.record(t, s, a); err != nil {
			return &WrongAnswer{SQL: q, Err: err}
		}
		t.end(readerSession, invoke, t.to, kv.OK)
		return nil
	})
	if err != nil {
		if r.cluster != nil {
			err = r.cluster.nodes[0].left(err)
		}
		return fmt.Errorf("read all keys of an epoch: %w", err)
	}
	return nil
}

// readerSession is the session of the transactions that end the epochs.
const readerSession = 0
