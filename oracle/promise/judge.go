package promise

import (
	"errors"
	"maps"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// mostSolos bounds the questions of one history. A case of three transactions asks ten or so; what
// needs hundreds has too many orders to be told apart.
const mostSolos = 300

// judge is what the judges share.
type judge struct {
	c      *corpus.Case
	h      *history.History
	layout layout
	// defs holds the definitions of the tables by their names in small letters.
	defs    map[string]*ast.CreateTableStmt
	t       *timeline
	scratch Scratch
	kept    map[string]*history.SoloAnswer
	ruling  Ruling
	// held holds the statements that were held against what they answer alone.
	held map[int]bool
	// skipped says of others why they were not.
	skipped map[int]string
	// hidden is what the case does out of sight of its statements.
	hidden hidden
	// foreign holds the foreign keys that have to hold.
	foreign []foreignKey
	// orphansAlone says that statements that ran alone have left a row that refers to none.
	orphansAlone bool
}

// Judge asks whether a history keeps what its levels promise. It is deterministic if scratch is. Where nobody was told how
// statements of sessions that were ended went, it keeps its promise if it does in one of the ways in which they may have
// gone. The error is that of scratch.
func Judge(c *corpus.Case, h *history.History, scratch Scratch) (Ruling, error) {
	worlds, err := withoutEnds(c, h)
	var open unjudgedError
	switch {
	case errors.As(err, &open):
		return Ruling{Stmt: -1, Unjudged: string(open)}, nil
	case err != nil:
		return Ruling{Stmt: -1}, err
	case len(worlds) == 0:
		return judgeOne(c, h, scratch)
	}
	var best Ruling
	for i := range worlds {
		g, err := judgeOne(worlds[i].Case, worlds[i].History, scratch)
		if err != nil {
			return g, err
		}
		g.inWords(&worlds[i])
		if i == 0 || best.Broken && !g.Broken || best.Unjudged != "" && !g.Broken && g.Unjudged == "" {
			best = g
		}
		if !best.Broken && best.Unjudged == "" {
			break
		}
	}
	return best, nil
}

// judgeOne is Judge for a history in which no session ends.
func judgeOne(c *corpus.Case, h *history.History, scratch Scratch) (Ruling, error) {
	j := &judge{
		c: c, h: h, scratch: scratch,
		kept: map[string]*history.SoloAnswer{}, held: map[int]bool{}, skipped: map[int]string{},
	}
	j.ruling.Stmt = -1
	err := j.decide()
	switch {
	case err != nil:
	case !j.ruling.Broken:
		err = j.leftOpen()
	case j.doubt() != "":
		err = unjudgedError(j.doubt())
	}
	j.ruling.Judged = len(j.held)
	var open unjudgedError
	if errors.As(err, &open) {
		j.ruling.Broken, j.ruling.Unjudged = false, string(open)
		err = nil
	}
	if err == nil && j.ruling.Broken && j.ruling.Kind == NotSerializable {
		// Without them the ruling is the same.
		d, exact, _ := dependenciesOf(c, h, scratch)
		j.ruling.Dependencies = d
		j.ruling.ButForKeys = d != nil && exact && cyclic(d, func(*mvcc.Dependency) bool { return true }) &&
			!cyclic(d, func(e *mvcc.Dependency) bool { return e.Through == "" })
		if !j.ruling.ButForKeys && j.t.aborts && slices.ContainsFunc(j.layout, j.isOwnParent) {
			j.ruling.Broken, j.ruling.Unjudged = false, "a foreign key to its own table, which is looked up among the newest rows"
		}
	}
	return j.ruling, err
}

func (j *judge) decide() (err error) {
	if j.h.End != history.Complete {
		return unjudgedError("a run that did not end by itself")
	}
	j.defs = definitions(j.c, j.h)
	if j.layout, err = layoutOf(j.defs, j.h); err != nil {
		return err
	}
	if j.withoutTransactions() {
		return unjudgedError("a storage engine without transactions")
	}
	if j.t, err = read(j.c, j.h); err != nil {
		return err
	}
	if j.hidden, err = hiddenIn(j.c, j.defs, j.h.Server); err != nil {
		return err
	}
	j.foreign = j.keysToHold()
	for _, e := range j.t.events {
		if e.data() {
			j.ruling.Statements++
		}
		j.ruling.Met = j.ruling.Met || e.waited() || e.st.Result.Err != nil && j.ofLocks(e.st.Result.Err)
	}
	initial, ok := j.layout.read(j.h.Initial)
	final, okFinal := j.layout.read(j.h.Final)
	if !ok || !okFinal {
		return unjudgedError("tables that are made on the way")
	}
	if e := j.t.lost; e != nil {
		j.broken(e, "lost-transaction", "the transaction that it is in stays open", "the server says that no transaction is open",
			"nothing had ended the transaction, and the server told no error")
		return nil
	}
	if o := j.t.odd; o != nil {
		j.broken(o.e, o.kind, o.expected, history.Describe(o.e.kind, &o.e.st.Result), o.why)
		return nil
	}
	if e := j.t.accepted; e != nil {
		j.broken(e, "missing-error", "an error: the transaction is aborted", history.Describe(e.kind, &e.st.Result),
			"an error had aborted its transaction, in which nothing can be done until ROLLBACK")
		return nil
	}
	if e := j.unjustified(); e != nil {
		reason := "no other transaction was open that had read with locks or written, so that nothing justifies this error"
		if e.st.Result.Err.Means() == errRecordChanged && e.unit.promise.FirstUpdaterWins {
			reason = "nobody has changed rows and committed behind the snapshot of this transaction, " +
				"so that nothing justifies this error"
		}
		j.broken(e, "unjustified-abort", "no error", e.st.Result.Err.String(), reason)
		return nil
	}
	if j.unsafe() {
		return nil
	}
	err = j.answers(initial, final)
	if why := j.orphan(final); why != "" {
		return j.orphaned(why, err)
	}
	if j.ruling.Broken || err != nil && !errors.As(err, new(unjudgedError)) {
		return err
	}
	if holds, failed := j.holds(final); failed != nil || !holds {
		return failed
	}
	return err
}

// serial says that all transactions are promised to have a serial order.
func (j *judge) serial() bool {
	return !slices.ContainsFunc(j.t.units, func(u *unit) bool { return !u.promise.Serial })
}

// answers judges the answers and the tables in the end.
func (j *judge) answers(initial, final state) error {
	switch {
	case j.serial():
		if err := j.serially(initial, final); err != nil || j.ruling.Broken || len(j.t.units) == 0 || !j.t.units[0].promise.Isolated {
			return err
		}
		return j.onSnapshotsToo(initial, final)
	case j.h.Server.Declared != nil && slices.ContainsFunc(j.t.units, func(u *unit) bool { return u.promise.Serial }):
		return unjudgedError("serializable transactions beside others, of which nothing was declared")
	}
	if j.hidden.read {
		return unjudgedError("a query in a trigger, which may see other rows than the statement")
	}
	return j.byStatement(initial, final)
}

// onSnapshotsToo judges transactions that have a serial order by their snapshots, too, those that were aborted among
// them: PostgreSQL's SERIALIZABLE "works exactly the same as Repeatable Read except that it also monitors for conditions
// which could make execution … inconsistent". What cannot be told so is as the serial order has it.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE
func (j *judge) onSnapshotsToo(initial, final state) error {
	skipped := maps.Clone(j.skipped)
	err := j.byStatement(initial, final)
	j.skipped = skipped
	if errors.As(err, new(unjudgedError)) {
		return nil
	}
	return err
}

// orphaned is the ruling on a foreign key that does not hold. If the server breaks it alone, too, that is
// no matter of isolation.
func (j *judge) orphaned(why string, err error) error {
	var open unjudgedError
	switch {
	case err != nil && !errors.As(err, &open):
		return err
	case j.orphansAlone:
		j.ruling.Broken = false
		return unjudgedError("a foreign key that does not hold if the statements run alone either")
	}
	j.ruling.Broken, j.ruling.Kind, j.ruling.Stmt, j.ruling.Promise = true, Orphan, -1, Promise{}
	j.ruling.Expected, j.ruling.Actual = "each row refers to one that is there", why
	j.ruling.Reason = "a foreign key must hold with all transactions ended"
	return nil
}

// leftOpen is why a promise that nothing breaks is not said to be kept: a statement was held against
// nothing. One that failed because of others answers nothing that could be.
func (j *judge) leftOpen() error {
	for _, e := range j.t.events {
		if failed := e.st.Result.Err; !e.data() || e.refused || j.held[e.index] || j.retryable(failed) {
			continue
		}
		if why := j.skipped[e.index]; why != "" {
			return unjudgedError(why)
		}
		if e.unit != nil && (!e.unit.promise.Serial || e.unit.committed) {
			return unjudgedError("a statement that was held against nothing")
		}
	}
	return nil
}

func (j *judge) broken(e *event, kind, expected, actual, reason string) {
	j.ruling.Broken, j.ruling.Kind, j.ruling.Stmt = true, kind, e.index
	j.ruling.Expected, j.ruling.Actual, j.ruling.Reason = expected, actual, reason
}

// ask runs statements alone. An unjudgedError says that the question settles nothing.
func (j *judge) ask(s state, events ...*event) (*history.SoloAnswer, state, error) {
	q := &history.Solo{Tables: j.layout.tables(s), IDs: map[int]int64{}}
	ahead := 0 // how many statements stand before the events
	for i, e := range events {
		if len(e.before) != len(events[0].before) {
			return nil, nil, unjudgedError("SET in the middle of a transaction")
		}
		if i == 0 {
			q.Before = e.before
			q.InTxn = len(events) == 1 && !e.alone
		}
		if q.InTxn {
			q.Steps = j.constraintsBefore(e)
			ahead = len(q.Steps)
		}
		q.Steps = append(q.Steps, e.st.Line)
		if id := e.st.Result.LastID; id != 0 && e.writes() {
			q.IDs[ahead+i] = id
		}
	}
	key := q.Key()
	a := j.kept[key]
	if a == nil {
		if j.ruling.Solos >= mostSolos {
			return nil, nil, unjudgedError("more orders than can be told apart")
		}
		j.ruling.Solos++
		var err error
		if a, err = j.scratch(q); err != nil {
			return nil, nil, err
		}
		j.kept[key] = a
	}
	if a.Open != "" {
		return nil, nil, unjudgedError(a.Open)
	}
	if len(a.Several) > 0 {
		return nil, nil, unjudgedError(anyMatch)
	}
	after, ok := j.layout.read(a.After)
	if !ok || len(a.Results) != ahead+len(events) {
		return nil, nil, unjudgedError("tables that are made on the way")
	}
	if ahead > 0 {
		own := *a
		own.Results = a.Results[ahead:]
		a = &own
	}
	if !j.orphansAlone {
		j.orphansAlone = j.orphan(after) != "" && j.orphan(s) == ""
	}
	return a, after, nil
}

// unjustified returns a statement that failed because of others although there are none.
func (j *judge) unjustified() *event {
	for _, e := range j.t.events {
		failed := e.st.Result.Err
		if e.unit == nil || failed == nil || !j.ofLocks(failed) || e.kind.BesideRows() {
			continue
		}
		if failed.Means() == errRecordChanged && e.unit.promise.FirstUpdaterWins && !j.changedBehind(e) {
			return e
		}
		if j.t.aborts && (failed.Code == errDeadlocked && !e.waited() ||
			failed.Code == errSerialization && !e.unit.promise.Serial && !j.committedBehind(e)) {
			return e
		}
		if !slices.ContainsFunc(j.t.events, func(o *event) bool {
			if o.unit == nil || o.unit == e.unit || o.unit.safe || o.st.Submit >= e.to || e.unit.begun >= o.unit.over() {
				return false
			}
			// How a server that no rule knows finds conflicts is not known: it may be by reads.
			// PostgreSQL's SERIALIZABLE finds them by reads.
			return o.locks() || (j.h.Server.Declared != nil || both(o, e)) && o.data()
		}) {
			return e
		}
	}
	return nil
}

// both says that two events are of transactions whose conflicts are found by what they read.
func both(a, b *event) bool {
	return a.unit.promise.Serial && a.unit.promise.Isolated && b.unit.promise.Serial && b.unit.promise.Isolated
}

// committedBehind says that another transaction has written and may have been committed behind the snapshot of a
// statement's transaction, before the statement failed.
func (j *judge) committedBehind(e *event) bool {
	since := e.st.Submit
	for _, x := range e.unit.events {
		if x.opensSnapshot() {
			since = min(since, x.st.Submit)
		}
	}
	return slices.ContainsFunc(j.t.units, func(u *unit) bool {
		return u != e.unit && u.committed && u.end.to > since && u.end.st.Submit < e.to &&
			slices.ContainsFunc(u.events, func(x *event) bool { return x.writes() && x.st.Result.Err == nil })
	})
}

// changedBehind says that another transaction may have changed rows and committed behind the snapshot of a
// statement's transaction.
func (j *judge) changedBehind(e *event) bool {
	since, viewed := j.earliestView(e)
	if j.hidden.read { // a query in a trigger takes a snapshot, too
		since, viewed = e.unit.begun, true
	}
	return viewed && slices.ContainsFunc(j.t.units, func(u *unit) bool {
		return u != e.unit && u.committed && u.end.to > since && u.end.st.Submit < e.to &&
			slices.ContainsFunc(u.events, func(x *event) bool { return x.writes() && x.st.Result.Err == nil })
	})
}

// locks says that an event locks what it reads, or writes.
func (e *event) locks() bool {
	return e.data() && (!e.plain() || e.unit.promise.Plain == Locking)
}

// over is when a unit was over, at the end of time if nothing ended it.
func (u *unit) over() history.Tick {
	if u.end == nil {
		return 1 << 62
	}
	return u.end.to
}
