package promise

import (
	"cmp"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// isolated is a statement, of whatever kind, that works on its transaction's snapshot. When that was
// taken is not promised: not before the transaction began, and not behind its first statement.
func (j *judge) isolated(e *event, w world, o own) ([]world, error) {
	commits := o.snapshots
	switch {
	case commits != nil:
	case e.unit.promise.SnapshotAtFirst:
		commits = j.atFirst(e, &w)
	default:
		commits = span(w.ended(e.unit.begun), w.newest())
	}
	if j.meetsBeside(e, o) {
		return j.amidBeside(e, w, o, commits)
	}
	o.touched = o.touched || j.touches(e)
	var out []world
	var dids []string
	refused := false
	var first *history.Result
	open := o.snapshots == nil && !e.unit.promise.SnapshotAtFirst && !j.looksAtRows(e) // it may have taken no snapshot
	for _, k := range commits {
		a, before, did, err := j.does(e, &w, o, k)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = &a.Results[0]
		}
		if !history.SameAnswer(&a.Results[0], &e.st.Result, false) {
			continue
		}
		if newest, err := j.throughNewest(e, &w, o, k, did); err != nil {
			return nil, err
		} else if newest {
			if next, ok, err := j.onNewestAlone(e, &w, o, commits); ok || err != nil {
				return next, err
			}
			return nil, unjudgedError("an upsert or a cascade, which goes by the newest rows")
		}
		if due, err := j.locksChanged(e, &w, o, k, &a.Results[0]); err != nil {
			return nil, err
		} else if due {
			refused = true
			continue
		}
		text := j.layout.text(did)
		if n := slices.Index(dids, text); n >= 0 {
			if same := out[n].own[e.unit]; same.snapshots != nil {
				same.snapshots = append(slices.Clip(same.snapshots), k)
				out[n] = out[n].with(e.unit, same)
			}
			continue
		}
		next := o
		if !open || !did.empty() {
			next.snapshots = []int{k}
		}
		next.write = j.layout.then(o.write, did)
		dids, out = append(dids, text), append(out, w.with(e.unit, next.stepped(e, before, k, did)))
	}
	if len(out) > 0 {
		j.held[e.index] = true
		return out, nil
	}
	if refused {
		j.held[e.index] = true
		return nil, &mismatch{e: e, kind: "missing-error", expected: "error 40001", actual: history.Describe(e.kind, &e.st.Result),
			reason: "it has found, and so has to lock, a row that was changed and committed behind its transaction's snapshot"}
	}
	why, err := j.onNewest(e, &w, o, first, slices.Min(commits))
	if err != nil {
		return nil, err
	}
	if why != "" {
		if e.writes() && e.st.Result.Err == nil {
			if duplicate(first) {
				switch next, _, _, err := j.byRows(e, &w, o, commits); {
				case err != nil:
					return nil, err
				case len(next) > 0:
					j.held[e.index] = true
					return next, nil
				}
			}
			if why == newestConstraint {
				if next, ok, err := j.onNewestAlone(e, &w, o, commits); ok || err != nil {
					return next, err
				}
			}
			return nil, unjudgedError(why)
		}
		met := false
		if !duplicate(first) && duplicate(&e.st.Result) {
			if met, err = j.meetsKey(e, &w, o, commits); err != nil {
				return nil, err
			}
		}
		// As it has to be, and so the statement has done nothing.
		if why == newestConstraint && constraint(&e.st.Result) || met {
			j.held[e.index] = true
		} else {
			j.skipped[e.index] = why
		}
		return []world{w.with(e.unit, o)}, nil
	}
	j.held[e.index] = true
	return nil, j.differs(e, first, "its transaction's snapshot and its own writes")
}

// onNewestAlone is the world behind an INSERT that has made its rows beside those of the snapshot, which is behind some
// commits, or has failed since their keys are taken; ok is false if it is none.
func (j *judge) onNewestAlone(e *event, w *world, o own, commits []int) (out []world, ok bool, err error) {
	if !e.unit.promise.SnapshotAtFirst || !insertsNamed(e.node) || j.hidden.keys || len(j.hidden.triggers) > 0 || j.viewed(e) {
		return nil, false, nil
	}
	before, err := j.sight(w.committed[w.newest()], o)
	if err != nil {
		return nil, false, err
	}
	a, after, err := j.ask(before, e)
	if err != nil || !history.SameAnswer(&a.Results[0], &e.st.Result, false) {
		return nil, false, err
	}
	next := o
	if a.Results[0].Err == nil {
		if next, ok = j.madeBeside(e, w, o, j.layout.difference(before, after)); !ok {
			return nil, false, nil
		}
	}
	next.snapshots = commits
	j.held[e.index] = true
	return []world{w.with(e.unit, next)}, true, nil
}

// atFirst returns the commits of which the snapshot may be that the first statement of a transaction took: of those
// that had returned when it was sent, and those that came before it waited for a row.
func (j *judge) atFirst(e *event, w *world) []int {
	first := e
	for _, x := range e.unit.events {
		if x.opensSnapshot() && !x.refused {
			first = x
			break
		}
	}
	newest := w.newest()
	if first.kind.BesideRows() { // it waits with a snapshot, and there is none of its rows to tell
		newest = w.ended(first.to)
		// A safe snapshot is of any moment until the wait for it is over.
		if n := slices.IndexFunc(first.st.Waits, func(x history.Wait) bool { return x.Kind != history.SafeSnapshot }); n >= 0 {
			newest = w.ended(first.st.Waits[n].From)
		}
	}
	if n := slices.IndexFunc(first.st.Waits, func(x history.Wait) bool { return x.Kind == history.RowLock }); n == 0 {
		newest = w.ended(first.st.Waits[0].From)
	}
	return span(min(w.ended(first.st.Submit), newest), newest)
}

// does runs a statement alone on some commits and what its transaction wrote, and returns what it meets and changes.
func (j *judge) does(
	e *event, w *world, o own, commits int,
) (a *history.SoloAnswer, before state, did write, err error) {
	if before, err = j.beyond(w.committed[commits], o); err != nil {
		return nil, nil, nil, err
	}
	a, after, err := j.ask(before, e)
	if err != nil {
		return nil, nil, nil, err
	}
	return a, before, j.layout.difference(before, after), nil
}

const newestConstraint = "a constraint, which may be checked on the newest rows"

// onNewest says why a statement may answer something else than it does on any snapshot; "" for no
// reason. Constraints must hold with all transactions committed, so a server may check them on rows that
// the snapshot does not show; PostgreSQL's manual says so of unique keys, even of SERIALIZABLE. What a query within
// gives, and which rows an UPDATE finds, is of the snapshot all the same: then no single state shows both. The snapshot is behind as many commits as
// commits says, or more.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE
func (j *judge) onNewest(e *event, w *world, o own, alone *history.Result, commits int) (string, error) {
	switch {
	case e.st.Result.Err.OfValue() || alone.Err.OfValue():
		return ofAnotherRow, nil
	case j.inTheMiddle(e, alone):
		return "a unique key that need not hold in the middle of a statement", nil
	case constraint(alone) && constraint(&e.st.Result):
		return twoConstraints, nil
	case !constraint(alone) && !constraint(&e.st.Result) && e.kind != stmt.Insert && e.kind != stmt.Raw && !ignores(e.node):
		return "", nil // but IGNORE, REPLACE and upserts go by keys without an error
	}
	if commits < w.newest() && ((constraint(alone) || constraint(&e.st.Result)) && j.subquery(e) ||
		duplicate(alone) != duplicate(&e.st.Result) && finds(e)) {
		return newestConstraint, nil
	}
	a, _, _, err := j.does(e, w, o, w.newest())
	if err != nil {
		return "", err
	}
	if history.SameAnswer(&a.Results[0], &e.st.Result, false) {
		return newestConstraint, nil
	}
	return "", nil
}

// finds says that a statement changes rows that it finds.
func finds(e *event) bool {
	raw, ok := e.node.(*stmt.RawStmt)
	return e.kind == stmt.Update || ok && insertsRows(raw) == 0
}

// commitIsolated returns what a transaction writes when it commits. Of the snapshots that it may have had it
// keeps those behind which no other one has written the same rows; without any, both have written and none
// failed.
func (j *judge) commitIsolated(w *world, u *unit, o own) (write, error) {
	row, cascaded := "", false
	for _, k := range o.snapshots {
		after, err := j.sight(w.committed[k], o)
		if err != nil {
			return nil, err
		}
		did := j.layout.difference(w.committed[k], after) // without what it made and removed
		for _, b := range o.beside {
			if len(j.layout[b.table].key) > 0 { // a row of the snapshot may be equal, and is gone
				did[b.table][b.key] = b.row
			}
		}
		if u.promise.Merged {
			merged, conflict := j.layout.merge(w.committed[k], w.committed[w.newest()], did)
			if conflict == "" {
				return merged, nil
			}
			row = conflict
			continue
		}
		// On PostgreSQL a row of the snapshot that others have written, too, is one. A key that the snapshot does not show is
		// one only if the others have left it taken: they may have made a row with it and moved that away.
		one := func(table int, key string) bool {
			if !u.promise.SnapshotAtFirst {
				return true
			}
			_, seen := w.committed[k][table][key]
			_, taken := w.committed[w.newest()][table][key]
			return seen || taken
		}
		clash, hidden := "", ""
		for n, wrote := range w.wrote[k:] {
			same := func(table int, key string) bool { return one(table, key) && !o.freed(table, key, k+n+1) }
			clash = cmp.Or(clash, j.layout.overlapIn(wrote, did, func(table int, key string) bool {
				return same(table, key) && u.mayName(j, table)
			}))
			hidden = cmp.Or(hidden, j.layout.overlapIn(wrote, did, same))
		}
		if clash == "" && hidden == "" {
			return did, nil
		}
		row, cascaded = cmp.Or(clash, row), cascaded || clash == ""
	}
	switch {
	case cascaded:
		return nil, unjudgedError("a cascade or a trigger that writes rows which others have changed behind the snapshot")
	case row == "":
		return o.write, nil
	case u.promise.Merged && j.generated():
		return nil, unjudgedError("a generated column, which nobody gives a value")
	}
	return nil, &mismatch{e: u.end, kind: "lost-update",
		expected: "an error, since another transaction has committed a write of the same row behind the snapshot",
		actual:   "committed: " + row,
		reason:   "of two transactions that overlap in time and write the same row one fails",
	}
}

// mayName says whether a write of a transaction may name a table. What else a transaction writes, a cascade or a
// trigger does, which may go by the newest rows.
func (u *unit) mayName(j *judge, table int) bool {
	return slices.ContainsFunc(u.events, func(e *event) bool { return e.writes() && e.mayName(j, table) })
}

// merge puts what a transaction wrote on a snapshot onto the newest tables, column by column. It returns the
// write that does so, or a row of which both have given a column other values, or that one has removed.
func (l layout) merge(snapshot, newest state, mine write) (merged write, conflict string) {
	merged = l.nothing()
	for i := range l {
		for key, m := range mine[i] {
			base, was := snapshot[i][key]
			theirs, is := newest[i][key]
			untouched := was == is && (!is || textOf(theirs.cells) == textOf(base.cells))
			alike := is == (m.n > 0) && (!is || textOf(theirs.cells) == textOf(m.cells))
			switch {
			case untouched || len(l[i].key) == 0:
				merged[i][key] = m
			case alike:
			case !was || !is || m.n == 0:
				return nil, l[i].name + " " + history.RowText(m.cells, history.Cell.String)
			default:
				cells := slices.Clone(theirs.cells)
				for c := range cells {
					switch {
					case m.cells[c] == base.cells[c], m.cells[c] == cells[c]:
					case cells[c] == base.cells[c]:
						cells[c] = m.cells[c]
					default:
						return nil, l[i].name + " " + history.RowText(m.cells, history.Cell.String)
					}
				}
				merged[i][key] = entry{cells, 1}
			}
		}
	}
	return merged, ""
}
