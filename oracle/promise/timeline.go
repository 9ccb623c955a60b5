package promise

import (
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// unit is one transaction: what a session did between two ends, or one statement in autocommit.
type unit struct {
	session int
	level   corpus.Level
	promise Promise
	// events are its statements, BEGIN and COMMIT among them, in order.
	events []*event
	// begun is when its first statement was sent.
	begun history.Tick
	// committed says that it was; else it was rolled back, by whatever. Its end is the statement
	// that ended it, nil where that was the end of the case.
	committed bool
	end       *event
	// consistent says that its first statement asks for the snapshot at once.
	consistent bool
	// readOnly says that it may only read, deferrable that its snapshot may be waited for.
	readOnly, deferrable bool
	// first is the statement that took its snapshot, nil as long as none has; safe that the snapshot was one that nothing
	// can make one of no serial order, mayWrite that the transaction might write then.
	first          *event
	safe, mayWrite bool
	// failed says, while a history is read, that an error has aborted it.
	failed bool
	// sets is the level that its session has behind it if it commits, 0 for the one before, saved what it was at each
	// savepoint.
	sets  corpus.Level
	saved []savedLevel
}

// savedLevel is what a transaction had set when it set a savepoint.
type savedLevel struct {
	name string
	sets corpus.Level
}

// save keeps what a transaction has set at a savepoint, backTo takes it back.
func (u *unit) save(e *event) { u.saved = append(u.saved, savedLevel{savepointName(e), u.sets}) }

func (u *unit) backTo(e *event) {
	for n := len(u.saved) - 1; n >= 0; n-- {
		if u.saved[n].name == savepointName(e) {
			u.sets, u.saved = u.saved[n].sets, u.saved[:n+1]
			return
		}
	}
}

// event is a statement of a history.
type event struct {
	index  int // into History.Stmts
	st     *history.Stmt
	node   ast.StmtNode
	kind   stmt.Kind
	unit   *unit
	before []int // the session's SET statements before it, as steps of the case
	// from and to bound the moment at which it took effect: from is that of the statement whose
	// submission ended its last wait, or its own.
	from, to history.Tick
	// alone says that it is a transaction of its own, closes that it ends its unit.
	alone, closes bool
	// refused says that its transaction had been aborted by an error.
	refused bool
}

func (e *event) waited() bool { return len(e.st.Waits) > 0 }

// writes says that a write of a transaction was under way while another one's statement was.
func (u *unit) writes(other *history.Stmt) bool {
	return slices.ContainsFunc(u.events, func(e *event) bool {
		return e.writes() && e.st.Submit < other.Return && (e.st.Return == 0 || e.st.Return > other.Submit)
	})
}

// refers says that an UPDATE has failed since a row would refer to nobody.
func (e *event) refers() bool {
	const foreignKeyViolation = "23503"
	return e.st.Result.Err != nil && e.st.Result.Err.State == foreignKeyViolation && (e.kind == stmt.Update || e.kind == stmt.Raw)
}

// wroteBefore says that a transaction has written before a statement of its own. Then PostgreSQL checks foreign keys again
// for rows whose keys an UPDATE leaves alone: a copy in which these rows are committed shows nothing of it.
func (u *unit) wroteBefore(e *event) bool {
	return slices.ContainsFunc(u.events, func(x *event) bool { return x.index < e.index && x.writes() && x.st.Result.Err == nil })
}

// stretched says that an event was held, or kept by something that was: it took effect at any moment between
// its submission and its answer.
func (e *event) stretched() bool {
	return slices.ContainsFunc(e.st.Waits, func(w history.Wait) bool { return w.Kind == history.Held || w.Kind == history.Silence })
}

// data says that an event reads or writes tables.
func (e *event) data() bool {
	switch e.kind {
	case stmt.Select, stmt.SelectForShare, stmt.SelectForUpdate, stmt.Insert, stmt.Update, stmt.Delete, stmt.Raw:
		return true
	}
	return isUnion(e.node)
}

func isUnion(n ast.StmtNode) bool {
	_, ok := n.(*ast.SetOprStmt)
	return ok
}

// plain says that it is a query that locks nothing, nor has a query within that does.
func (e *event) plain() bool {
	if raw, ok := e.node.(*stmt.RawStmt); ok {
		return raw.Plain()
	}
	return (e.kind == stmt.Select || isUnion(e.node)) && !corpus.Contains(e.node, func(n ast.Node) (found, skip bool) {
		s, ok := n.(*ast.SelectStmt)
		return ok && stmt.LockOf(s).Mode != stmt.None, false
	})
}

// writes says that it is no query.
func (e *event) writes() bool {
	switch e.kind {
	case stmt.Insert, stmt.Update, stmt.Delete:
		return true
	case stmt.Raw:
		return len(e.node.(*stmt.RawStmt).Writes) > 0
	}
	return false
}

// timeline is a history as transactions.
type timeline struct {
	units []*unit
	// events holds all, in the order in which they took effect as far as that was seen.
	events []*event
	// lost is set where a transaction is gone that nothing ended.
	lost *event
	// aborts says that an error aborts a transaction until ROLLBACK, or ROLLBACK TO a savepoint, and BEGIN within
	// one does nothing. accepted is a statement that was carried out in an aborted one.
	// https://www.postgresql.org/docs/current/tutorial-transactions.html
	aborts   bool
	accepted *event
	// prepared holds, while a history is read, the transactions that are prepared, by their names; odd is the first
	// statement of two-phase commit that fails otherwise than it has to.
	prepared map[string]*unit
	odd      *oddity
	// levels are those that sessions have set since the history began.
	levels map[int]corpus.Level
}

// unjudgedError says why a history is not judged.
type unjudgedError string

func (e unjudgedError) Error() string { return string(e) }

// read makes a timeline of a history. An unjudgedError says what is in the way.
func read(c *corpus.Case, h *history.History) (*timeline, error) {
	t := &timeline{aborts: h.Server.DBMS == history.PostgreSQL, levels: maps.Clone(h.Levels), prepared: map[string]*unit{}}
	open := map[int]*unit{}
	sets := map[int][]int{}
	for i := range h.Stmts {
		st := &h.Stmts[i]
		e := &event{index: i, st: st, node: c.Steps[st.Line].Stmt, from: st.Submit, to: st.Return}
		e.kind = stmt.KindOf(e.node)
		e.before = slices.Clone(sets[st.Session])
		if st.Return == 0 {
			return nil, unjudgedError("a statement that never answered")
		}
		if n := len(st.Waits); n > 0 && st.Waits[n-1].Until > 0 && !e.stretched() {
			e.from = phaseOf(h, st.Waits[n-1].Until)
		}
		u := open[st.Session]
		if u == nil {
			u = &unit{session: st.Session, level: t.levels[st.Session], begun: st.Submit}
		}
		if err := t.place(e, u, open); err != nil {
			return nil, err
		}
		if e.kind == stmt.SetVariable {
			sets[st.Session] = append(sets[st.Session], st.Line)
		}
	}
	slices.SortStableFunc(t.events, func(a, b *event) int { return int(a.to - b.to) })
	for _, u := range t.units {
		var ok bool
		if u.promise, ok = Of(h.Server, u.level); !ok {
			return nil, unjudgedError("a level or a server of which no promise is known")
		}
	}
	return t, nil
}

// place puts an event into its unit, and begins and ends units. open holds those that are.
func (t *timeline) place(e *event, u *unit, open map[int]*unit) error {
	t.events = append(t.events, e)
	failed := e.st.Result.Err != nil
	began := open[u.session] != nil
	switch {
	case e.kind.OfPrepared():
		return t.preparing(e, u, open)
	case t.aborts && began:
		return t.within(e, u, open)
	}
	switch e.kind {
	case stmt.Begin, stmt.BeginSnapshot:
		if began && !failed { // it commits what is open
			t.close(e, u, true, open)
			u = &unit{session: u.session, level: u.level, begun: e.st.Submit}
		}
		switch {
		case failed && began && !e.st.Result.InTxn: // it could not commit what was open, and begins nothing
			t.join(e, u, open)
			t.close(e, u, false, open)
			return nil
		case failed:
			return unjudgedError("a BEGIN that fails")
		}
		u.consistent = e.kind == stmt.BeginSnapshot
		switch b := e.node.(type) {
		case *ast.BeginStmt:
			u.readOnly = b.ReadOnly
		case *stmt.ModesStmt:
			u.set(b)
		}
		t.join(e, u, open)
		return nil
	case stmt.Commit, stmt.Rollback:
		switch {
		case chains(e.node) && t.aborts && failed && e.st.Result.Err.Code == errSyntax:
			return unjudgedError("AND CHAIN of a server that does not know it")
		case chains(e.node) && t.aborts: // no transaction is open
			t.must(e, noTransaction, "AND CHAIN can be used within a transaction only")
			return nil
		case e.st.Result.InTxn || chains(e.node):
			return unjudgedError("AND CHAIN or RELEASE")
		}
		if began {
			t.join(e, u, open)
			t.close(e, u, e.kind == stmt.Commit && !failed, open)
		}
		return nil
	case stmt.Savepoint, stmt.RollbackTo, stmt.ReleaseSavepoint:
		switch {
		case !began && t.aborts && failed: // it does nothing
			return nil
		case !began:
			return unjudgedError("a savepoint outside of a transaction")
		}
		t.join(e, u, open)
		if !e.st.Result.InTxn { // the members of a cluster tell so that another one has won
			if !failed {
				t.lost = e
			}
			t.close(e, u, false, open)
		}
		return nil
	case stmt.SetVariable:
		if began && !e.st.Result.InTxn {
			t.close(e, u, !failed, open)
		}
		return nil
	case stmt.Use, stmt.Advisory, stmt.Listen, stmt.Unlisten, stmt.Notify, stmt.Sequence,
		stmt.SetConstraints: // what is of a transaction does nothing outside of one
		return nil
	case stmt.SetModes: // outside of a transaction it does nothing
		t.must(e, "", "outside of a transaction there is nothing that it could come too late for")
		return nil
	case stmt.SetLevel:
		// Outside of a transaction it holds at once, inside of one it would go with that.
		// https://www.postgresql.org/docs/current/sql-set-transaction.html
		if l, ok := levelOfSet(e.node); ok && t.aborts && !failed {
			t.levels[u.session] = l
			return nil
		}
	}
	if !e.data() {
		return unjudgedError("a statement that is neither a query nor a write: " + string(e.kind))
	}
	t.join(e, u, open)
	switch inTxn := e.st.Result.InTxn; {
	case !began && !inTxn && failed && len(e.before) > 0:
		return unjudgedError("a statement that fails behind SET, which may have begun a transaction")
	case !began && !inTxn:
		e.alone = true
		t.close(e, u, !failed, open)
	case began && !inTxn && !failed:
		t.lost = e
		t.close(e, u, false, open)
	case began && !inTxn:
		t.close(e, u, false, open)
	}
	return nil
}

// levelOfSet returns the level that SET SESSION TRANSACTION ISOLATION LEVEL sets.
func levelOfSet(n ast.StmtNode) (corpus.Level, bool) {
	s, ok := n.(*ast.SetStmt)
	if !ok || len(s.Variables) != 1 || !strings.EqualFold(s.Variables[0].Name, "tx_isolation") {
		return 0, false
	}
	return corpus.LevelOfValue(s.Variables[0].Value)
}

// within is place for a statement in an open transaction that an error aborts.
func (t *timeline) within(e *event, u *unit, open map[int]*unit) error {
	failed := e.st.Result.Err != nil
	level, sets := levelOfSet(e.node)
	if e.kind == stmt.SetLevel && !sets || e.kind.OfSession() || !e.data() && !e.kind.Control() {
		return unjudgedError("a statement that is neither a query nor a write: " + string(e.kind))
	}
	if chains := chains(e.node); chains && failed && e.st.Result.Err.Code == errSyntax {
		return unjudgedError("AND CHAIN of a server that does not know it")
	} else if (e.kind == stmt.Commit || e.kind == stmt.Rollback) && e.st.Result.InTxn && (!chains || failed) {
		return unjudgedError("the end of a transaction, behind which one is open")
	}
	if u.readOnly && e.writes() && !failed {
		return unjudgedError("READ ONLY")
	}
	if e.kind == stmt.SetModes && !u.failed {
		if err := t.setting(e, u); err != nil {
			return err
		}
	}
	t.join(e, u, open)
	switch {
	case e.kind == stmt.Commit, e.kind == stmt.Rollback:
		t.close(e, u, e.kind == stmt.Commit && !failed && !u.failed, open)
		if chains(e.node) && !failed {
			t.chain(e, u, open)
		}
		return nil
	case e.kind == stmt.RollbackTo && !failed:
		u.failed = false
		u.backTo(e)
	case u.failed:
		e.refused = true
		if t.accepted == nil && (!failed || !refusal(e.st.Result.Err) && e.kind != stmt.RollbackTo) {
			t.accepted = e
		}
		return nil
	case failed:
		u.failed = true
		return nil
	case sets: // of the transactions to come
		u.sets = level
	case e.kind == stmt.SetModes:
		u.set(e.node.(*stmt.ModesStmt))
	case e.kind == stmt.Savepoint:
		u.save(e)
	case e.kind == stmt.ReleaseSavepoint: // an older one of the name can be reached again
		n := len(u.saved) - 1
		for n >= 0 && u.saved[n].name != savepointName(e) {
			n--
		}
		u.saved = u.saved[:max(n, 0)]
	}
	if !e.st.Result.InTxn {
		t.lost = e
		t.close(e, u, false, open)
	}
	return nil
}

// chain begins the transaction that one leaves behind which has ended AND CHAIN: "with the same transaction
// characteristics".
// https://www.postgresql.org/docs/current/sql-commit.html
func (t *timeline) chain(e *event, u *unit, open map[int]*unit) {
	next := &unit{session: u.session, level: u.level, readOnly: u.readOnly, deferrable: u.deferrable, begun: e.st.Return + 1}
	open[u.session] = next
	t.units = append(t.units, next)
	if !e.st.Result.InTxn {
		t.lost = e
		delete(open, u.session)
	}
}

// chains says that an end of a transaction does more than that.
func chains(n ast.StmtNode) bool {
	switch s := n.(type) {
	case *ast.CommitStmt:
		return s.CompletionType != ast.CompletionTypeDefault
	case *ast.RollbackStmt:
		return s.CompletionType != ast.CompletionTypeDefault
	}
	return false
}

func (t *timeline) join(e *event, u *unit, open map[int]*unit) {
	if open[u.session] != u {
		open[u.session] = u
		t.units = append(t.units, u)
	}
	e.unit = u
	u.events = append(u.events, e)
	if e.opensSnapshot() && u.first == nil && !u.failed {
		u.first, u.mayWrite = e, !u.readOnly
		u.safe = t.aborts && u.level == corpus.Serializable && u.readOnly && u.deferrable
	}
}

func (t *timeline) close(e *event, u *unit, committed bool, open map[int]*unit) {
	u.committed, u.end = committed, e
	if committed && u.sets != 0 {
		t.levels[u.session] = u.sets
	}
	e.closes = true
	if e.unit == nil {
		e.unit = u
	}
	delete(open, u.session)
}

// phaseOf is the submission of the statement that was sent last before a moment: what woke
// somebody then.
func phaseOf(h *history.History, at history.Tick) history.Tick {
	var last history.Tick
	for i := range h.Stmts {
		if s := h.Stmts[i].Submit; s < at {
			last = max(last, s)
		}
	}
	return last
}

// commits returns the events that committed something, in the order in which they returned.
func (t *timeline) commits() (out []*event) {
	for _, e := range t.events {
		for _, u := range t.units {
			if u.committed && u.end == e {
				out = append(out, e)
			}
		}
	}
	return out
}
