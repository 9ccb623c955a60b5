package main

import (
	"errors"
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
)

// edge is a dependency between two committed transactions, named alike in both graphs:
// a transaction by its session and the statement that ended it. A dependency by a
// condition belongs to the condition of its reading statement.
type edge struct {
	kind             graph.Kinds
	from, to         string
	fromStmt, toStmt int
	item             string
}

func (e edge) String() string {
	return fmt.Sprintf("%s %s (line %d) -> %s (line %d) on %s", e.kind, e.from, e.fromStmt+1, e.to, e.toStmt+1, e.item)
}

func (t *txn) String() string { return txnName(t.session, t.end) }

func txnName(session, end int) string { return fmt.Sprintf("tx%d ended in line %d", session, end+1) }

// untold says why nobody can tell what a statement read.
type untold struct{ why string }

func (e *untold) Error() string { return e.why }

// reader returns the statement of an edge that read, -1: none did.
func (e edge) reader() int {
	switch {
	case e.kind&graph.AnyWR != 0:
		return e.toStmt
	case e.kind&graph.AnyRW != 0:
		return e.fromStmt
	}
	return -1
}

// read is what one statement met of one item.
type read struct {
	stmt int
	by   *txn
	item *item
	// met is nil: the item had no version yet.
	met    *version
	chosen bool // the condition holds for it
	// keyOnly says that it was asked whether the row is there and nothing else.
	keyOnly bool
	holds   func(*version) (bool, error)
}

// derive makes the edges from what the answers told, by Adya, "Weak Consistency" (1999),
// section 4.3, and the thesis' definitions of overwritten conditions.
//
// What it decides where these say nothing:
//
//   - A statement's look at its table is a read by its condition, with the version set of
//     the read of the whole table in front of it. What it chooses is read besides.
//   - Its own version of a row stands where its transaction's last one stands.
//   - A row that is not there has no version to recognise. It is taken for the newest
//     deletion that is committed or the reader's own, or for unborn.
//   - An INSERT that finds no key in its way reads nothing. One that fails because of a
//     key, or passes the row by, has asked whether the key is there; REPLACE and ON
//     DUPLICATE KEY UPDATE read the row, too.
//   - Of the rows that match a statement with LIMIT those that it left out are not met.
//   - A statement that failed otherwise read nothing.
//
// Of a statement that met the key of a row, and no answer tells for which of its own, the
// reads are left out on both sides; facts.untold has it.
func (f *facts) derive() (map[edge]bool, error) {
	out := map[edge]bool{}
	for _, t := range f.p.tables {
		for _, it := range f.stores[t.name].items {
			list := installed(it)
			for k := 1; k < len(list); k++ {
				add(out, graph.WW, list[k-1].by, list[k].by, list[k-1].stmt, list[k].stmt, it)
			}
		}
	}
	for i := range f.h.Stmts {
		list, err := f.reads(i)
		var not *untold
		if errors.As(err, &not) {
			f.untold[i] = not.why
			continue
		}
		if err != nil {
			return nil, err
		}
		for k := range list {
			if err := list[k].edges(out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func add(out map[edge]bool, k graph.Kinds, from, to *txn, fromStmt, toStmt int, it *item) {
	if from == nil || to == nil || from == to || !from.committed || !to.committed {
		return
	}
	out[edge{k, from.String(), to.String(), fromStmt, toStmt, it.shownName()}] = true
}

// shownName names an item for the comparison. The oracle's graph names its own by their
// rows; where all that was committed are deletions, there is none.
func (it *item) shownName() string {
	for _, v := range installed(it) {
		if v.row != nil {
			return it.name
		}
	}
	return nameless(it.table.name)
}

func nameless(table string) string { return "a row of " + table + " that only deletions left" }

// installed returns the versions of an item that stay, of each transaction its last.
func installed(it *item) []*version {
	var out []*version
	for _, v := range it.versions {
		if v.undone > 0 || v.by != nil && !v.by.committed {
			continue
		}
		if n := len(out); n > 0 && v.by != nil && out[n-1].by == v.by {
			out = out[:n-1]
		}
		out = append(out, v)
	}
	return out
}

// reads returns what a statement met of each item of its table.
func (f *facts) reads(i int) ([]read, error) {
	s := f.step(i)
	if s.table == "" {
		return nil, nil
	}
	pick, err := f.picked(i)
	if err != nil || pick == nil {
		return nil, err
	}
	store := f.stores[s.table]
	set, err := store.recognise(i, f.shown[f.near[i]])
	if err != nil {
		return nil, err
	}
	var out []read
	for _, it := range store.items {
		r := read{stmt: i, by: f.txns[i], item: it, met: set[it], keyOnly: pick.keyOnly}
		r.holds = func(v *version) (bool, error) { return f.matches(i, v) }
		if r.met == nil {
			if r.met, err = f.absent(i, it); err != nil {
				return nil, err
			}
		} else {
			r.chosen = pick.chosen[r.met.stamp()]
			matched, err := r.holds(r.met)
			if err != nil {
				return nil, err
			}
			if matched != r.chosen && !(matched && s.limited) {
				return nil, contradicts(i, "row %s is chosen: %t, and matches: %t", format(r.met.row), r.chosen, matched)
			}
			if matched != r.chosen {
				continue
			}
			if v := r.met; v.by != nil && v.by != r.by && !(v.by.committed && v.by.end < i) {
				return nil, contradicts(i, "row %s is read before it is committed", format(v.row))
			}
		}
		out = append(out, r)
	}
	return out, nil
}

func (v *version) stamp() stamp {
	n := len(v.row)
	return stamp{v.row[n-2].Text, v.row[n-1].Text}
}

// absent returns the version of an item whose row a statement did not find.
func (f *facts) absent(i int, it *item) (*version, error) {
	v := it.last(i, f.txns[i])
	if v != nil && v.row != nil {
		return nil, contradicts(i, "row %s is not found", format(v.row))
	}
	return v, nil
}

// matches says whether the condition of a statement holds for a version.
func (f *facts) matches(i int, v *version) (bool, error) {
	p := f.step(i).pred
	switch {
	case v == nil || v.row == nil:
		return false, nil
	case p < 0 || f.p.preds[p].where == nil:
		return true, nil
	}
	holds, known := f.holds[p][v.stamp()]
	if !known {
		return false, contradicts(i, "whether row %s matches was not seen", format(v.row))
	}
	return holds, nil
}

// picked is what a statement chose of its table.
type picked struct {
	chosen  map[stamp]bool
	keyOnly bool
}

// picked returns nil for a statement that read nothing.
func (f *facts) picked(i int) (*picked, error) {
	r := &f.h.Stmts[i].Result
	out := &picked{chosen: map[stamp]bool{}}
	switch n := f.node(i).(type) {
	case *ast.SelectStmt:
		if r.Err != nil {
			return nil, nil
		}
		for _, row := range r.Rows {
			st, err := stampOf(i, r.Columns, row)
			if err != nil {
				return nil, err
			}
			out.chosen[st] = true
		}
	case *ast.UpdateStmt, *ast.DeleteStmt:
		switch {
		case r.Err != nil && r.Err.Code == errDuplicate:
			return nil, &untold{"an UPDATE met a key, of which row is not told"}
		case r.Err != nil:
			return nil, nil
		}
		f.changed(i, out.chosen)
	case *ast.InsertStmt:
		return f.pickedByKey(i, n, out)
	}
	return out, nil
}

// changed adds the rows that a write left in another version or not at all: each one that
// it chose, since each UPDATE writes a new v.
func (f *facts) changed(i int, to map[stamp]bool) {
	after := f.shown[f.after(i)]
	for st := range f.shown[f.near[i]] {
		if _, ok := after[st]; !ok {
			to[st] = true
		}
	}
}

// after returns the read of the whole table behind a write.
func (f *facts) after(i int) int {
	s := f.step(i)
	for j := i + 1; j < len(f.h.Stmts); j++ {
		if o := f.step(j); o.of == i && o.role == versionsNow && o.table == s.table {
			return j
		}
	}
	return -1
}

// pickedByKey returns the rows that were in the way of an INSERT.
func (f *facts) pickedByKey(i int, n *ast.InsertStmt, out *picked) (*picked, error) {
	s, r := f.step(i), &f.h.Stmts[i].Result
	plain := !n.IgnoreErr && !n.IsReplace && len(n.OnDuplicate) == 0
	switch {
	case r.Err != nil && r.Err.Code != errDuplicate, r.Err == nil && plain:
		return nil, nil
	case len(n.Lists) > 1:
		return nil, &untold{"an INSERT of several rows may have met a key, of which row is not told"}
	case r.Err != nil && len(n.OnDuplicate) > 0:
		return nil, &untold{"an INSERT changed a row, which met the key of a third one"}
	case n.IsReplace && r.Affected > 1 && f.unkeyed(s.table):
		return nil, unusable("a REPLACE changed a row without a clustered key: whether it stays the same record is not told")
	case s.pred < 0 && r.Err != nil:
		return nil, &untold{"an INSERT met a key whose value the server makes"}
	case s.pred < 0:
		return nil, nil
	}
	for st := range f.shown[f.near[i]] {
		if f.holds[s.pred][st] {
			out.chosen[st] = true
		}
	}
	if len(out.chosen) == 0 {
		if r.Err != nil {
			return nil, &untold{"an INSERT met a key that equals none as it is written"}
		}
		return nil, nil
	}
	out.keyOnly = r.Err != nil || n.IgnoreErr && !n.IsReplace && len(n.OnDuplicate) == 0
	return out, nil
}

// unkeyed says that items of a table are records without a key that answers show.
func (f *facts) unkeyed(table string) bool {
	s := f.stores[table]
	return !s.byRow && s.t.clustered() == nil
}

// edges adds what rests on a read. Of an item: who wrote the version, and who wrote the
// next one. Of the condition: who last changed, up to this version, whether the row
// matches, and all who change it later.
func (r *read) edges(out map[edge]bool) error {
	list := installed(r.item)
	at := -1
	if r.met != nil {
		for k, v := range list {
			if v.by == r.met.by {
				at = k
			}
		}
		if at < 0 {
			return nil // its own, rolled back later
		}
	}
	holds := make([]bool, len(list)+1) // by place + 1: before the first version nothing matches
	for k, v := range list {
		var err error
		if holds[k+1], err = r.holds(v); err != nil {
			return err
		}
	}
	holds[at+1] = r.chosen
	if r.chosen && !r.keyOnly {
		add(out, graph.WR, list[at].by, r.by, list[at].stmt, r.stmt, r.item)
		if at+1 < len(list) {
			add(out, graph.RW, r.by, list[at+1].by, r.stmt, list[at+1].stmt, r.item)
		}
	}
	for k := at; k >= 0; k-- {
		if holds[k+1] != holds[k] {
			add(out, graph.PredicateWR, list[k].by, r.by, list[k].stmt, r.stmt, r.item)
			break
		}
	}
	for k := at + 1; k < len(list); k++ {
		if holds[k+1] != holds[k] {
			add(out, graph.PredicateRW, r.by, list[k].by, r.stmt, list[k].stmt, r.item)
		}
	}
	return nil
}
