package promise

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// mismatch says that no way that a history may have gone gives what was seen.
type mismatch struct {
	e                *event // nil: the final state
	kind             string
	expected, actual string
	reason           string
	depth            int
}

func (m *mismatch) Error() string {
	return m.kind + ": expected " + m.expected + ", actual " + m.actual
}

// byStatement judges each statement by what it is to see.
func (j *judge) byStatement(initial, final state) error {
	var worst *mismatch
	orders, err := j.orders()
	if err != nil {
		return err
	}
	for _, events := range orders {
		err := j.from(0, events, world{committed: []state{initial}}, final)
		var m *mismatch
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &m):
			return err
		case worst == nil:
			worst = m
		}
	}
	if worst.e == nil {
		j.ruling.Broken, j.ruling.Kind = true, worst.kind
		j.ruling.Expected, j.ruling.Actual, j.ruling.Reason = worst.expected, worst.actual, worst.reason
		return nil
	}
	j.broken(worst.e, worst.kind, worst.expected, worst.actual, worst.reason)
	if worst.e.data() {
		j.ruling.Promise = worst.e.unit.promise
	}
	return nil
}

// mostOrders bounds the orders that are tried of what overlaps.
const mostOrders = 24

// orders are the orders in which the statements may have taken effect: as they returned, and with
// each two changed about of which one ended a transaction and that overlap in time. One that waited may have been let go,
// and have ended its transaction, before others that returned earlier. Where a statement was held, what ended a
// transaction took effect anywhere between its submission and its answer.
func (j *judge) orders() ([][]*event, error) {
	if j.h.Held() {
		return j.stretchedOrders()
	}
	out := [][]*event{j.t.events}
	for i := 0; i+1 < len(j.t.events) && len(out) < mostOrders; i++ {
		a, b := j.t.events[i], j.t.events[i+1]
		if a.st.Session != b.st.Session && b.from < a.to && (a.closes || b.closes) {
			other := slices.Clone(j.t.events)
			other[i], other[i+1] = b, a
			out = append(out, other)
		}
	}
	for i, e := range j.t.events {
		if !e.closes || !e.waited() {
			continue
		}
		for to := i - 1; to >= 0 && len(out) < mostOrders; to-- {
			x := j.t.events[to]
			if x.st.Session == e.st.Session || x.to < e.from {
				break
			}
			if to < i-1 { // else it is there already
				out = append(out, slices.Insert(slices.Delete(slices.Clone(j.t.events), i, i+1), to, e))
			}
		}
	}
	return out, nil
}

// mostStretched bounds the orders of a history in which a statement was held.
const mostStretched = 200

// stretchedOrders moves each event that ended a transaction, and was held or kept by what was held, to every
// place that real time allows it.
func (j *judge) stretchedOrders() ([][]*event, error) {
	out := [][]*event{j.t.events}
	for _, e := range j.t.events {
		if !e.closes || !e.stretched() {
			continue
		}
		for _, order := range slices.Clone(out) {
			at := slices.Index(order, e)
			for to := at - 1; to >= 0 && order[to].to > e.from && order[to].st.Session != e.st.Session; to-- {
				moved := slices.Insert(slices.Delete(slices.Clone(order), at, at+1), to, e)
				out = append(out, moved)
			}
		}
		if len(out) > mostStretched {
			return nil, unjudgedError("more orders than can be told apart")
		}
	}
	return out, nil
}

// from follows events from the i-th on and returns nil if everything fits, a *mismatch if
// something does not.
func (j *judge) from(i int, events []*event, w world, final state) error {
	if w.lost != "" {
		return unjudgedError(w.lost)
	}
	for ; i < len(events); i++ {
		e := events[i]
		next, err := j.options(e, w)
		if err != nil {
			return at(i, err)
		}
		if len(next) > 1 {
			return j.branch(i, events, next, final)
		}
		if w, err = j.ends(e, next[0]); err != nil {
			return at(i, err)
		}
	}
	if d := j.layout.difference(w.committed[w.newest()], final); !d.empty() {
		return j.leftovers(&w, final, len(events))
	}
	return nil
}

// at notes in an error how far its world has come.
func at(i int, err error) error {
	var m *mismatch
	if errors.As(err, &m) {
		m.depth = i
	}
	return err
}

// branch tries the ways in which a statement may have gone, the likeliest first.
func (j *judge) branch(i int, events []*event, ways []world, final state) error {
	var best *mismatch
	for _, w := range ways {
		var err error
		if w.lost == "" {
			w, err = j.ends(events[i], w)
			err = at(i, err)
		}
		if err == nil {
			err = j.from(i+1, events, w, final)
		}
		var m *mismatch
		if !errors.As(err, &m) {
			return err
		}
		if best == nil || m.depth > best.depth {
			best = m
		}
	}
	return best
}

// ends ends the transactions that a statement ends.
func (j *judge) ends(e *event, w world) (world, error) {
	for _, u := range j.t.units {
		if u.end == e {
			var err error
			if w, err = j.finish(w, u); err != nil {
				return w, err
			}
		}
	}
	if e.kind == stmt.Begin || e.kind == stmt.BeginSnapshot {
		if j.commitsAmidOthers(e) {
			return w, unjudgedError("a BEGIN that commits while others run, and takes its snapshot behind that")
		}
		if u := e.unit; u.promise.Plain == Snapshot && (u.promise.SnapshotAtBegin || u.consistent) {
			o := j.of(&w, u)
			o.snapshots, o.pinned = span(w.ended(e.from), w.newest()), e.to
			w = w.with(u, o)
		}
	}
	return w, nil
}

func span(from, to int) (out []int) {
	for k := to; k >= from; k-- {
		out = append(out, k)
	}
	return out
}

// options returns the worlds behind a statement, one for each way in which it gives the answer
// that was seen.
func (j *judge) options(e *event, w world) ([]world, error) {
	if e.unit == nil {
		return []world{w}, nil
	}
	o := j.of(&w, e.unit)
	failed := e.st.Result.Err
	switch {
	case e.kind == stmt.Savepoint && failed == nil:
		o.saved = append(slices.Clip(o.saved), savepoint{savepointName(e), o.write, o.beside, o.touched, len(o.steps)})
		return []world{w.with(e.unit, o)}, nil
	case e.kind == stmt.RollbackTo && failed == nil:
		for n := len(o.saved) - 1; n >= 0; n-- {
			if o.saved[n].name == savepointName(e) {
				o.write, o.beside, o.renewed = o.saved[n].write, o.saved[n].beside, o.renewed || !o.saved[n].touched
				o.steps = o.steps[:o.saved[n].steps:o.saved[n].steps]
				o.saved = o.saved[:n+1]
				return []world{w.with(e.unit, o)}, nil
			}
		}
		return []world{w}, nil
	case e.kind == stmt.ReleaseSavepoint && failed == nil:
		// An older one of the name can be reached again.
		// https://www.postgresql.org/docs/current/sql-savepoint.html
		for n := len(o.saved) - 1; n >= 0; n-- {
			if o.saved[n].name == savepointName(e) {
				o.saved = o.saved[:n:n]
				break
			}
		}
		return []world{w.with(e.unit, o)}, nil
	case e.kind == stmt.Commit && failed != nil:
		if j.retryable(failed) || j.hidden.deferred && OfConstraint(failed) {
			return []world{w}, nil
		}
		return nil, &mismatch{e: e, kind: "unexpected-error", expected: "no error", actual: failed.String(),
			reason: "nothing keeps this transaction from being committed"}
	case e.kind == stmt.SetConstraints && !e.refused:
		return j.checksNow(e, w, o)
	case !e.data(), e.refused:
		return []world{w}, nil
	case j.retryable(failed), failed != nil && failed.Code == errReadOnly && e.unit.readOnly:
		o.touched = true
		return []world{w.with(e.unit, o)}, nil
	}
	if why := j.undetermined(e); why != "" {
		if e.writes() && failed == nil && (e.st.Result.Affected != 0 || e.st.Result.Matched > 0) {
			return nil, unjudgedError(why)
		}
		j.skipped[e.index] = why
		o.touched = true
		if p := e.unit.promise; p.Plain == Snapshot && !p.Isolated && !e.alone && e.plain() && j.opensView(e) {
			o = opened(o, e, span(j.firstView(&w, e), w.newest()))
		}
		return []world{w.with(e.unit, o)}, nil
	}
	switch {
	case e.unit.promise.Isolated:
		return j.isolated(e, w, o)
	case e.plain():
		return j.reads(e, w, o)
	}
	return j.current(e, w, o)
}

// savepointName is a savepoint's name. Servers differ about names that are equal but for an accent: hiddenIn
// refuses these.
func savepointName(e *event) string { return strings.ToLower(stmt.Of(e.node).Savepoint) }

// current is a write or a locking read: on the newest rows, beside its own.
func (j *judge) current(e *event, w world, o own) ([]world, error) {
	var out []world
	var first *history.Result
	var tried []write
	var refused *mismatch
	open, passed := false, false
	oldest := w.ended(e.st.Submit)
	same := e.unit.promise.Rechecked && j.findsSame(e, &w)
	if same {
		oldest = w.newest()
	} else if ways, ok, err := j.foundBefore(e, &w, o); ok || err != nil {
		return ways, err
	}
	// alone says that a single state shows what it meets.
	alone, keeps := e.unit.promise.Rechecked && oldest == w.newest(), false
	for _, k := range span(oldest, w.newest()) {
		before, err := j.sight(w.committed[k], o)
		if err != nil {
			return nil, err
		}
		a, after, err := j.ask(before, e)
		if err != nil {
			return nil, err
		}
		got := &a.Results[0]
		did := j.layout.difference(before, after)
		if first == nil {
			first, keeps = got, alone && got.Err == nil && j.keepsKeys(before, did)
		}
		if !history.SameAnswer(got, &e.st.Result, false) {
			continue
		}
		if j.passesLocks(e, &w, k, did) {
			passed = true
			continue
		}
		if slices.ContainsFunc(tried, func(t write) bool { return j.layout.text(t) == j.layout.text(did) }) {
			continue
		}
		tried = append(tried, did)
		if e.unit.promise.FirstUpdaterWins && !e.alone {
			is, err := j.refusal(e, &w, o, k, got, did)
			switch {
			case err != nil:
				return nil, err
			case is == surelyDue:
				refused = &mismatch{e: e, kind: "missing-error", expected: "error 1020",
					actual: history.Describe(e.kind, &e.st.Result),
					reason: "it has found, and so locked, a row that was changed and committed behind its transaction's snapshot"}
				continue
			}
			open = open || is == perhapsDue
		}
		next := o
		next.touched = next.touched || j.touches(e)
		next.write = j.layout.then(o.write, did)
		// Where error 1020 was not due, what it met is as in the snapshot.
		if !next.unseen && (!e.unit.promise.FirstUpdaterWins || open) {
			if next.unseen, err = j.leavesChanged(e, &w, o, k, got); err != nil {
				return nil, err
			}
		}
		out = append(out, w.with(e.unit, next.stepped(e, before, k, did)))
	}
	if len(out) > 0 {
		if open {
			j.skipped[e.index] = changedRow
		} else {
			j.held[e.index] = true
		}
		if why := j.uncertain(e, &w); e.writes() && !same && why != "" {
			out = append(out, world{lost: why})
		}
		return out, nil
	}
	if refused != nil {
		j.held[e.index] = true
		return nil, refused
	}
	why := ""
	if !same {
		why = j.uncertain(e, &w)
	}
	if why == "" && !(alone && meetsTwice(e, first)) {
		why = j.mixed(e, &w, first, keeps)
	}
	if why != "" {
		if e.writes() {
			return nil, unjudgedError(why)
		}
		j.skipped[e.index] = why
		return []world{w}, nil
	}
	j.held[e.index] = true
	if passed {
		return nil, &mismatch{e: e, kind: "lost-update", expected: "it waits for who has changed the row, and changes the newest version",
			actual: history.Describe(e.kind, &e.st.Result),
			reason: "the answer is right only on a version of a row that another transaction had changed meanwhile, or has changed and is open"}
	}
	return nil, j.differs(e, first, "the newest committed rows and its own")
}

// severalMoments is a statement that has come to some rows before it waited, and to others behind: if
// more than one row changed meanwhile, no single state need show what it met.
const severalMoments = "a statement that waited or was held, and whose rows are of several moments"

const severalWithKeys = "a write of several tables with foreign keys, whose order is the server's"

// uncertain says why a write or a locking read need not have met the rows of a single state,
// whatever it answered; "" for no reason.
func (j *judge) uncertain(e *event, w *world) string {
	// At RU and, if it is no write or not InnoDB's, on a snapshot such a query sees other rows than the statement:
	// docs/verdicts.md tells which.
	p := e.unit.promise
	switch {
	case p.Plain == Uncommitted && j.subquery(e),
		p.Plain == Snapshot && j.subquery(e) && (!e.writes() || p.FirstUpdaterWins || j.h.Server.DBMS == history.TiDB):
		return "a query within a statement that sees the newest rows"
	case e.waited() && p.Rechecked && w.newest() > w.ended(e.st.Submit) && !(givesOne(e.node) && !j.hidden.keys) && !j.pinned(e):
		return "a statement that waited, and found its rows before and took them behind that"
	case e.waited() && (len(j.hidden.triggers) > 0 || w.changed(w.ended(e.st.Submit)) > 1),
		e.waited() && (j.subquery(e) || j.namesTwice(e)) && w.changed(w.ended(e.st.Submit)) > 0,
		e.stretched() && j.moved(w, w.ended(e.st.Submit)):
		return severalMoments
	case j.hidden.keys && stmt.Of(e.node).Several:
		// "the optimizer might process tables in an order that differs from that of their parent/child
		// relationship": https://dev.mysql.com/doc/refman/en/delete.html
		return severalWithKeys
	}
	return ""
}

const ofAnotherRow = "an error of a value, which may be that of another row"

// mixed says why a write or a locking read of the rows of one state may answer something else than it does there
// alone; "" for no reason. keeps says that it gives no key to another row.
func (j *judge) mixed(e *event, w *world, alone *history.Result, keeps bool) string {
	switch {
	case e.waited() && ignores(e.node):
		return "IGNORE, which may make a warning of a time-out"
	case e.st.Result.Err.OfValue() || alone.Err.OfValue():
		return ofAnotherRow
	case !keeps && j.inTheMiddle(e, alone):
		return "a unique key that need not hold in the middle of a statement"
	case constraint(alone) && constraint(&e.st.Result):
		return twoConstraints
	case e.unit.promise.Plain == Uncommitted && slices.ContainsFunc(j.t.units, func(u *unit) bool {
		return u != e.unit && (w.hasOpen(u) || u.writes(e.st))
	}):
		return "a statement amid uncommitted changes"
	}
	return ""
}

func ignores(n ast.StmtNode) bool {
	if raw, ok := n.(*stmt.RawStmt); ok {
		return slices.Contains(raw.Words(), "ignore")
	}
	return stmt.Of(n).Ignore
}

// inTheMiddle says that an UPDATE comes by a duplicate or not, as the order of its rows has it.
func (j *judge) inTheMiddle(e *event, alone *history.Result) bool {
	if raw, ok := e.node.(*stmt.RawStmt); ok && insertsRows(raw) > 0 || j.t.aborts && updatesOne(e, alone) ||
		j.updatesNamed(e, alone) {
		return false
	}
	return (e.kind == stmt.Update || e.kind == stmt.Raw) && duplicate(alone) != duplicate(&e.st.Result)
}

// updatesOne says that a statement is an UPDATE, and changes one row at most where it does not fail.
func updatesOne(e *event, alone *history.Result) bool {
	if raw, ok := e.node.(*stmt.RawStmt); e.kind != stmt.Update && !(ok && raw.Words()[0] == "update") {
		return false
	}
	return alone.Err == nil && alone.Affected <= 1 || e.st.Result.Err == nil && e.st.Result.Affected <= 1
}

// updatesNamed says that a statement of TiDB beside one that was held is an UPDATE of the one row that it names by its
// primary key: what that causes in other tables counts as affected, but not as matched.
func (j *judge) updatesNamed(e *event, alone *history.Result) bool {
	return j.locksRows(e) && e.kind == stmt.Update && alone.Err == nil && alone.Matched == 1 && j.byKey(e)
}

// givesOne says that a statement is an INSERT of one row, which it names: that finds no rows before it waits, but looks its
// keys up again behind each wait. A foreign key's check finds the parent's row before.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
func givesOne(n ast.StmtNode) bool {
	switch s := n.(type) {
	case *stmt.RawStmt:
		return insertsOne(s)
	case *ast.InsertStmt:
		return s.Select == nil && len(s.Lists) == 1 && !subquery(s)
	}
	return false
}

// insertsOne says that a raw statement is an INSERT of one row, which it names.
func insertsOne(s *stmt.RawStmt) bool { return insertsRows(s) == 1 }

// insertsRows is how many rows a raw statement names, if it is an INSERT of nothing else; 0: it is not.
func insertsRows(s *stmt.RawStmt) int {
	words := s.Words()
	at := slices.Index(words, "values")
	if words[0] != "insert" || at < 0 || slices.Contains(words, "select") || slices.Contains(words, "table") {
		return 0
	}
	rows, depth := 0, 0
	for _, w := range words[at+1:] {
		switch w {
		case "(":
			if depth == 0 {
				rows++
			}
			depth++
		case ")":
			depth--
		case "on", "returning":
			if depth == 0 {
				return rows
			}
		}
	}
	return rows
}

const twoConstraints = "two constraints that are broken at once"

// reads is a plain query.
func (j *judge) reads(e *event, w world, o own) ([]world, error) {
	touched := o
	touched.touched = touched.touched || j.touches(e)
	view := e.unit.promise.Plain
	switch {
	case view == Locking && !e.alone:
		return j.current(e, w, o)
	case view == Uncommitted:
		return j.dirty(e, w, touched)
	case view == Snapshot && !e.alone:
		return j.onSnapshot(e, w, touched)
	}
	first, fits, err := j.answersOn(e, &w, o, span(w.ended(e.st.Submit), w.newest()))
	if err != nil {
		return nil, err
	}
	if len(fits) == 0 && !e.st.Result.Err.OfValue() && !first.Err.OfValue() {
		j.held[e.index] = true
		m, err := j.torn(e, &w, o, w.ended(e.st.Submit), j.differs(e, first, "what was committed when it began, and its own writes"))
		return nil, cmp.Or[error](err, m)
	}
	if len(fits) > 0 {
		j.held[e.index] = true
	} else {
		j.skipped[e.index] = ofAnotherRow
	}
	return []world{w.with(e.unit, touched)}, nil
}

// answersOn returns those commits whose tables give a query the answer that was seen, and what it
// answers on the first of those asked for.
func (j *judge) answersOn(e *event, w *world, o own, commits []int) (first *history.Result, fits []int, err error) {
	for _, k := range commits {
		s, err := j.sight(w.committed[k], o)
		if err != nil {
			return nil, nil, err
		}
		a, _, err := j.ask(s, e)
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = &a.Results[0]
		}
		if history.SameAnswer(&a.Results[0], &e.st.Result, false) {
			fits = append(fits, k)
		}
	}
	return first, fits, nil
}

// onSnapshot is a plain query that sees its transaction's snapshot.
func (j *judge) onSnapshot(e *event, w world, o own) ([]world, error) {
	commits := o.snapshots
	if commits == nil {
		commits = span(j.firstView(&w, e), w.newest())
	}
	first, fits, err := j.answersOn(e, &w, o, commits)
	if err != nil {
		return nil, err
	}
	why := j.unclear(e, &w, o, commits, first)
	if j.opensView(e) {
		o = opened(o, e, commits)
	}
	if len(fits) > 0 {
		if why == "" {
			j.held[e.index] = true
		} else {
			j.skipped[e.index] = why // another answer may have been right
		}
		if o.snapshots != nil && why == "" {
			o.snapshots = fits
		}
		return []world{w.with(e.unit, o)}, nil
	}
	if why != "" {
		j.skipped[e.index] = why
		return []world{w.with(e.unit, o)}, nil
	}
	j.held[e.index] = true
	// What its earlier queries showed may be of the same torn snapshot.
	m, err := j.torn(e, &w, o, min(slices.Min(commits), j.firstView(&w, e)), j.differs(e, first, "its transaction's snapshot and its own writes"))
	return nil, cmp.Or[error](err, m)
}

// opened is what a transaction has done behind a statement that has surely taken the snapshot, if it had none:
// one of some commits.
func opened(o own, e *event, commits []int) own {
	if o.snapshots == nil {
		o.snapshots = commits
	}
	if o.pinned == 0 {
		o.pinned = e.to
	}
	return o
}

// touches says that a statement has surely read a table or written to it.
func (j *judge) touches(e *event) bool {
	return j.looksAtRows(e) || e.writes() && (e.st.Result.Affected > 0 || e.st.Result.Matched > 0)
}

// firstView is the number of commits of the oldest snapshot that a transaction may have at a query.
// An earlier statement that could not be held against anything, or that has a query within, may
// have taken it.
func (j *judge) firstView(w *world, e *event) int {
	k := w.ended(e.st.Submit)
	for _, x := range e.unit.events {
		if x.index < e.index && j.mayOpenView(x) {
			return min(k, w.ended(x.st.Submit))
		}
	}
	return k
}

// unclear says why a query on a snapshot need not show what a single state does; "" for no reason.
func (j *judge) unclear(e *event, w *world, o own, snapshots []int, alone *history.Result) string {
	since := slices.Min(snapshots)
	switch {
	case o.unseen && w.changed(since) > 0:
		return "a SELECT behind a write that met rows and left them as they were"
	case o.renewed:
		return "a SELECT behind ROLLBACK TO a savepoint from before the first read"
	case (e.st.Result.Err.OfValue() || alone.Err.OfValue()) && !history.SameAnswer(&e.st.Result, alone, false):
		return ofAnotherRow
	}
	// A row that it wrote and that another transaction has made, removed or given another key since the
	// snapshot: the manual does not say which of them are there.
	for _, k := range snapshots {
		d := j.layout.difference(w.committed[k], w.committed[w.newest()])
		for i := range d {
			if len(j.layout[i].key) == 0 && k < w.newest() && len(o.write[i]) > 0 {
				return "equal rows of a table without a primary key, which nobody tells apart"
			}
			for key, change := range d[i] {
				_, had := w.committed[k][i][key]
				if mine, wrote := o.write[i][key]; wrote && (!had || change.n == 0 || mine.n == 0) {
					return "a row that its own transaction and another one have made or removed"
				}
			}
		}
	}
	return ""
}

// dirty is a plain query that sees the newest rows, committed or not.
func (j *judge) dirty(e *event, w world, o own) ([]world, error) {
	s := w.committed[w.newest()]
	for _, u := range j.t.units {
		if open, ok := w.own[u]; ok && u != e.unit {
			var err error
			if s, err = j.sight(s, open); err != nil {
				return nil, err
			}
		}
	}
	s, err := j.sight(s, o)
	if err != nil {
		return nil, err
	}
	a, _, err := j.ask(s, e)
	if err != nil {
		return nil, err
	}
	same := history.SameAnswer(&a.Results[0], &e.st.Result, false)
	amid := slices.ContainsFunc(j.t.events, func(x *event) bool {
		return x != e && (x.writes() || x.closes) && x.st.Submit < e.to && e.st.Submit < x.to
	})
	if same || !amid && !e.st.Result.Err.OfValue() && !a.Results[0].Err.OfValue() {
		j.held[e.index] = true
	}
	if !j.held[e.index] {
		j.skipped[e.index] = "a SELECT of uncommitted rows while others write"
	}
	if !same && j.held[e.index] {
		return nil, j.differs(e, &a.Results[0], "the newest rows, committed or not")
	}
	return []world{w.with(e.unit, o)}, nil
}

// differs is the mismatch of a statement that answers something else alone.
func (j *judge) differs(e *event, alone *history.Result, on string) *mismatch {
	kind := "wrong-rows"
	switch {
	case alone.Err == nil && e.st.Result.Err != nil:
		kind = "unexpected-error"
	case alone.Err != nil && e.st.Result.Err == nil:
		kind = "missing-error"
	case alone.Err != nil:
		kind = "wrong-error"
	case e.writes():
		kind = "wrong-count"
	}
	return &mismatch{e: e, kind: kind, expected: history.Describe(e.kind, alone), actual: history.Describe(e.kind, &e.st.Result),
		reason: fmt.Sprintf("run alone on %s, the server itself answers otherwise", on)}
}

// leftovers is the mismatch of the final state.
func (j *judge) leftovers(w *world, final state, depth int) error {
	end := w.committed[w.newest()]
	m := &mismatch{kind: "wrong-final-state", depth: depth,
		expected: "what the committed transactions wrote: " + j.layout.text(j.layout.difference(final, end)),
		actual:   "in the end: " + j.layout.text(j.layout.difference(end, final)),
		reason:   "the writes of the committed transactions, each as the server itself makes it alone, one on top of the other in the order of the commits, give other tables",
	}
	missing := j.layout.difference(final, end)
	for n, wrote := range w.wrote {
		if j.layout.overlap(missing, wrote) != "" {
			m.kind = "lost-commit"
			m.reason += fmt.Sprintf("; what tx%d committed is missing", w.at[n].st.Session)
			break
		}
	}
	return m
}
