package mvcc

import (
	"errors"
	"fmt"
	"iter"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/plan"
	"github.com/txnfuzz/txnfuzz/oracle/record"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// InnoDB judges row by row while a scan goes on, and a statement that waits has
// already judged, and perhaps changed, what its scan passed. So each statement
// runs as a coroutine that stops where the history says that it waited; other
// statements run in between.
//
// Where a statement waited follows from the locks that are surely held, or from what
// the server told of the wait (see place); else each place is a choice, and choices
// are tried in turn until the whole history fits.

// engine replays a history on InnoDB's rules along one path of choices.
type engine struct {
	*Replay
	choices *choices
	// loose admits every place of waiting, also against the locks.
	loose bool
	// exploring says that it is looked for what else is allowed.
	exploring bool
	// places holds where the server told that statements wait; anywhere says that paths
	// need not keep to it.
	places   [][]*place
	anywhere bool
	// clock counts what happens; the ticks of views and transactions are its.
	clock   history.Tick
	running map[int]*running
	locks   map[*Chain][]lock
	// doubtful holds locks that a server may or may not have kept.
	doubtful map[*Chain][]lock
	// pending holds the secondary indexes that do not yet have the entry of a
	// record's newest version, because the statement that wrote it waits.
	pending map[*Chain][]*solve.Key
	// counters holds the AUTO_INCREMENT value behind those that were taken.
	counters map[*Table]int64
	nextSeq  int
	nextRID  int
	started  []history.Tick
	plans    map[int]plan.Plan
	// needs holds transactions that stood in the way of a statement when it was
	// sent, by its index, where a deadlock made that matter.
	needs map[int][]*Txn
}

// running is a statement between its submission and its end.
type running struct {
	e    *engine
	i    int
	st   *history.Stmt
	tx   *Txn
	auto bool
	kind stmt.Kind
	node ast.StmtNode
	// start is when it began, mark how many writes its transaction had then.
	// seq is the number of the newest version at its start.
	start history.Tick
	mark  int
	seq   int
	// due says that the history makes it wait (again) before it ends; place is where the
	// server told that it does, nil if it did not.
	due    bool
	place  *place
	waited bool
	// atUnseen says that it is told to wait at a record that no statement of the case has
	// written, such as one that an earlier case has left deleted.
	atUnseen bool
	// from is the first choice of the current segment; holder is whom it waits
	// for, nil where no surely held lock tells.
	from   int
	holder *Txn
	// sure says that it cannot do without what the holder holds.
	sure bool
	// at is the record at which its scan waits, nil elsewhere; exclusive is the
	// lock that it asked for.
	at        *Chain
	exclusive bool

	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	p     *Prediction
	err   error
	// amid holds what a transaction had written before the row that this statement
	// waits for, if that one is being rolled back.
	amid []written
	// covered says that its locks stay on an index that holds all it reads.
	covered bool
	// collided is a transaction whose uncommitted key this statement did not
	// wait for.
	collided *Txn
	// overran is a transaction whose waiting statement had changed a row that
	// this statement changed then: no such thing can have happened.
	overran *Txn
	// table is what a write changes, images the rows that it really changed.
	table  *Table
	images []image
	// asked answers its subqueries, nil where each finds what is newest under its own
	// locks.
	asked *asked
	// inTheWay holds the rows that stood in the way of its own, if that is observed.
	inTheWay []obstacle
	// open is why other answers than its own are allowed; mayRefuse says that error 1020 is.
	open      string
	mayRefuse bool
	// scansAll says that it can but scan its whole table, metChanged that it came to a record
	// that may have it refused with error 1020.
	scansAll, metChanged bool
	// skip is what a SKIP LOCKED makes of the rows that it meets, nil for others.
	skip *skipping
	// mayStop says that it is a locking read which may stop before it has met all rows, at a
	// place that no order tells; cut that it has, and taken the rows that others hold and for
	// which it has not waited.
	mayStop, cut bool
	taken        []hit
}

var errAbandoned = errors.New("statement abandoned")

// engine makes a fresh world; tables and compiled expressions are shared.
func (r *Replay) engine(ch *choices) *engine {
	ch.pos = 0
	w := &Replay{c: r.c, h: r.h, profile: r.profile, dialect: r.dialect, solver: r.solver,
		store:    Store{solver: r.solver, Order: r.store.Order, Tables: make(map[string]*Table, len(r.store.Tables))},
		sessions: make(map[int]*session), Steps: make([]Step, len(r.h.Stmts)), onlyFits: r.onlyFits, observed: r.observed, counting: r.counting}
	e := &engine{Replay: w, choices: ch, loose: r.loose, places: r.places, anywhere: r.anywhere, running: make(map[int]*running), locks: make(map[*Chain][]lock), doubtful: make(map[*Chain][]lock), pending: make(map[*Chain][]*solve.Key), needs: make(map[int][]*Txn),
		started: make([]history.Tick, len(r.h.Stmts)), counters: map[*Table]int64{}}
	for n, t := range r.store.Tables {
		nt := &Table{Def: t.Def, Clustered: t.Clustered, Chains: make([]*Chain, len(t.Chains), len(t.Chains)+4)}
		chains, first := make([]Chain, len(t.Chains)), make([]Version, len(t.Chains))
		for i, c := range t.Chains {
			w.store.nextRow = max(w.store.nextRow, c.ID)
			e.nextRID++
			first[i] = c.Versions[0]
			first[i].rid = e.nextRID
			chains[i] = Chain{ID: c.ID, Versions: first[i : i+1 : i+1]}
			nt.Chains[i] = &chains[i]
		}
		w.store.Tables[n] = nt
	}
	w.touched = make([]touch, 0, len(r.h.Stmts))
	e.plans = r.parsedPlans()
	w.unmetBy, w.bare, w.uncut, w.testedBy, w.unmodelled = r.unmetBy, r.bare, r.uncut, r.testedBy, r.unmodelled
	return e
}

// adopt takes over what a world found.
func (r *Replay) adopt(e *engine) {
	r.Steps, r.touched, r.sessions, r.units, r.partial, r.told = e.Steps, e.touched, e.sessions, e.units, e.partial, &e.store
}

func (e *engine) now() history.Tick {
	e.clock++
	return e.clock
}

// abandon ends the coroutines that are still stopped.
func (e *engine) abandon() {
	for _, x := range e.running {
		if x.stop != nil {
			x.stop()
		}
	}
}

// submit starts the statement of a phase. It returns the statement where a
// deadlock's victim among others unblocked it unseen.
func (e *engine) submit(ph phase) (*Difference, *running, error) {
	i := ph.just
	st := &e.h.Stmts[i]
	node := e.c.Steps[st.Line].Stmt
	kind := KindOf(node)
	e.Steps[i].Kind = kind
	e.started[i] = e.now()
	if e.refusedByText(st) {
		e.snapshotOfRefused(st, kind, node)
		return nil, nil, nil
	}
	if err := e.unmodelled[i]; err != nil {
		return nil, nil, err
	}
	if kind == stmt.Other {
		return nil, nil, &Loss{Slug: "unsupported: a statement of unknown effect", Detail: solve.NodeWords(fmt.Sprintf("%T", node))}
	}
	s := e.session(st.Session)
	if loss := e.beforehand(s, kind, node); loss != nil {
		return nil, nil, loss
	}
	if kind.Control() {
		if st.Return == 0 {
			d, err := e.neverReturned(i)
			return d, nil, err
		}
		d, err := e.controlInnoDB(i, s, kind, node)
		return d, nil, err
	}
	if s.missed(st) && !s.reopened {
		return &Difference{Stmt: i, Kind: "lost-transaction", Expected: "inside a transaction", Actual: "outside",
			Reason: "the server says that the session has no open transaction although nothing ended it"}, nil, nil
	}
	tx, auto := s.txn, false
	if tx == nil {
		tx, auto = e.beginInnoDB(s, st.Session), true
		if namesTables(node) {
			s.characterize(tx, nil)
			if s.manual {
				auto, tx.implicit, s.txn = false, true, tx
			} else if errCode(st) != 0 {
				s.endsOddly(tx)
			}
		}
	}
	if p := refusal(tx, kind); p != nil {
		if c := errCode(st); c != 0 && c != errReadOnly {
			return nil, nil, &Loss{Slug: "unsupported: another error in a READ ONLY transaction"}
		}
		e.Steps[i].Expected = p
		if auto {
			s.takeNext()
		}
		return e.compare(i, kind, p), nil, nil
	}
	x := &running{e: e, i: i, st: st, tx: tx, auto: auto, kind: kind, node: node, start: e.clock, mark: len(tx.writes), seq: e.nextSeq}
	if kind == stmt.Select && tx.Rules.of(rules.ConsistentRead) == rules.SharedLock && !auto {
		x.kind = stmt.SelectForShare
	}
	e.running[st.Session] = x
	c := errCode(st)
	victims := e.victims(ph.items, i) && stmt.Of(node).Lock.Wait != stmt.Skips // which runs into no lock
	if c == errDeadlock && len(st.Waits) == 0 || victims {
		var err error
		if e.needs[i], err = x.probe(); err != nil {
			return nil, nil, err
		}
	}
	if (c == errDeadlock || c == errLockTimeout || c == errNowait) && len(st.Waits) == 0 {
		// Its block was at once resolved against it: nothing of it was seen, but
		// its transaction may have its snapshot from it.
		x.openSnapshot()
		return e.abort(i), nil, nil
	}
	unblocked, wait := len(st.Waits) == 0 && victims, 0
	if e.waitedUnseen(st, ph.items) && e.choices.choose(2) == 1 {
		unblocked, wait = true, -1
	}
	d, err := e.resume(x, len(st.Waits) > 0 || st.Return == 0 || unblocked, wait)
	if unblocked && d == nil && err == nil {
		return nil, x, nil
	}
	return d, nil, err
}

// body is the coroutine of a statement.
func (x *running) body(yield func(struct{}) bool) {
	defer func() {
		if p := recover(); p != nil && p != errAbandoned {
			panic(p)
		}
	}()
	x.yield = yield
	x.p, x.err = x.execute()
	for x.due && x.err == nil {
		x.block(nil)
	}
}

// block stops the statement until the history lets it go on.
func (x *running) block(holder *Txn) {
	x.holder, x.waited = holder, true
	if !x.yield(struct{}{}) {
		panic(errAbandoned)
	}
	x.holder = nil
}

// stop says where a scan waited.
type stop uint8

const (
	nowhere stop = iota
	// atEntry: for an entry of the index, where it goes on.
	atEntry
	// beforeEntry: for something in front of that entry that no statement sees,
	// such as a deleted row that is not yet purged. It goes on there, and meets
	// what was inserted in between.
	beforeEntry
)

// point is a place where the statement may wait; holder is a transaction that
// surely holds a lock there, nil if none is known. What was read before a wait
// is out of date behind it. gaps says that the place is in a scan, sure that the
// statement cannot get past the lock under any plan. at is where that is.
func (x *running) point(at spot, holder *Txn, gaps, sure bool) stop {
	if !x.due {
		return nowhere
	}
	e := x.e
	if holder == nil || e.loose {
		// What is told is one of the places that the locks admit, not another one.
		switch here := x.toldHere(at); {
		case here == record.No && !sure:
			return nowhere
		case here == record.Yes && (holder != nil || !x.e.choices.passes()):
			where := atEntry
			if e.loose && gaps && e.choices.choose(2) == 1 {
				where = beforeEntry
			}
			x.sure = false
			x.block(holder)
			return where
		}
	}
	if holder != nil && !e.loose {
		e.choices.settle(x.from)
		x.sure = sure
		x.block(holder)
		return atEntry
	}
	options := append(make([]stop, 0, 3), nowhere, atEntry)
	switch {
	case holder != nil && sure:
		options = append(options[:0], atEntry)
	case holder != nil:
		options = append(options[:0], atEntry, nowhere)
	}
	if e.loose && gaps {
		options = append(options, beforeEntry)
	}
	where := options[e.choices.choose(len(options))]
	if where != nowhere {
		x.sure = false
		x.block(holder)
	}
	return where
}

// waitSomewhere stops a statement as often as it is made to wait, where its locks are not known.
func (x *running) waitSomewhere() {
	for x.due {
		if x.point(spot{}, nil, false, false) == nowhere {
			x.block(nil)
		}
	}
}

// perhaps is a place where the statement waits if another transaction holds a
// lock there that it may have kept, which is not certain.
func (x *running) perhaps(at spot, holder *Txn) stop {
	if !x.due {
		return nowhere
	}
	if here := x.toldHere(at); here == record.No || here == record.Unsure && (holder == nil || x.e.choices.keep(2) == 0) {
		return nowhere
	}
	x.sure = false
	x.block(holder)
	return atEntry
}

// resume runs a statement up to its next wait or its end. wait is which of its waits that
// is, -1 for one that the history does not have.
func (e *engine) resume(x *running, due bool, wait int) (*Difference, error) {
	x.due, x.from = due, e.choices.pos
	if x.place, x.atUnseen = nil, false; due && e.places != nil {
		x.expect(wait)
	}
	e.choices.by = x.i
	e.runs(x.i)
	e.now()
	if x.next == nil && !due {
		// It does not stop on its way, so that it needs no stack of its own, whose
		// growth costs as much as a scan.
		x.p, x.err = x.execute()
	} else {
		if x.next == nil {
			x.next, x.stop = iter.Pull(x.body)
		}
		if _, stopped := x.next(); stopped {
			return nil, nil
		}
	}
	delete(e.running, x.st.Session)
	if x.err != nil {
		return nil, x.err
	}
	return e.conclude(x)
}

// conclude compares the answer of a statement that ran to its end.
func (e *engine) conclude(x *running) (*Difference, error) {
	i, s := x.i, e.session(x.st.Session)
	e.Steps[i].Expected = x.p
	if e.Steps[i].chosen = e.choices.pos; x.open != "" {
		x.p.leaveOpen(x.open)
	}
	if x.mayRefuse {
		x.p.addAnswer((&Prediction{Err: errRecordChanged}).String(x.kind), x.p.String(x.kind))
	}
	if x.p.Err != 0 {
		e.undoAmid(x.tx, x.mark)
	}
	if e.observed {
		e.inTheWay = x.inTheWay
		e.observe(i, x.tx, x.start)
	}
	if err := textLoss(x.p, x.st); err != nil {
		return nil, err
	}
	if e.swallowsTimeout(x) {
		return nil, &Loss{Slug: "unsupported: IGNORE that makes a lock time-out a warning"}
	}
	code := errCode(x.st)
	s.reopened = s.reopened && code != 0
	if code != errRecordChanged && !(x.auto && x.kind == stmt.Select) {
		x.tx.stmts = append(x.tx.stmts, i)
	}
	d := e.waitedAnyway(i)
	if d != nil && d.Kind == SkipWaited && x.waitedForGone() {
		d = nil
	}
	if d != nil {
		return d, nil
	}
	if x.overran != nil {
		return &Difference{Stmt: i, Kind: "missing-wait", Expected: fmt.Sprintf("waits for tx%d", x.overran.Session), Actual: describe(x.kind, &x.st.Result),
			Reason: fmt.Sprintf("it changed a row that tx%d had changed and not committed", x.overran.Session)}, nil
	}
	if code == 0 && x.p.Err == 0 {
		var err error
		if d, err = e.missingWaitInnoDB(x); err != nil {
			return nil, err
		}
	}
	if d == nil {
		if d = e.compare(i, x.kind, x.p); d != nil {
			switch {
			case x.skip != nil:
				x.nameSkipping(d)
			case !x.nameCut(d):
				if !e.unnamed(x) {
					e.nameInnoDB(d, x)
				}
				e.hadToWait(d, x)
			}
		}
	}
	if d == nil {
		d = s.begun(x.tx, i, x.st)
	}
	switch {
	case x.p.Err == errRecordChanged || code == errRecordChanged:
		e.rollbackInnoDB(s, x.tx)
		s.endsOddly(x.tx)
		s.txn = nil
		e.takeLevel(s, true)
	case x.auto && x.p.Err == 0 && code == 0:
		e.commitInnoDB(s, x.tx)
	case x.auto:
		e.rollbackInnoDB(s, x.tx)
	}
	if x.auto {
		s.takeNext()
	}
	return d, nil
}
