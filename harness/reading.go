package harness

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// readers are the sessions of a worker on the replica, which read the tables of a case while it runs on the primary.
type readers struct {
	follower Follower
	sessions []*remote
	// begins holds for each session what begins its transactions.
	begins []string
}

// Both ways to begin one have the reads of a transaction see one snapshot: it is made with the first word of it, or by
// the first read.
// https://dev.mysql.com/doc/refman/9.7/en/commit.html
// https://mariadb.com/docs/server/reference/sql-statements/transactions/start-transaction
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ
var snapshotBegins = map[history.DBMS][]string{
	history.MySQL:   {"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "START TRANSACTION READ ONLY"},
	history.MariaDB: {"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "START TRANSACTION READ ONLY"},
	history.PostgreSQL: {
		"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
	},
}

// repeatable is what a session of MySQL's protocol says first: there the level is not said with the transaction.
const repeatable = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"

// watchReplica returns sessions on the replica, nil where nobody told what it promises, or where the binary log holds
// statements, which need not have the same effect there.
func (p *Pool) watchReplica(ctx context.Context) (*readers, error) {
	if p.replicated == nil || p.opt.ReplicaPromise == nil || p.logsStatements() {
		return nil, nil
	}
	db, f, err := p.replica(ctx)
	if err != nil {
		return nil, err
	}
	out := &readers{follower: f, begins: snapshotBegins[p.server.DBMS]}
	setup := repeatable
	if p.server.DBMS == history.PostgreSQL {
		setup = ""
	}
	for range out.begins {
		out.sessions = append(out.sessions, &remote{db: db, setup: setup})
	}
	return out, nil
}

func (r *readers) close() error {
	errs := []error{r.follower.Close()}
	for _, s := range r.sessions {
		_ = s.close()
	}
	return errors.Join(errs...)
}

// reading is what the readers of a worker do during one case.
type reading struct {
	of    *readers
	p     *provisioned
	use   string
	reads string
	// clock is the last tick of the run. settled says that nothing is under way which may commit, and newest is what the
	// primary holds then, an index into out.Contents: a session that has read that has no reason to hurry.
	clock   atomic.Int64
	settled atomic.Bool
	newest  atomic.Int64
	wakes   []chan struct{}
	stop    chan struct{}
	started chan struct{} // has one from each session that has read, or never will, and another one when it ends
	cancel  context.CancelFunc
	going   sync.WaitGroup

	mu    sync.Mutex
	keys  map[string]int
	count int // of the reads
	out   *history.ReplicaReads
	by    [][]history.ReplicaRead
}

const (
	// idleRead is after how long a session reads once more that has seen all that there is, hurriedRead one that has not.
	// Without a pause it took the processors that the replica applies changes with: twice as long for as many states.
	idleRead    = 5 * time.Millisecond
	hurriedRead = 300 * time.Microsecond
	// firstRead is how long a case that may wait for it does not begin before it is read.
	firstRead = time.Second
	// readEvery is of how many cases one is read, where there are many.
	readEvery = 2
)

// watched is observe while sessions on the replica, if there is one, read the tables of the case. It begins when they have
// read once.
func (r *run) watched(ctx context.Context) error {
	r.readReplica(ctx)
	if r.reading != nil {
		r.reading.await(ctx)
	}
	return r.observe(ctx)
}

// sampled is that for one of readEvery cases, which does not wait for the sessions, and observe for the others.
func (r *run) sampled(ctx context.Context) error {
	if r.s.key()%readEvery == 0 {
		r.readReplica(ctx)
	}
	return r.observe(ctx)
}

func (r *run) readReplica(ctx context.Context) {
	if r.s.readable && r.w.readers != nil && len(r.tables.tables) > 0 {
		r.reading = r.w.readers.begin(ctx, r.tables, r.h.Initial, r.w)
		r.w.reading = r.reading
	}
}

// known says that the states of a case are known by its tables: none of these is made, changed or emptied on the way,
// which commits by itself and fails the snapshots of others, and all of them have transactions. Nothing is known of what
// comes first in a case with a statement that is held.
func (s *script) known(c *corpus.Case, dbms history.DBMS) bool {
	if held, _ := c.Held(); held >= 0 || s.traits&altersSchema != 0 || s.database != "" {
		return false
	}
	for _, l := range c.Init {
		switch t := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			if !dbms.Transactional(stmt.Engine(t)) {
				return false
			}
		case *stmt.RawStmt:
			if namesEngine.MatchString(t.SQL) {
				return false
			}
		}
	}
	return true
}

// namesEngine matches a definition of which nobody has read which engine it names.
var namesEngine = regexp.MustCompile(`(?i)\bengine\b`)

// begin lets the sessions on the replica read, once that has all that was committed so far.
func (r *readers) begin(ctx context.Context, p *provisioned, initial []history.Table, w *worker) *reading {
	run := ctx // what is read when the case ends is waited for: a connection that is cut would have to be made again
	ctx, cancel := context.WithCancel(ctx)
	g := &reading{
		of: r, p: p, cancel: cancel, use: w.pool.speech.use, reads: w.pool.speech.reading(p.tables), stop: make(chan struct{}),
		started: make(chan struct{}, 2*len(r.sessions)),
		keys:    map[string]int{}, out: &history.ReplicaReads{Promise: *w.pool.opt.ReplicaPromise},
		by: make([][]history.ReplicaRead, len(r.sessions)),
	}
	g.out.States = []history.PrimaryState{{Content: g.content(initial)}}
	g.settled.Store(true)
	for range r.sessions {
		g.wakes = append(g.wakes, make(chan struct{}, 1))
	}
	there := make(chan bool, len(r.sessions))
	g.going.Go(func() {
		// That the replica stops, or does not come so far, is told behind the case.
		ok := r.follower.CatchUp(ctx) == nil
		for range r.sessions {
			there <- ok
		}
	})
	for i := range r.sessions {
		g.going.Go(func() {
			defer func() { g.started <- struct{}{} }()
			if <-there {
				g.session(run, i)
			}
		})
	}
	return g
}

// await waits until each session has read once, or cannot, or the replica is far behind.
func (g *reading) await(ctx context.Context) {
	late := time.NewTimer(firstRead)
	defer late.Stop()
	for range g.of.sessions {
		select {
		case <-g.started:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// session reads until it is told to stop.
func (g *reading) session(ctx context.Context, i int) {
	next := time.NewTimer(idleRead)
	defer next.Stop()
	for first := true; ; first = false {
		content, ok := g.read(ctx, i)
		if !ok {
			return
		}
		if first {
			g.started <- struct{}{}
		}
		pause := idleRead
		if content >= 0 && g.settled.Load() && int64(content) != g.newest.Load() {
			pause = hurriedRead
		}
		next.Reset(pause)
		select {
		case <-g.stop:
			return
		case <-g.wakes[i]:
		case <-next.C:
		}
	}
}

// read reads all tables once; ok says that the session can go on. What the replica refuses is counted.
func (g *reading) read(ctx context.Context, i int) (content int, ok bool) {
	s := g.of.sessions[i]
	if err := s.uses(ctx, g.use, g.p.db); err != nil {
		return 0, false
	}
	from := history.Tick(g.clock.Load())
	r, err := s.answer(ctx, g.of.begins[i]+";"+g.reads+";COMMIT")
	until := history.Tick(g.clock.Load())
	if err != nil {
		return 0, false
	}
	if r.Err != nil {
		g.mu.Lock()
		g.out.Refused++
		g.mu.Unlock()
		_, err := s.answer(ctx, "ROLLBACK")
		return -1, err == nil
	}
	sets := r.Earlier
	if len(sets) != len(g.p.tables) {
		return 0, false
	}
	tables := make([]history.Table, len(sets))
	for i, t := range g.p.tables {
		tables[i] = history.Table{Name: t.name, Rows: sets[i].Rows}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	read := history.ReplicaRead{Session: i + 1, From: from, Until: until, Content: g.contentLocked(tables)}
	if by := g.by[i]; len(by) > 1 && by[len(by)-1].Content == read.Content && by[len(by)-2].Content == read.Content {
		by[len(by)-1] = read
	} else {
		g.by[i] = append(by, read)
	}
	return read.Content, true
}

func (g *reading) content(tables []history.Table) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.contentLocked(tables)
}

// contentLocked returns the index of what tables hold among the contents.
func (g *reading) contentLocked(tables []history.Table) int {
	c := make(history.Content, len(tables))
	var key strings.Builder
	for i, t := range tables {
		c[i] = history.TableRows{Table: t.Name, Rows: sortedRows(t.Rows)}
		for _, row := range c[i].Rows {
			key.WriteString(row + "\n")
		}
		key.WriteByte(0)
	}
	i, ok := g.keys[key.String()]
	if !ok {
		i = len(g.out.Contents)
		g.keys[key.String()] = i
		g.out.Contents = append(g.out.Contents, c)
	}
	return i
}

// ticks tells the readers how far the run is.
func (g *reading) ticks(t history.Tick) {
	if g != nil {
		g.clock.Store(int64(t))
	}
}

// sends tells the readers that a statement is sent which may commit.
func (g *reading) sends() {
	g.settled.Store(false)
	g.wake()
}

func (g *reading) wake() {
	for _, c := range g.wakes {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// state notes what the primary holds behind statements that may have committed. Where one did and changed nothing it is in
// the same state.
func (g *reading) state(commits []int, begun history.Tick, tables []history.Table) {
	content := g.content(tables)
	was := &g.out.States[len(g.out.States)-1]
	if content != was.Content || len(commits) > 1 {
		g.out.States = append(g.out.States, history.PrimaryState{Commits: commits, Begun: begun, Content: content})
	}
	g.newest.Store(int64(content))
	g.wake()
}

// end stops the readers and returns what they read.
func (g *reading) end() *history.ReplicaReads {
	close(g.stop)
	g.cancel()
	g.going.Wait()
	for _, by := range g.by {
		g.out.Reads = append(g.out.Reads, by...)
	}
	return g.out
}

// close ends it behind a case, whose history gets what was read unless the case broke down.
func (g *reading) close(w *worker, h *history.History, err error) {
	if g == nil {
		return
	}
	reads := g.end()
	c := &w.pool.stats
	c.watched.Add(1)
	c.reads.Add(int64(g.count))
	c.refused.Add(int64(reads.Refused))
	if err == nil && h.End == history.Complete {
		h.Reads = reads
	}
}
