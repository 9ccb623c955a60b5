package promise

import (
	"errors"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// due says whether a statement that succeeds should have failed with error 1020.
type due uint8

const (
	notDue due = iota
	perhapsDue
	surelyDue
)

const changedRow = "a statement that comes to rows which were changed behind the snapshot, where error 1020 may be due"

// refusal tells whether a statement had to fail with error 1020, which a server promises that has snapshot
// isolation and lets the first of two writers win: if it locks a row that was changed behind its transaction's
// snapshot. alone is what it answers, and did what it changes, on some commits and its transaction's writes.
//
// Which rows a statement locks beside those that it returns or changes is the access path's. So it is asked
// again where the changed rows are gone: if it finds fewer, it has found one of them, and locked it. Else it is
// asked where they are as they were: if it does the same, none of them mattered. If not, it went by rows that are
// gone, and the error is allowed and not due. Rows of other tables, to which foreign keys and triggers lead, are
// as they are.
func (j *judge) refusal(e *event, w *world, o own, commits int, alone *history.Result, did write) (due, error) {
	since, viewed := j.earliestView(e)
	if !viewed {
		return notDue, nil
	}
	behind := j.behind(e, w, o, commits, func(x *event) bool { return x.to > since })
	if behind.empty() {
		return notDue, nil
	}
	named := j.named(e)
	switch {
	case named == nil, j.subquery(e),
		slices.ContainsFunc(named, func(i int) bool { return len(j.layout[i].key) == 0 && len(behind[i]) > 0 }),
		j.layout.overlap(did, without(behind, named)) != "": // a cascade or a trigger has come to it
		return perhapsDue, nil
	case !slices.ContainsFunc(named, func(i int) bool { return len(behind[i]) > 0 }):
		return notDue, nil
	}
	before, err := j.sight(w.committed[commits], o)
	if err != nil {
		return notDue, err
	}
	then := w.committed[min(w.ended(since), commits)]
	got, err := j.answersWithout(e, before, behind, named)
	switch {
	case err != nil:
		return notDue, err
	case got != nil && history.SameAnswer(got, alone, false):
		same, err := j.doesAsWell(e, j.layout.as(before, then, behind, named), alone, did)
		if err != nil || same {
			return notDue, err
		}
		return perhapsDue, nil
	case o.pinned == 0, o.renewed, !locksWhatItFinds(e), j.uncertain(e, w) != "", j.ofSeveralMoments(e, w):
		return perhapsDue, nil
	}
	surely := j.behind(e, w, o, commits, func(x *event) bool { return x.from > o.pinned })
	for _, i := range named { // what is as it was need not count as changed
		for key, now := range surely[i] {
			if was, there := then[i][key]; there == (now.n > 0) && textOf(was.cells) == textOf(now.cells) {
				delete(surely[i], key)
			}
		}
	}
	got, err = j.answersWithout(e, before, surely, named)
	if err != nil || !fewer(e, got, alone) {
		return perhapsDue, err
	}
	return surelyDue, nil
}

// behind returns the rows that were changed by commits of which counts says so, but for those that the
// transaction has written itself.
func (j *judge) behind(e *event, w *world, o own, commits int, counts func(*event) bool) write {
	out := j.layout.nothing()
	add := func(wrote write) {
		for i := range wrote {
			for key, now := range wrote[i] {
				if _, mine := o.write[i][key]; !mine || len(j.layout[i].key) == 0 {
					out[i][key] = now
				}
			}
		}
	}
	for n, wrote := range w.wrote[:commits] {
		if counts(w.at[n]) {
			add(wrote)
		}
	}
	for _, u := range j.awaited(e, w) {
		if counts(u.end) {
			add(w.own[u].write)
		}
	}
	return out
}

// awaited returns the transactions that have written and are still open, but were sent COMMIT while a statement
// waited: what this one has found of theirs it has found behind the commit, even if its answer was seen first.
func (j *judge) awaited(e *event, w *world) (out []*unit) {
	for _, u := range j.t.units {
		if _, open := w.own[u]; open && e.waited() && u != e.unit && u.committed && u.end.st.Submit < e.to {
			out = append(out, u)
		}
	}
	return out
}

// ofSeveralMoments says that more than one row was changed while a statement waited, before or behind what it is
// thought to have met.
func (j *judge) ofSeveralMoments(e *event, w *world) bool {
	n := w.changed(w.ended(e.st.Submit))
	for _, u := range j.awaited(e, w) {
		n += rowsOf(w.own[u].write)
	}
	return e.waited() && n > 1
}

// named are the tables that a statement names as what it reads or changes; nil where a table is none of the
// case's, as a view is not.
func (j *judge) named(e *event) (tables []int) {
	if e.kind == stmt.Raw || isUnion(e.node) {
		return nil
	}
	v := stmt.Of(e.node)
	from := v.From
	if v.Into != nil {
		from = v.Into
	}
	var walk func(ast.ResultSetNode) bool
	walk = func(n ast.ResultSetNode) bool {
		switch x := n.(type) {
		case *ast.Join:
			return walk(x.Left) && (x.Right == nil || walk(x.Right))
		case *ast.TableSource:
			name, ok := x.Source.(*ast.TableName)
			if !ok {
				return false
			}
			i := j.layout.table(name.Name.O)
			tables = append(tables, i)
			return i >= 0
		}
		return false
	}
	if from == nil || from.TableRefs == nil || !walk(from.TableRefs) {
		return nil
	}
	return tables
}

// without is a write without that of some tables.
func without(w write, tables []int) write {
	out := slices.Clone(w)
	for _, i := range tables {
		out[i] = nil
	}
	return out
}

// as is a state in which changed rows of some tables are as in another one; nil: gone.
func (l layout) as(s, then state, changed write, tables []int) state {
	w := l.nothing()
	for _, i := range tables {
		for key, now := range changed[i] {
			was := entry{now.cells, 0}
			if then != nil {
				if e, there := then[i][key]; there {
					was = e
				}
			}
			w[i][key] = was
		}
	}
	out, _ := l.plus(s, w)
	return out
}

// doesAsWell says that a statement answers and changes on a state what it does on another one.
func (j *judge) doesAsWell(e *event, s state, alone *history.Result, did write) (bool, error) {
	a, after, err := j.ask(s, e)
	var open unjudgedError
	switch {
	case errors.As(err, &open): // rows that cannot stand beside each other
		return false, nil
	case err != nil:
		return false, err
	}
	return history.SameAnswer(&a.Results[0], alone, false) &&
		j.layout.text(j.layout.difference(s, after)) == j.layout.text(did), nil
}

// answersWithout is what a statement answers where changed rows of some tables are gone; nil if that cannot be.
func (j *judge) answersWithout(e *event, before state, changed write, tables []int) (*history.Result, error) {
	a, _, err := j.ask(j.layout.as(before, nil, changed, tables), e)
	var open unjudgedError
	switch {
	case errors.As(err, &open):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &a.Results[0], nil
}

// fewer says that a statement finds fewer rows, or others, than it does elsewhere.
func fewer(e *event, got, elsewhere *history.Result) bool {
	switch {
	case got == nil || got.Err != nil || elsewhere.Err != nil:
		return false
	case e.kind == stmt.SelectForUpdate:
		return !history.SameRows(got.Rows, elsewhere.Rows, false)
	case e.kind == stmt.Update:
		return got.Matched < elsewhere.Matched
	}
	return got.Affected < elsewhere.Affected
}

// locksWhatItFinds says that a statement locks each row that it finds, and not an entry of an index alone.
func locksWhatItFinds(e *event) bool {
	switch s := e.node.(type) {
	case *ast.SelectStmt:
		return e.kind == stmt.SelectForUpdate && s.With == nil && s.SelectIntoOpt == nil
	case *ast.UpdateStmt, *ast.DeleteStmt:
		v := stmt.Of(s)
		return !v.Several && !v.Ignore && v.With == nil
	case *ast.InsertStmt:
		return !s.IgnoreErr && s.Select == nil && (s.IsReplace || len(s.OnDuplicate) > 0)
	}
	return false
}
