package main

import (
	"fmt"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// untold says why nobody can tell what a statement read.
type untold struct{ why string }

func (e *untold) Error() string { return e.why }

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
		if pick.full && !r.chosen {
			continue
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
	// full says that its LIMIT ended it: any other row may lie behind its end, so that
	// it is not known to have met one that it did not choose.
	full bool
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
		out.full = ended(n.Limit, len(r.Rows))
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

// ended says whether a LIMIT may have kept a query from looking on. One that skips rows
// does not tell which it looked at.
func ended(l *ast.Limit, rows int) bool {
	if l == nil {
		return false
	}
	n, ok := l.Count.(ast.ValueExpr)
	return !ok || l.Offset != nil || fmt.Sprint(n.GetValue()) == strconv.Itoa(rows)
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
