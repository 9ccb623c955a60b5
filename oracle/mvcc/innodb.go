package mvcc

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// InnoDB judges row by row while a scan goes on, and a statement that waits has
// already judged, and perhaps changed, what its scan passed. So each statement
// runs as a coroutine that stops where the history says that it waited; other
// statements run in between.
//
// A history does not say at which row a statement waited. Where the locks that
// are surely held tell, the place follows; else each place is a choice, and
// choices are tried in turn until the whole history fits.

// maxWorlds bounds the sequences of choices tried for one ruleset. A replay of
// a dozen statements costs 30 to 200 µs.
const maxWorlds = 400

// patientWorlds is the bound for a patient replay, which can take two seconds.
const patientWorlds = 10000

// choices is one path through the tree of choices.
type choices struct {
	taken, arity []int
	// fixed says of a choice that settle leaves it as it is.
	fixed []bool
	// owner is the statement that a choice concerns; by is that of the next one.
	owner []int
	by    int
	pos   int
}

// choose returns a number below n; 0 is tried first.
func (c *choices) choose(n int) int {
	if n < 2 {
		return 0
	}
	if c.pos == len(c.taken) {
		c.taken, c.arity, c.fixed, c.owner = append(c.taken, 0), append(c.arity, n), append(c.fixed, false), append(c.owner, c.by)
	}
	c.pos++
	return c.taken[c.pos-1]
}

// settle says that the choices made since from turned out not to be free.
func (c *choices) settle(from int) {
	for i := from; i < c.pos; i++ {
		if !c.fixed[i] {
			c.arity[i] = c.taken[i] + 1
		}
	}
}

// keep is choose for a choice that settle leaves free.
func (c *choices) keep(n int) int {
	k := c.choose(n)
	if n > 1 {
		c.fixed[c.pos-1] = true
	}
	return k
}

// next moves to the next path; false if there is none.
func (c *choices) next() bool { return c.back(func(int) bool { return true }) }

// jump moves to the next path that differs in a choice of one of the statements
// to blame, as if the choices made since for others did not matter; where those
// of the first group have none left, of the next group, and at last of any.
func (c *choices) jump(blame ...[]int) bool {
	for _, group := range blame {
		if len(group) > 0 && c.back(func(i int) bool { return slices.Contains(group, c.owner[i]) }) {
			return true
		}
	}
	return c.next()
}

func (c *choices) back(may func(int) bool) bool {
	c.cut(c.pos)
	for i := len(c.taken) - 1; i >= 0; i-- {
		if c.taken[i]+1 < c.arity[i] && may(i) {
			c.taken[i]++
			c.cut(i + 1)
			c.pos = 0
			return true
		}
	}
	return false
}

func (c *choices) cut(n int) {
	c.taken, c.arity, c.fixed, c.owner = c.taken[:n], c.arity[:n], c.fixed[:n], c.owner[:n]
}

// engine replays a history on InnoDB's rules along one path of choices.
type engine struct {
	*Replay
	choices *choices
	// loose admits every place of waiting, also against the locks.
	loose bool
	// raced holds the statements that were sent while another one may or may not
	// have gone on already.
	raced map[int]bool
	// clock counts what happens; the ticks of views and transactions are its.
	clock   history.Tick
	running map[int]*running
	locks   map[*Chain][]lock
	// doubtful holds locks that a server may or may not have kept.
	doubtful map[*Chain][]lock
	// pending holds the secondary indexes that do not yet have the entry of a
	// record's newest version, because the statement that wrote it waits.
	pending map[*Chain][]*solve.Key
	nextSeq int
	nextRID int
	// branched says that a choice was made, so that later predictions are not
	// the only legal ones.
	branched bool
	started  []history.Tick
	plans    map[int]*plan
	// needs holds transactions that stood in the way of a statement when it was
	// sent, by its index, where a deadlock made that matter.
	needs map[int][]*Txn
	// unproved holds the deadlocks' victims whose cycle is not proved.
	unproved []int
}

// running is a statement between its submission and its end.
type running struct {
	e    *engine
	i    int
	st   *history.Stmt
	tx   *Txn
	auto bool
	kind Kind
	node ast.StmtNode
	// start is when it began, mark how many writes its transaction had then.
	// seq is the number of the newest version at its start.
	start history.Tick
	mark  int
	seq   int
	// due says that the history makes it wait (again) before it ends.
	due    bool
	waited bool
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
	// guessed says that it may have waited behind another request, which another
	// place explains as well: its answer does not count as the only one.
	guessed bool

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
}

// Loose lets a statement on InnoDB have waited at any row of its scan, also
// where the locks that are surely held tell another one. What is left then is
// the bare promise: each row is judged by what was committed at some moment
// between the statement's start and its end.
func (r *Replay) Loose() *Replay {
	r.loose = true
	return r
}

// Patient tries 25 times as many sequences of choices before it gives up. It is
// for histories that are about to be called wrong.
func (r *Replay) Patient() *Replay {
	r.patient = true
	return r
}

var errAbandoned = errors.New("statement abandoned")

// runInnoDB tries paths of choices until one fits the whole history. It
// returns the difference of the path that went furthest.
func (r *Replay) runInnoDB() (*Difference, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	if d := r.reopened(); d != nil && !r.keepGoing {
		return d, nil
	}
	r.insertionOrder()
	best, path, err := r.explore(true)
	if best != nil && err == nil {
		// What was jumped over may have mattered after all.
		b, p, e := r.explore(false)
		if b == nil || e != nil {
			best, path, err = b, p, e
		}
	}
	if err != nil {
		return nil, err
	}
	if best == nil {
		return r.serialOrders()
	}
	if r.keepGoing {
		e := r.engine(&choices{taken: path, arity: make([]int, len(path)), fixed: make([]bool, len(path)), owner: make([]int, len(path))})
		e.keepGoing = true
		if _, err := e.replay(); err != nil {
			return nil, err
		}
		e.abandon()
		r.adopt(e)
	}
	return best, nil
}

// explore tries paths until one fits. It returns the difference of the path that
// went furthest, and that path.
func (r *Replay) explore(jumping bool) (*Difference, []int, error) {
	var (
		best   *Difference
		bestAt = -2
		path   []int
		ch     = &choices{}
	)
	waiters := r.waiters()
	worlds := maxWorlds
	if r.patient {
		worlds = patientWorlds
	}
	for range worlds {
		e := r.engine(ch)
		d, err := e.replay()
		e.abandon()
		if err != nil {
			return nil, nil, err
		}
		if d == nil {
			r.adopt(e)
			if e.branched {
				r.singleOut(ch)
			}
			return nil, nil, nil
		}
		at := d.Stmt
		if at < 0 {
			at = len(r.h.Stmts)
		}
		if at > bestAt {
			best, bestAt, path = d, at, slices.Clone(ch.taken)
			r.adopt(e)
		}
		if jumping && !ch.jump(e.blame(d), waiters) || !jumping && !ch.next() {
			break
		}
	}
	return best, path, nil
}

// blame returns the statements whose choices can explain a difference: the one
// that differs, and those that wait with changes made.
func (e *engine) blame(d *Difference) []int {
	if d.Stmt < 0 {
		return nil
	}
	out := []int{d.Stmt}
	for _, x := range e.running {
		if len(x.tx.writes) > x.mark {
			out = append(out, x.i)
		}
	}
	return out
}

// waiters returns the statements that waited: where they did decides what they
// changed, and so what later ones and the final state show.
func (r *Replay) waiters() []int {
	var out []int
	for i := range r.h.Stmts {
		if len(r.h.Stmts[i].Waits) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// maxAlternatives bounds the paths that are tried to learn what was the only
// possible prediction.
const maxAlternatives = 300

// singleOut decides which predictions of a fitting path count as single: those
// that no other path which fits so far makes differently. If there are too many
// paths, what stands behind a free choice stays uncounted.
func (r *Replay) singleOut(ch *choices) {
	fits := r.Steps
	other := make([]bool, len(fits))
	for range maxAlternatives {
		if !ch.next() {
			for i := range fits {
				if p := fits[i].Expected; p != nil {
					p.Single = p.determined && !other[i]
				}
			}
			return
		}
		e := r.engine(ch)
		d, err := e.replay()
		e.abandon()
		if err != nil {
			return
		}
		for _, i := range e.unproved {
			other[i] = true
		}
		if d != nil && d.Stmt >= 0 {
			other[d.Stmt] = true
		}
	}
}

// engine makes a fresh world; tables and compiled expressions are shared.
func (r *Replay) engine(ch *choices) *engine {
	ch.pos = 0
	w := &Replay{c: r.c, h: r.h, profile: r.profile, dialect: r.dialect, solver: r.solver,
		store:    Store{solver: r.solver, Order: r.store.Order, Tables: make(map[string]*Table, len(r.store.Tables))},
		sessions: make(map[int]*session), Steps: make([]Step, len(r.h.Stmts))}
	e := &engine{Replay: w, choices: ch, loose: r.loose, raced: make(map[int]bool), running: make(map[int]*running), locks: make(map[*Chain][]lock), doubtful: make(map[*Chain][]lock), pending: make(map[*Chain][]*solve.Key), needs: make(map[int][]*Txn),
		started: make([]history.Tick, len(r.h.Stmts))}
	for n, t := range r.store.Tables {
		nt := &Table{Def: t.Def, Clustered: t.Clustered}
		for _, c := range t.Chains {
			w.store.nextRow = max(w.store.nextRow, c.ID)
			e.nextRID++
			v := c.Versions[0]
			v.rid = e.nextRID
			nt.Chains = append(nt.Chains, &Chain{ID: c.ID, Versions: []Version{v}})
		}
		w.store.Tables[n] = nt
	}
	e.plans = r.parsedPlans()
	if r.empties == nil {
		r.empties = map[ast.Node]emptiness{}
	}
	w.empties = r.empties
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

// phase is what came about between one submission and the next.
type phase struct {
	just  int
	items []item
}

// item is the end of a wait, or an error that ended a statement from outside.
type item struct {
	stmt, wait int
	abort      bool
}

// phases cuts a history at its submissions.
func (e *engine) phases() []phase {
	type event struct {
		at   history.Tick
		sub  bool
		item item
	}
	var evs []event
	for i := range e.h.Stmts {
		st := &e.h.Stmts[i]
		evs = append(evs, event{at: st.Submit, sub: true, item: item{stmt: i}})
		aborted := st.Return != 0 && (errCode(st) == errDeadlock || errCode(st) == errLockTimeout)
		for k, w := range st.Waits {
			if w.Until != 0 && !(aborted && k == len(st.Waits)-1) {
				evs = append(evs, event{at: w.Until, item: item{stmt: i, wait: k}})
			}
		}
		if aborted {
			evs = append(evs, event{at: st.Return, item: item{stmt: i, abort: true}})
		}
	}
	slices.SortStableFunc(evs, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	var out []phase
	for _, ev := range evs {
		if ev.sub {
			out = append(out, phase{just: ev.item.stmt})
		} else if len(out) > 0 {
			last := &out[len(out)-1]
			last.items = append(last.items, ev.item)
		}
	}
	return out
}

func (e *engine) replay() (*Difference, error) {
	var first *Difference
	note := func(d *Difference) bool {
		if d == nil {
			return false
		}
		if d.Stmt >= 0 {
			e.Steps[d.Stmt].Diff = d
		}
		if first == nil {
			first = d
		}
		return !e.keepGoing
	}
	for _, ph := range e.phases() {
		d, err := e.phase(ph, note)
		if err != nil || d {
			return first, err
		}
	}
	for _, x := range e.running {
		d, err := e.neverReturned(x.i)
		if err != nil {
			return nil, err
		}
		if note(d) {
			return first, nil
		}
	}
	d, err := e.finishInnoDB()
	if err != nil {
		return nil, err
	}
	note(d)
	return first, nil
}

// phase replays one submission and what it brought about. It reports whether
// the replay is to end.
func (e *engine) phase(ph phase, note func(*Difference) bool) (bool, error) {
	e.choices.by = -1
	ended, moved := e.endedCount(), map[int]bool{}
	order, d, err := e.overdue(e.permute(ph), ph.just, moved)
	if err != nil || note(d) {
		return true, err
	}
	d, again, err := e.submit(ph)
	if err != nil || note(d) {
		return true, err
	}
	e.expectVictims(ph.items)
	for k, it := range order {
		if it.abort {
			if it.stmt == ph.just && len(e.h.Stmts[it.stmt].Waits) == 0 {
				// It was aborted when it was sent.
				continue
			}
			if note(e.abort(it.stmt)) {
				return true, nil
			}
			if again != nil {
				// What was sent had run up to its block when the victim was
				// rolled back, and may have run into the next victim's locks.
				more := e.victims(order[k+1:], ph.just)
				if !more && k+1 < len(order) && e.choices.choose(2) == 1 {
					// Others may have stood before it in the queue for the
					// victim's locks.
					e.branched = true
					continue
				}
				d, err := e.resume(again, more || again.st.Return == 0)
				if err != nil || note(d) {
					return true, err
				}
				if !more {
					again = nil
				}
			}
			continue
		}
		x := e.running[e.h.Stmts[it.stmt].Session]
		if x == nil || x.i != it.stmt {
			continue
		}
		moved[it.stmt] = true
		if e.choices.by = x.i; e.sameWait(x, it.wait) && e.choices.choose(2) == 1 {
			e.branched = true
			continue
		}
		d, err := e.resume(x, it.wait+1 < len(x.st.Waits) || x.st.Return == 0)
		if err != nil || note(d) {
			return true, err
		}
	}
	if again != nil && e.running[again.st.Session] == again {
		d, err := e.resume(again, again.st.Return == 0)
		if err != nil || note(d) {
			return true, err
		}
	}
	if e.endedCount() != ended {
		d, err := e.advance(moved)
		if err != nil || note(d) {
			return true, err
		}
	}
	return false, nil
}

// overdue lets statements run whose wait ended in this phase for an earlier
// reason: whom they waited for had ended before, or what was submitted cannot
// have released a lock, so that purge did. They may have gone on before the
// submission, and been noticed after it. It returns the items that are left, and
// adds the statements that went on to moved. What the submission answers is not
// the only answer then.
func (e *engine) overdue(items []item, just int, moved map[int]bool) ([]item, *Difference, error) {
	st := &e.h.Stmts[just]
	releases := !st.InTxn || st.Result.Err != nil || len(st.Waits) > 0 || KindOf(e.c.Steps[st.Line].Stmt).isControl() || slices.ContainsFunc(items, func(it item) bool { return it.abort })
	var left []item
	for k, it := range items {
		x := e.running[e.h.Stmts[it.stmt].Session]
		if it.abort || x == nil || x.i != it.stmt || (releases || it.wait+1 < len(x.st.Waits)) && (x.holder == nil || x.holder.Ended == 0) {
			left = append(left, it)
			continue
		}
		e.raced[just] = true
		if e.choices.by = x.i; e.choices.choose(2) == 0 {
			left = append(left, it)
			continue
		}
		e.branched, moved[x.i] = true, true
		if d, err := e.resume(x, it.wait+1 < len(x.st.Waits) || x.st.Return == 0); d != nil || err != nil {
			return append(left, items[k+1:]...), d, err
		}
	}
	return left, nil, nil
}

// sameWait reports whether a wait and the one behind it may be one: MySQL gives
// the request that a statement waits with another name when the record is moved
// on its page, for example because somebody changed it.
func (e *engine) sameWait(x *running, wait int) bool {
	return e.h.Server.DBMS == history.MySQL && wait+1 < len(x.st.Waits) && x.st.Waits[wait+1].From == x.st.Waits[wait].Until+1
}

// victims reports whether a deadlock ended a statement other than the given one.
func (e *engine) victims(items []item, but int) bool {
	return slices.ContainsFunc(items, func(it item) bool {
		return it.abort && it.stmt != but && errCode(&e.h.Stmts[it.stmt]) == errDeadlock
	})
}

func (e *engine) endedCount() int {
	n := 0
	for _, s := range e.sessions {
		n += s.ended
	}
	return n
}

// permute returns the items of a phase in one of their orders: what one event
// released may have run in any order, whatever the order of the answers.
func (e *engine) permute(ph phase) []item {
	rest := slices.Clone(ph.items)
	if len(rest) < 2 || len(rest) > 4 {
		return rest
	}
	out := make([]item, 0, len(rest))
	for len(rest) > 0 {
		k := e.choices.choose(e.free(rest))
		out = append(out, rest[k])
		rest = slices.Delete(rest, k, k+1)
	}
	return out
}

// free returns how many of the items at the front can be the next one: an item
// cannot come before an earlier one of its own statement.
func (e *engine) free(items []item) int {
	for k := 1; k < len(items); k++ {
		for j := range k {
			if items[j].stmt == items[k].stmt {
				return k
			}
		}
	}
	return len(items)
}

// advance moves statements on that go on waiting although whom they waited for
// has ended: they may wait for another lock now.
func (e *engine) advance(moved map[int]bool) (*Difference, error) {
	for _, n := range e.sessionNumbers() {
		x := e.running[n]
		if x == nil || moved[x.i] || x.holder == nil || x.holder.Ended == 0 {
			continue
		}
		e.choices.by = x.i
		if e.choices.choose(2) == 1 {
			e.branched = true
			continue
		}
		if d, err := e.resume(x, true); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

func (e *engine) sessionNumbers() []int {
	out := make([]int, 0, len(e.running))
	for n := range e.running {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
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
	if kind == Other {
		return nil, nil, &Loss{Slug: "unsupported: statement", Detail: ast.GetStmtLabel(node)}
	}
	s := e.session(st.Session)
	if kind.isControl() {
		if st.Return == 0 {
			d, err := e.neverReturned(i)
			return d, nil, err
		}
		d, err := e.controlInnoDB(i, s, kind, node)
		return d, nil, err
	}
	if s.txn != nil && !st.InTxn && !s.reopened {
		return &Difference{Stmt: i, Kind: "lost-transaction", Expected: "inside a transaction", Actual: "outside",
			Reason: "the server says that the session has no open transaction although nothing ended it"}, nil, nil
	}
	tx, auto := s.txn, false
	if tx == nil {
		tx, auto = e.beginInnoDB(s, st.Session), true
	}
	x := &running{e: e, i: i, st: st, tx: tx, auto: auto, kind: kind, node: node, start: e.clock, mark: len(tx.writes), seq: e.nextSeq}
	if kind == Select && tx.Rules[rules.ConsistentRead] == rules.SharedLock && !auto {
		x.kind = SelectForShare
	}
	e.running[st.Session] = x
	c := errCode(st)
	if c == errDeadlock && len(st.Waits) == 0 || e.victims(ph.items, i) {
		var err error
		if e.needs[i], err = x.probe(); err != nil {
			return nil, nil, err
		}
	}
	if (c == errDeadlock || c == errLockTimeout) && len(st.Waits) == 0 {
		// Its block was at once resolved against it: nothing of it was seen.
		return e.abort(i), nil, nil
	}
	unblocked := len(st.Waits) == 0 && e.victims(ph.items, i)
	d, err := e.resume(x, len(st.Waits) > 0 || st.Return == 0 || unblocked)
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
	// Where no lock tells the place, there were others to choose from.
	x.e.branched = x.e.branched || holder == nil
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
// statement cannot get past the lock under any plan.
func (x *running) point(holder *Txn, gaps, sure bool) stop {
	if !x.due {
		return nowhere
	}
	e := x.e
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
	e.branched = e.branched || e.loose
	if where != nowhere {
		x.sure = false
		x.block(holder)
	}
	return where
}

// perhaps is a place where the statement waits if another transaction holds a
// lock there that it may have kept, which is not certain.
func (x *running) perhaps(holder *Txn) stop {
	if !x.due || holder == nil {
		return nowhere
	}
	if x.e.choices.keep(2) == 0 {
		return nowhere
	}
	x.e.branched = true
	x.sure = false
	x.block(holder)
	return atEntry
}

// resume runs a statement up to its next wait or its end.
func (e *engine) resume(x *running, due bool) (*Difference, error) {
	x.due, x.from = due, e.choices.pos
	e.choices.by, e.store.stmt = x.i, x.i
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
	if x.waited && e.choices.pos > x.from {
		e.branched = true
	}
	single := x.p.Single && !e.raced[i]
	x.p.determined, x.p.Single = single && !x.guessed, single && !e.branched
	if x.p.Err != 0 {
		e.undo(x.tx, x.mark)
	}
	code := errCode(x.st)
	s.reopened = s.reopened && code != 0
	if code != errRecordChanged && !(x.auto && x.kind == Select) {
		x.tx.stmts = append(x.tx.stmts, i)
	}
	var d *Difference
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
			e.nameInnoDB(d, x)
		}
	}
	switch {
	case x.p.Err == errRecordChanged || code == errRecordChanged:
		e.rollbackInnoDB(s, x.tx)
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

// abort ends a statement that an error ended from outside: a deadlock or a
// lock time-out.
func (e *engine) abort(i int) *Difference {
	st := &e.h.Stmts[i]
	x := e.running[st.Session]
	if x == nil || x.i != i {
		return nil
	}
	if errCode(st) == errDeadlock {
		if e.Steps[i].Expected == nil {
			e.Steps[i].Expected = e.cornered(x)
		}
		if e.Steps[i].Expected == nil {
			e.unproved = append(e.unproved, i)
		}
	}
	if x.stop != nil {
		x.stop()
	}
	delete(e.running, st.Session)
	s := e.session(st.Session)
	d := e.cause(i, x.tx)
	if d == nil && errCode(st) == errDeadlock {
		d = e.uninvolved(x)
	}
	switch {
	case x.auto || errCode(st) == errDeadlock:
		e.rollbackInnoDB(s, x.tx)
		s.txn = nil
		if e.takeLevel(s, true); x.auto {
			s.takeNext()
		}
		if !x.auto && x.tx.Rules[rules.AfterDeadlock] == rules.AnotherTransaction {
			s.txn = e.beginInnoDB(s, x.st.Session)
			s.reopened = true
		}
	default:
		e.undo(x.tx, x.mark)
	}
	return d
}

// LeftOpen is the kind of a difference: a session whose transaction was ended
// for it is in a transaction all the same, as the status of an answer says.
const LeftOpen = "transaction-left-open"

// reopened looks for a session that the server says to be in a transaction
// although a deadlock ended it and none was begun.
func (r *Replay) reopened() *Difference {
	ended := map[int]bool{}
	for i := range r.h.Stmts {
		st := &r.h.Stmts[i]
		kind := KindOf(r.c.Steps[st.Line].Stmt)
		switch code := errCode(st); {
		case code == errDeadlock:
			ended[st.Session] = true
		case code == 0 && !kind.isControl() && ended[st.Session]:
			if tx := r.profile.At(r.h.Levels[st.Session]); st.Result.InTxn && tx[rules.AfterDeadlock] == rules.NoTransaction {
				return &Difference{Stmt: i, Kind: LeftOpen, Expected: "outside of a transaction", Actual: "inside of one",
					Reason: "the session's transaction was a deadlock's victim, and no BEGIN was sent since, yet the server says that it is in a transaction"}
			}
		case kind == Begin || kind == BeginSnapshot || code == 0 && (kind == Commit || kind == Rollback):
			delete(ended, st.Session)
		}
	}
	return nil
}

func (e *engine) beginInnoDB(s *session, n int) *Txn {
	s.reopened = false
	t := &Txn{Session: n, Level: s.level, Rules: e.profile.At(s.level), Begin: e.clock}
	return t
}

func (e *engine) commitInnoDB(s *session, t *Txn) {
	t.Commit = e.now()
	t.Ended = t.Commit
	s.ended++
	if len(t.stmts) > 0 {
		e.units = append(e.units, t)
	}
}

func (e *engine) rollbackInnoDB(s *session, t *Txn) {
	e.releaseAmid(t)
	e.undo(t, 0)
	t.Ended = e.now()
	s.ended++
}

// takeLevel lets a level take effect that was set inside a transaction which
// ended without COMMIT or ROLLBACK: an error ended it, or BEGIN.
func (e *engine) takeLevel(s *session, byError bool) {
	late := e.profile.At(s.level)[rules.LateLevel]
	if late == rules.NextTransaction || late == rules.AfterOwnEnd && !byError {
		s.takeNext()
	}
}

// takeNext lets a level take effect that was set inside a transaction. The end
// of a statement that is a transaction of its own does that in any case: the
// level that the rule of takeLevel left waiting is that of the next transaction
// only, not of the rest of the session.
func (s *session) takeNext() {
	if s.next != 0 {
		s.level, s.next = s.next, 0
	}
}

// controlInnoDB replays a statement that touches no table.
func (e *engine) controlInnoDB(i int, s *session, kind Kind, node ast.StmtNode) (*Difference, error) {
	st := &e.h.Stmts[i]
	if er := st.Result.Err; er != nil {
		return e.controlError(i, s, kind, er)
	}
	switch kind {
	case Begin, BeginSnapshot:
		begun := s.txn != nil
		if begun {
			e.commitInnoDB(s, s.txn)
		}
		e.takeLevel(s, !begun)
		s.txn = e.beginInnoDB(s, st.Session)
		if kind == BeginSnapshot && s.txn.Rules[rules.ConsistentRead] == rules.Snapshot || corpus.ConsistentSnapshot(node) && e.isolatesSnapshots(s.txn) {
			s.txn.Snapshot = e.clock
		}
		return nil, nil
	case Commit:
		if s.txn != nil {
			e.commitInnoDB(s, s.txn)
			s.txn = nil
		}
	case Rollback:
		if s.txn != nil {
			e.rollbackInnoDB(s, s.txn)
			s.txn = nil
		}
	case RollbackTo:
		if s.txn == nil {
			break
		}
		if j := s.txn.savepoint(node.(*ast.RollbackStmt).SavepointName); j >= 0 {
			e.undo(s.txn, s.txn.savepoints[j].writes)
			s.txn.savepoints = s.txn.savepoints[:j+1]
			e.partial = true
		}
	default:
		return e.control(i, s, kind, node)
	}
	if kind != RollbackTo {
		s.takeNext()
	}
	return nil, nil
}
