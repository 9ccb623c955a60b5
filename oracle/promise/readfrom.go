package promise

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// item is a row through its versions: the key of a table that has a primary key, the text of a row elsewhere.
type item struct {
	table int
	key   string
}

// sight is what a statement saw when it gave its answer.
type sight struct {
	e *event
	// rows holds what it saw, its transaction's own writes among them.
	rows state
	// upto tells, by table, behind how many commits the rows are, apart does so for rows that it took in another
	// version than the rest of their table.
	upto  []int
	apart map[item]int
	// open holds the transactions whose rows it saw before they were committed.
	open []*unit
	// own is what its transaction had written before, did what the statement wrote.
	own, did write
	answer   *history.Result
}

// tracing follows a history once more to tell what each statement saw. Where no state that was promised gives an
// answer, it looks for one that was not.
type tracing struct {
	*judge
	w     world
	seen  []*sight
	wrote map[*unit]map[item]int // the statement that wrote a row last
	// taken holds the snapshots that are left of those which a transaction may have at first.
	taken map[*unit][]int
	// unseen counts the answers that no state gives.
	unseen int
	// astray says that some answer comes of a state that is not promised, untold that of some row nobody knows
	// whether a statement has chosen it.
	astray, untold bool
}

// trace follows events in an order.
func (j *judge) trace(events []*event, initial state, taken map[*unit][]int) (*tracing, error) {
	x := &tracing{judge: j, w: world{committed: []state{initial}}, taken: taken,
		wrote: map[*unit]map[item]int{}}
	for _, e := range events {
		if e.unit == nil {
			continue
		}
		if err := x.event(e); err != nil {
			return nil, err
		}
		for _, u := range j.t.units {
			if u.end == e && !x.finish(u) {
				return x, nil
			}
		}
		if e.writes() && e.st.Result.Err == nil && !e.refused && !x.saw(e) {
			return x, nil // what the tables hold from here on is not known
		}
	}
	return x, nil
}

func (x *tracing) saw(e *event) bool {
	return slices.ContainsFunc(x.seen, func(s *sight) bool { return s.e == e })
}

// event follows a statement.
func (x *tracing) event(e *event) error {
	o := x.of(&x.w, e.unit)
	switch {
	case !e.data():
		next, err := x.options(e, x.w)
		if err == nil {
			x.w = next[0]
		}
		return notOpen(err)
	case e.refused, e.st.Result.Err != nil:
		return nil
	}
	if x.undetermined(e) != "" {
		x.unseen++
		return nil
	}
	s, err := x.sees(e, o)
	switch {
	case err != nil:
		return err
	case s == nil:
		x.unseen++
		return nil
	}
	x.seen = append(x.seen, s)
	if x.wrote[e.unit] == nil {
		x.wrote[e.unit] = map[item]int{}
	}
	for i := range s.did {
		for key := range s.did[i] {
			x.wrote[e.unit][item{i, key}] = e.index
		}
	}
	o.write = x.layout.then(o.write, s.did)
	if e.unit.promise.Isolated {
		o.snapshots = x.taken[e.unit]
	}
	x.w = x.w.with(e.unit, o)
	return nil
}

// notOpen is an error that is none of a history which breaks a promise, or of which something is not known.
func notOpen(err error) error {
	if errors.As(err, new(unjudgedError)) || errors.As(err, new(*mismatch)) {
		return nil
	}
	return err
}

// finish ends a transaction. It reports false where what the tables hold behind it is not known.
func (x *tracing) finish(u *unit) bool {
	o := x.of(&x.w, u)
	x.w = x.w.with(u, own{write: x.layout.nothing()})
	if !u.committed {
		return true
	}
	next, ok := x.layout.plus(x.w.committed[x.w.newest()], o.write)
	if !ok {
		return false
	}
	x.w.committed = append(slices.Clip(x.w.committed), next)
	x.w.at = append(slices.Clip(x.w.at), u.end)
	x.w.wrote = append(slices.Clip(x.w.wrote), o.write)
	return true
}

// sees returns what a statement saw, nil if nothing gives its answer.
func (x *tracing) sees(e *event, o own) (*sight, error) {
	commits, looks, oldest := x.snapshots(e), []func(*event, own, int) (*sight, error){x.byNewest, x.bySnapshot}, 0
	if x.rechecks(e) { // what it waited for it has taken in no older version
		looks, oldest = []func(*event, own, int) (*sight, error){x.byNewest, x.unchanged}, x.w.newest()
	}
	for _, look := range looks {
		for n, k := range commits {
			s, err := look(e, o, k)
			if err != nil {
				return nil, err
			}
			ok, err := x.answers(s)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			if e.unit.promise.Isolated {
				x.taken[e.unit], err = x.alike(s, o, look, commits[n:])
			}
			return s, err
		}
	}
	for _, k := range span(oldest, x.w.newest()) {
		s := x.behind(e, o, k)
		if ok, err := x.answers(s); ok || err != nil {
			x.astray = true
			return s, err
		}
	}
	if s, err := x.apart(e, o, commits); s != nil || err != nil {
		return s, err
	}
	x.astray = true
	return x.dirty(e, o)
}

// snapshots returns the numbers of commits of which a statement's snapshot may be.
func (x *tracing) snapshots(e *event) []int {
	switch {
	case !e.unit.promise.Isolated && !e.waited():
		return span(x.w.ended(e.st.Submit), x.w.newest())
	case !e.unit.promise.Isolated:
		from := x.w.ended(e.st.Submit)
		return span(from, max(from, x.w.ended(e.st.Waits[0].From)))
	}
	// The answer of an earlier statement may have fitted none of those that it might have seen.
	taken := slices.DeleteFunc(slices.Clone(x.taken[e.unit]), func(k int) bool { return k > x.w.newest() })
	if len(taken) > 0 {
		return taken
	}
	return x.atFirst(e, &x.w)
}

// alike returns those of some numbers of commits on which a statement answers and does what it does on the first.
func (x *tracing) alike(s *sight, o own, look func(*event, own, int) (*sight, error), commits []int) ([]int, error) {
	out := commits[:1:1]
	for _, k := range commits[1:] {
		also, err := look(s.e, o, k)
		if err != nil {
			return nil, err
		}
		ok, err := x.answers(also)
		if err != nil {
			return nil, err
		}
		if ok && x.layout.text(also.did) == x.layout.text(s.did) {
			out = append(out, k)
		}
	}
	return out, nil
}

// byNewest is a sight of a snapshot with those rows newest by which PostgreSQL goes whatever the snapshot: those of
// keys, be they unique or foreign, and at READ COMMITTED those for which a statement has waited.
func (x *tracing) byNewest(e *event, o own, commits int) (*sight, error) {
	s := x.behind(e, o, commits)
	if e.writes() {
		for i := range x.layout {
			if x.byKeys(e, i) {
				s.upto[i] = x.w.newest()
			}
		}
		x.lay(s)
	}
	if x.rechecks(e) {
		return s, x.recheck(s)
	}
	return s, nil
}

// rechecks says that a statement may have taken rows in another version than that of its snapshot.
func (j *judge) rechecks(e *event) bool {
	return !e.unit.promise.Isolated && !e.plain() && e.waited()
}

// unchanged is a sight of those rows of a snapshot that are still there, which a statement that has waited at READ
// COMMITTED takes if the others match no more. Of a table with a primary key byNewest is more exact.
func (x *tracing) unchanged(e *event, o own, commits int) (*sight, error) {
	s := x.behind(e, o, commits)
	newest := x.w.committed[x.w.newest()]
	for i := range x.layout {
		if len(x.layout[i].key) > 0 || !x.names(e, i) {
			continue
		}
		s.upto[i] = x.w.newest()
		for _, at := range x.changed(i, commits) {
			if newest[i][at.key].n > x.w.committed[commits][i][at.key].n {
				s.apart[at] = commits
			}
		}
	}
	x.lay(s)
	return s, nil
}

// bySnapshot is a sight of a snapshot.
func (x *tracing) bySnapshot(e *event, o own, commits int) (*sight, error) {
	return x.behind(e, o, commits), nil
}

// byKeys says that a write comes to the rows of a table by keys alone: it inserts there, or does not name the table.
func (j *judge) byKeys(e *event, table int) bool {
	raw, ok := e.node.(*stmt.RawStmt)
	inserts := upserts(e.node) || ok && insertsRows(raw) > 0
	return !j.names(e, table) || e.kind == stmt.Insert && j.into(e, table) || inserts && e.mayName(j, table)
}

// names says that a statement names a table, itself or by a view.
func (j *judge) names(e *event, table int) bool {
	return corpus.Names(e.node, j.layout[table].name) || j.viewed(e)
}

// into says that a statement inserts rows into a table.
func (j *judge) into(e *event, table int) bool {
	s, ok := e.node.(*ast.InsertStmt)
	if !ok {
		return false
	}
	name := stmt.SoleTable(s.Table)
	return name != nil && j.layout.table(name.Name.O) == table
}

// behind is a sight of the tables behind a number of commits.
func (x *tracing) behind(e *event, o own, commits int) *sight {
	s := &sight{e: e, own: o.write, apart: map[item]int{}}
	for range x.layout {
		s.upto = append(s.upto, commits)
	}
	x.lay(s)
	return s
}

// lay puts the rows together that a statement sees. They stay nil where own rows are gone.
func (x *tracing) lay(s *sight) {
	rows := make(state, len(x.layout))
	for i, k := range s.upto {
		rows[i] = x.w.committed[k][i]
	}
	rows, ok := x.layout.plus(rows, s.own)
	if !ok {
		rows = nil
	}
	for at, k := range s.apart {
		if rows != nil {
			rows = rows.with(at, x.w.committed[k][at.table][at.key])
		}
	}
	s.rows = rows
}

// with is a state with a row in another version; n is 0 of one that is gone.
func (s state) with(at item, row entry) state {
	out := slices.Clone(s)
	table := content{}
	for key, e := range out[at.table] {
		if key != at.key {
			table[key] = e
		}
	}
	if row.n > 0 {
		table[at.key] = row
	}
	out[at.table] = table
	return out
}

// recheck takes those rows in their newest version for which a statement has waited: those that it chooses in its
// snapshot and that were changed since. Of a table without a primary key nobody knows which these are: it takes all.
func (x *tracing) recheck(s *sight) error {
	for i := range x.layout {
		if len(x.layout[i].key) == 0 && x.names(s.e, i) {
			s.upto[i] = x.w.newest()
		}
	}
	x.lay(s)
	if ok, err := x.asks(s); !ok || err != nil {
		return err
	}
	newest := x.w.newest()
	taken := map[item]int{}
	for i := range x.layout {
		if s.upto[i] == newest || !x.names(s.e, i) {
			continue
		}
		for _, at := range x.changed(i, s.upto[i]) {
			if s.rows[i][at.key].n == 0 {
				continue
			}
			chosen, err := x.chooses(s, at, s.rows[i][at.key])
			if err != nil {
				return err
			}
			if chosen == takes {
				taken[at] = newest
			}
		}
	}
	s.apart = taken
	x.lay(s)
	return nil
}

// changed returns the rows of a table that commits have written behind a number of them, in the order of their keys.
func (x *tracing) changed(table, since int) (out []item) {
	for _, w := range x.w.wrote[since:] {
		for key := range w[table] {
			if at := (item{table, key}); !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	slices.SortFunc(out, compareItems)
	return out
}

func compareItems(a, b item) int {
	if a.table != b.table {
		return a.table - b.table
	}
	return strings.Compare(a.key, b.key)
}

// asks finds out what a statement answers and does on what it sees; ok is false if nobody can tell.
func (x *tracing) asks(s *sight) (ok bool, err error) {
	if s.rows == nil {
		return false, nil
	}
	a, after, err := x.ask(s.rows, s.e)
	if err != nil {
		return false, notOpen(err)
	}
	s.answer, s.did = &a.Results[0], x.layout.difference(s.rows, after)
	return true, nil
}

// answers says that a statement gives its answer on what it sees.
func (x *tracing) answers(s *sight) (bool, error) {
	ok, err := x.asks(s)
	return ok && history.SameAnswer(s.answer, &s.e.st.Result, false), err
}

// effect is what a statement answers and does, as a text, on what it sees with one row in another version. ok is false
// if nobody can tell.
func (x *tracing) effect(s *sight, at item, row entry) (text string, ok bool, err error) {
	rows := s.rows.with(at, row)
	a, after, err := x.ask(rows, s.e)
	if err != nil {
		return "", false, notOpen(err)
	}
	r := &a.Results[0]
	if r.Err != nil {
		return fmt.Sprint("error ", r.Err.Means(), r.Err.State), true, nil
	}
	lines := history.RowTexts(r.Rows)
	slices.Sort(lines)
	return fmt.Sprint(r.Affected, lines, x.layout.text(x.layout.difference(rows, after))), true, nil
}

// choice says whether a statement chooses a row.
type choice int

const (
	untold choice = iota
	passes
	takes
)

// chooses says whether a statement would answer or do something else if a row, in some version, were not there.
func (x *tracing) chooses(s *sight, at item, row entry) (choice, error) {
	if row.n == 0 {
		return passes, nil
	}
	with, ok, err := x.effect(s, at, row)
	if !ok {
		x.cannotTell(s.e, at)
		return untold, err
	}
	without, ok, err := x.effect(s, at, entry{})
	switch {
	case !ok:
		x.cannotTell(s.e, at)
		return untold, err
	case with == without:
		return passes, nil
	}
	return takes, nil
}

// cannotTell notes that nobody knows whether a statement chooses a row, unless it can only have come to it by a key.
func (x *tracing) cannotTell(e *event, at item) {
	byKey := e.writes() && (!x.names(e, at.table) || upserts(e.node) && e.mayName(x.judge, at.table))
	x.untold = x.untold || !byKey
}

// apart is a sight of a snapshot that no table can hold beside what the transaction has written, since a unique key
// would not hold: that of a query which answers on the one and the other, taken together, what it answered. Its rows
// are those of the snapshot.
func (x *tracing) apart(e *event, o own, commits []int) (*sight, error) {
	if !e.plain() || o.write.empty() {
		return nil, nil
	}
	mine, ok := x.layout.plus(x.layout.empty(), o.write)
	if !ok {
		return nil, nil
	}
	for _, k := range commits {
		if ok, err := x.asks(x.behind(e, o, k)); ok || err != nil {
			return nil, err
		}
		s := x.behind(e, own{write: x.layout.nothing()}, k)
		for i := range s.rows {
			for key := range o.write[i] {
				s.rows = s.rows.with(item{i, key}, entry{})
			}
		}
		s.own = o.write
		also := &sight{e: e, rows: mine}
		for _, half := range []*sight{s, also} {
			if ok, err := x.asks(half); !ok || err != nil {
				return nil, err
			}
		}
		if history.SameRows(slices.Concat(s.answer.Rows, also.answer.Rows), e.st.Result.Rows, false) {
			return s, nil
		}
	}
	return nil, nil
}

// dirty is a sight of the newest rows and what open transactions have written, nil if that gives no answer either.
func (x *tracing) dirty(e *event, o own) (*sight, error) {
	s := x.behind(e, o, x.w.newest())
	for _, u := range x.t.units {
		other, open := x.w.own[u]
		if !open || u == e.unit || other.write.empty() {
			continue
		}
		rows, ok := x.layout.plus(s.rows, other.write)
		if !ok {
			return nil, nil
		}
		s.rows, s.open = rows, append(s.open, u)
	}
	if s.open == nil {
		return nil, nil
	}
	if ok, err := x.answers(s); !ok || err != nil {
		return nil, err
	}
	return s, nil
}
