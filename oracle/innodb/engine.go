package innodb

import (
	"fmt"
	"iter"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/record"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// engine makes a fresh world; tables and compiled expressions are shared.
func (r *paths) engine(ch *mvcc.Choices) *engine {
	ch.Pos = 0
	w := r.World()
	e := &engine{Replay: w, choices: ch, loose: r.AnyWait, kept: r.kept, anywhere: r.anywhere, running: make(map[int]*running), transactions: make(map[*versions.Txn]*transaction), pending: make(map[*versions.Chain][]*solve.Key), needs: make(map[int][]*versions.Txn),
		started: make([]history.Tick, len(r.History.Stmts)), counters: map[*versions.Table]int64{}}
	for n, t := range r.Store.Tables {
		nt := &versions.Table{Def: t.Def, Clustered: t.Clustered, Chains: make([]*versions.Chain, len(t.Chains), len(t.Chains)+4)}
		chains, first := make([]versions.Chain, len(t.Chains)), make([]versions.Version, len(t.Chains))
		for i, c := range t.Chains {
			w.Store.NextRow = max(w.Store.NextRow, c.ID)
			e.nextRID++
			first[i] = c.Versions[0]
			first[i].RowID = e.nextRID
			chains[i] = versions.Chain{ID: c.ID, Versions: first[i : i+1 : i+1]}
			nt.Chains[i] = &chains[i]
		}
		w.Store.Tables[n] = nt
	}
	w.Touched = make([]mvcc.Touch, 0, len(r.History.Stmts))
	return e
}

// adopt takes over what a world found.
func (r *paths) adopt(e *engine) {
	r.Steps, r.Touched, r.Sessions, r.Replayed = e.Steps, e.Touched, e.Sessions, &e.Store
	r.units, r.partial, r.missed = e.units, e.partial, e.missed
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
func (e *engine) submit(ph phase) (*mvcc.Difference, *running, error) {
	i := ph.just
	st := &e.History.Stmts[i]
	node := e.Case.Steps[st.Line].Stmt
	kind := mvcc.KindOf(node)
	e.Steps[i].Kind = kind
	e.started[i] = e.now()
	if e.RefusesText(st) {
		e.snapshotOfRefused(st, kind, node)
		return nil, nil, nil
	}
	if err := e.Unmodelled[i]; err != nil {
		return nil, nil, err
	}
	if kind == stmt.Other {
		return nil, nil, &mvcc.Loss{Slug: "unsupported: a statement of unknown effect", Detail: solve.NodeWords(fmt.Sprintf("%T", node))}
	}
	s := e.Session(st.Session)
	if loss := e.Beforehand(s, kind, node); loss != nil {
		return nil, nil, loss
	}
	if kind.Control() {
		if st.Return == 0 {
			d, err := e.NeverReturned(i)
			return d, nil, err
		}
		d, err := e.controlInnoDB(i, s, kind, node)
		return d, nil, err
	}
	if s.Missed(st) && !s.Reopened {
		return &mvcc.Difference{Stmt: i, Kind: "lost-transaction", Expected: "inside a transaction", Actual: "outside",
			Reason: "the server says that the session has no open transaction although nothing ended it"}, nil, nil
	}
	tx, auto := s.Txn, false
	if tx == nil {
		tx, auto = e.beginInnoDB(s, st.Session), true
		if mvcc.NamesTables(node) {
			s.Characterize(tx, nil)
			if s.Manual {
				auto, tx.Implicit, s.Txn = false, true, tx
			} else if mvcc.ErrCode(st) != 0 {
				s.EndsOddly(tx)
			}
		}
	}
	e.Steps[i].Level = tx.Level
	if p := refusal(tx, kind); p != nil {
		if c := mvcc.ErrCode(st); c != 0 && c != errReadOnly {
			return nil, nil, &mvcc.Loss{Slug: "unsupported: another error in a READ ONLY transaction"}
		}
		e.Steps[i].Expected = p
		if auto {
			s.TakeNext()
		}
		return e.Compare(i, kind, p), nil, nil
	}
	x := &running{e: e, i: i, st: st, tx: tx, auto: auto, kind: kind, node: node, start: e.clock, mark: len(tx.Writes), seq: e.nextSeq}
	if kind == stmt.Select && tx.Rules.Of(rules.ConsistentRead) == rules.SharedLock && !auto {
		x.kind = stmt.SelectForShare
	}
	e.running[st.Session] = x
	c := mvcc.ErrCode(st)
	victims := e.victims(ph.items, i) && stmt.Of(node).Lock.Wait != stmt.Skips // which runs into no lock
	if c == mvcc.ErrDeadlock && len(st.Waits) == 0 || victims {
		var err error
		if e.needs[i], err = x.probe(); err != nil {
			return nil, nil, err
		}
	}
	if (c == mvcc.ErrDeadlock || c == mvcc.ErrLockTimeout || c == mvcc.ErrNowait) && len(st.Waits) == 0 {
		// Its block was at once resolved against it: nothing of it was seen, but
		// its transaction may have its snapshot from it.
		x.openSnapshot()
		return e.abort(i), nil, nil
	}
	unblocked, wait := len(st.Waits) == 0 && victims, 0
	if e.waitedUnseen(st, ph.items) && e.choices.Choose(2) == 1 {
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
func (x *running) block(holder *versions.Txn) {
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
func (x *running) point(at spot, holder *versions.Txn, gaps, sure bool) stop {
	if !x.due {
		return nowhere
	}
	e := x.e
	if holder == nil || e.loose {
		// What is told is one of the places that the locks admit, not another one.
		switch here := x.waitsHere(at); {
		case here == record.No && !sure:
			return nowhere
		case here == record.Yes && (holder != nil || !passes(x.e.choices)):
			where := atEntry
			if e.loose && gaps && e.choices.Choose(2) == 1 {
				where = beforeEntry
			}
			x.sure = false
			x.block(holder)
			return where
		}
	}
	if holder != nil && !e.loose {
		settle(e.choices, x.from)
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
	where := options[e.choices.Choose(len(options))]
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

// mayWait is a place where the statement waits if another transaction holds a
// lock there that it may have kept, which is not certain.
func (x *running) mayWait(at spot, holder *versions.Txn) stop {
	if !x.due {
		return nowhere
	}
	if here := x.waitsHere(at); here == record.No || here == record.Unsure && (holder == nil || chooseFixed(x.e.choices, 2) == 0) {
		return nowhere
	}
	x.sure = false
	x.block(holder)
	return atEntry
}

// resume runs a statement up to its next wait or its end. wait is which of its waits that
// is, -1 for one that the history does not have.
func (e *engine) resume(x *running, due bool, wait int) (*mvcc.Difference, error) {
	x.due, x.from = due, e.choices.Pos
	if x.place, x.atUnseen = nil, false; due && e.places != nil {
		x.expect(wait)
	}
	e.choices.By = x.i
	e.Runs(x.i)
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
func (e *engine) conclude(x *running) (*mvcc.Difference, error) {
	i, s := x.i, e.Session(x.st.Session)
	e.Steps[i].Expected = x.p
	if e.Steps[i].Chosen = e.choices.Pos; x.open != "" {
		x.p.LeaveOpen(x.open)
	}
	if x.mayRefuse {
		x.p.AddAnswer((&mvcc.Prediction{Err: mvcc.ErrRecordChanged}).String(x.kind), x.p.String(x.kind))
	}
	if x.p.Err != 0 {
		e.undoGradually(x.tx, x.mark)
	}
	if e.KeepsLooks {
		e.InTheWay = x.inTheWay
		e.Observe(i, x.tx, x.start)
	}
	if err := mvcc.TextLoss(x.p, x.st); err != nil {
		return nil, err
	}
	if e.swallowsTimeout(x) {
		return nil, &mvcc.Loss{Slug: "unsupported: IGNORE that makes a lock time-out a warning"}
	}
	code := mvcc.ErrCode(x.st)
	s.Reopened = s.Reopened && code != 0
	if code != mvcc.ErrRecordChanged && !(x.auto && x.kind == stmt.Select) {
		x.tx.Stmts = append(x.tx.Stmts, i)
	}
	d := e.WaitedAnyway(i)
	if d != nil && d.Kind == mvcc.SkipWaited && x.waitedForGone() {
		d = nil
	}
	if d != nil {
		return d, nil
	}
	if x.overran != nil {
		return &mvcc.Difference{Stmt: i, Kind: "missing-wait", Expected: fmt.Sprintf("waits for tx%d", x.overran.Session), Actual: history.Describe(x.kind, &x.st.Result),
			Reason: fmt.Sprintf("it changed a row that tx%d had changed and not committed", x.overran.Session)}, nil
	}
	if code == 0 && x.p.Err == 0 {
		var err error
		if d, err = e.missingWaitInnoDB(x); err != nil {
			return nil, err
		}
	}
	if d == nil {
		if d = e.Compare(i, x.kind, x.p); d != nil {
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
		d = s.Begun(x.tx, i, x.st)
	}
	switch {
	case x.p.Err == mvcc.ErrRecordChanged || code == mvcc.ErrRecordChanged:
		e.rollbackInnoDB(s, x.tx)
		s.EndsOddly(x.tx)
		s.Txn = nil
		e.takeLevel(s, true)
	case x.auto && x.p.Err == 0 && code == 0:
		e.commitInnoDB(s, x.tx)
	case x.auto:
		e.rollbackInnoDB(s, x.tx)
	}
	if x.auto {
		s.TakeNext()
	}
	return d, nil
}

// unopened are the errors of a text that servers give before they have opened all tables.
var unopened = []uint16{1064, 1149, 1046, 1049, mvcc.ErrUnknownTable, 1066, mvcc.ErrNoTable}

// snapshotOfRefused gives a transaction its snapshot where the first statement that touches
// a table takes it: a query or an INSERT does so as well whose text is refused, once it has
// opened its tables. An UPDATE or DELETE does not, as seen on MariaDB 11.8: its names are
// looked up before it locks a table.
func (e *engine) snapshotOfRefused(st *history.Stmt, kind stmt.Kind, node ast.StmtNode) {
	switch kind {
	case stmt.Select, stmt.SelectForShare, stmt.SelectForUpdate, stmt.Insert:
	default:
		return
	}
	if tx := e.Session(st.Session).Txn; tx != nil && !slices.Contains(unopened, mvcc.ErrCode(st)) && mvcc.NamesTables(node) {
		openSnapshot(tx, e.clock)
	}
}
