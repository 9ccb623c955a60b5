package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// Reading is what answers tell.
type Reading struct {
	// Dependencies are those between transactions: who read from whom, who then wrote
	// the row again, and in which order committed transactions wrote a row.
	mvcc.Dependencies
	// Odd is what no server should show, whatever its locks; nil: nothing.
	Odd *Oddity

	u     *units
	vals  *values
	items map[item]*row
}

// Oddity is an answer that contradicts another one, or what every isolation level
// promises.
type Oddity struct {
	// Stmt is the statement, an index into History.Stmts; -1: the final state.
	Stmt int
	Kind Kind
	Text string
}

// Kind names an oddity.
type Kind string

// The kinds of oddities.
const (
	// Unwritten: a version that no statement wrote which ran.
	Unwritten Kind = "wrong-rows"
	// DirtyRead: a version that was read, not at READ UNCOMMITTED without a lock, before
	// its transaction was told to commit.
	DirtyRead Kind = "dirty-read"
	// StaleRead: a read that has no snapshot, or begins one, did not see what was committed
	// before it was submitted.
	StaleRead Kind = "stale-read"
	// OwnWriteLost: a transaction that did not see what it had written.
	OwnWriteLost Kind = "lost-own-write"
	// LostWrite: what was committed last is not there in the end.
	LostWrite Kind = "lost-write"
)

// item is a row through all of its versions.
type item struct{ table, id string }

// row is what was seen of an item.
type row struct {
	n        int // from 0
	versions map[string]*version
}

// version is one that somebody saw.
type version struct {
	v          string
	stmt, unit int // -1: the set-up
	text       string
}

// sight is one version in one answer.
type sight struct {
	stmt int
	item item
	v    *version
}

// Read returns what answers tell, nil for a case whose values are not unique, and where a
// run did not come to its end or nobody knows how a transaction ended.
func Read(c *corpus.Case, h *history.History) *Reading {
	if h.End != history.Complete {
		return nil
	}
	vals := valuesOf(c)
	if vals == nil {
		return nil
	}
	u := unitsOf(c, h)
	if u == nil {
		return nil
	}
	r := &Reading{u: u, vals: vals, items: map[item]*row{}}
	r.Units = u.list
	ran := map[int]int{}
	for i := range h.Stmts {
		ran[h.Stmts[i].Line] = i
	}
	look := func(stmt int, table string, columns []string, rows [][]history.Cell) []sight {
		id, v := columnOf(columns, ID), columnOf(columns, Version)
		if id < 0 || v < 0 {
			return nil
		}
		var out []sight
		for _, cells := range rows {
			at := item{strings.ToLower(table), cells[id].Key()}
			seen := r.seen(ran, at, cells[v].Key(), cells)
			if seen == nil {
				r.odd(stmt, Unwritten, "row %s of %s was written by no statement that ran", texts(cells), table)
				continue
			}
			out = append(out, sight{stmt, at, seen})
		}
		return out
	}
	for i := range h.Initial {
		look(-1, h.Initial[i].Name, h.Initial[i].Columns, h.Initial[i].Rows)
	}
	var final, sights []sight
	for i := range h.Final {
		final = append(final, look(-1, h.Final[i].Name, h.Final[i].Columns, h.Final[i].Rows)...)
	}
	for i := range h.Stmts {
		s := &h.Stmts[i]
		if table := vals.shown(c.Steps[s.Line].Stmt); table != "" && s.Result.Err == nil {
			sights = append(sights, look(i, table, s.Result.Columns, s.Result.Rows)...)
		}
	}
	for at, row := range r.items {
		r.writes(at, row)
	}
	for i := range sights {
		r.read(&sights[i])
	}
	for i := range final {
		r.left(&final[i])
	}
	slices.SortFunc(r.Edges, func(a, b mvcc.Dependency) int {
		return cmp.Or(cmp.Compare(a.ToStmt, b.ToStmt), cmp.Compare(a.FromStmt, b.FromStmt), cmp.Compare(a.Item, b.Item), cmp.Compare(a.Kind, b.Kind))
	})
	return r
}

// columnOf returns the place of a column, -1 if there is not one of that name.
func columnOf(columns []string, name string) int {
	at := -1
	for i, c := range columns {
		if strings.EqualFold(c, name) {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// seen returns the version that an answer holds, nil if nobody wrote it.
func (r *Reading) seen(ran map[int]int, at item, v string, cells []history.Cell) *version {
	line, ok := r.vals.lines[v]
	if !ok || !r.vals.ids[at.id] {
		return nil
	}
	out := &version{v: v, stmt: -1, unit: -1, text: texts(cells)}
	if line >= 0 {
		if out.stmt, ok = ran[line]; !ok {
			return nil
		}
		out.unit = r.u.of[out.stmt]
	}
	it := r.items[at]
	if it == nil {
		it = &row{n: len(r.items), versions: map[string]*version{}}
		r.items[at] = it
	}
	if have := it.versions[v]; have != nil {
		return have
	}
	it.versions[v] = out
	return out
}

func texts(cells []history.Cell) string { return history.RowText(cells, history.Cell.String) }

func (r *Reading) odd(stmt int, k Kind, format string, args ...any) {
	if r.Odd == nil {
		r.Odd = &Oddity{stmt, k, fmt.Sprintf(format, args...)}
	}
}

func (r *Reading) committed(v *version) bool { return v.unit < 0 || r.Units[v.unit].Committed }

// stays says that a version was committed.
func (r *Reading) stays(v *version) bool {
	return v.unit < 0 || r.Units[v.unit].Committed && !r.u.gone[v.stmt]
}

// installed returns the versions of a row that count, of each transaction the last that
// was seen.
func (r *Reading) installed(it *row) []*version {
	last := map[int]*version{}
	for _, v := range it.versions {
		if o := last[v.unit]; r.stays(v) && (o == nil || v.stmt > o.stmt) {
			last[v.unit] = v
		}
	}
	out := make([]*version, 0, len(last))
	for _, v := range last {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b *version) int { return cmp.Compare(a.stmt, b.stmt) })
	return out
}

func (r *Reading) add(from, to, fromStmt, toStmt int, k graph.Kinds, at item, text string) *mvcc.Dependency {
	if from < 0 || to < 0 || from == to {
		return nil
	}
	r.Edges = append(r.Edges, mvcc.Dependency{From: from, To: to, Kind: k, Table: at.table, Row: text, Item: r.items[at].n, FromStmt: fromStmt, ToStmt: toStmt})
	return &r.Edges[len(r.Edges)-1]
}

// writes adds the order of those that wrote a row: who wrote it has locked it until the
// end, so it is the order of their ends.
func (r *Reading) writes(at item, it *row) {
	list := r.installed(it)
	for _, a := range list {
		for _, b := range list {
			if a != b && r.u.before(a.unit, b.unit) {
				r.add(a.unit, b.unit, a.stmt, b.stmt, graph.WW, at, b.text)
			}
		}
	}
}

// read adds what rests on a version in an answer.
func (r *Reading) read(s *sight) {
	unit, v := r.u.of[s.stmt], s.v
	st := &r.u.h.Stmts[s.stmt]
	kind := mvcc.KindOf(r.u.c.Steps[st.Line].Stmt)
	plain := kind == stmt.Select || kind == stmt.SelectForShare && r.u.h.Server.DBMS == history.TiDB
	level := r.Units[unit].Level
	it := r.items[s.item]
	if own := r.ownWrite(it, unit, s.stmt); own != nil && (v.unit != unit || v.stmt < own.stmt) {
		r.odd(s.stmt, OwnWriteLost, "row %s is read, although the transaction itself had written %s", v.text, own.text)
	}
	if v.unit == unit {
		return
	}
	uncommitted := plain && level == corpus.ReadUncommitted
	if !uncommitted && v.unit >= 0 && r.committed(v) && st.Return < r.u.h.Stmts[r.Units[v.unit].End].Submit {
		r.odd(s.stmt, DirtyRead, "row %s is read before its transaction was told to commit", v.text)
	}
	list := r.installed(it)
	if e := r.add(v.unit, unit, v.stmt, s.stmt, graph.WR, s.item, v.text); e != nil {
		e.Plain = plain
		e.Aborted = !r.stays(v)
		e.Intermediate = slices.ContainsFunc(list, func(o *version) bool { return o.unit == v.unit && o.stmt > v.stmt })
	}
	if !r.stays(v) {
		return
	}
	for _, next := range list {
		if next.unit == v.unit || !r.u.before(v.unit, next.unit) {
			continue
		}
		if e := r.add(unit, next.unit, s.stmt, next.stmt, graph.RW, s.item, next.text); e != nil {
			e.Plain = plain
		}
		if r.fresh(s.stmt, unit, plain) && next.unit != unit && r.u.h.Stmts[r.Units[next.unit].End].Return < st.Submit {
			r.odd(s.stmt, StaleRead, "row %s is read, although %s had been committed", v.text, next.text)
		}
	}
}

// fresh says that a read has to see all that was committed before it was submitted: it
// locks, or has a snapshot of its own.
func (r *Reading) fresh(stmt, unit int, plain bool) bool {
	level := r.Units[unit].Level
	return !plain || level <= corpus.ReadCommitted || r.Units[unit].End == stmt
}

// ownWrite returns the newest version of a row that a transaction wrote before a statement
// and that stayed, as far as somebody saw it; nil: there is none.
func (r *Reading) ownWrite(it *row, unit, stmt int) *version {
	var out *version
	for _, v := range it.versions {
		if v.unit == unit && v.stmt < stmt && !r.u.gone[v.stmt] && (out == nil || v.stmt > out.stmt) {
			out = v
		}
	}
	return out
}

// left holds a row of the final state against those who wrote it.
func (r *Reading) left(s *sight) {
	if !r.stays(s.v) {
		r.odd(-1, LostWrite, "in the end row %s is there, which was rolled back", s.v.text)
		return
	}
	for _, o := range r.installed(r.items[s.item]) {
		if o.unit == s.v.unit && o.stmt > s.v.stmt || r.u.before(s.v.unit, o.unit) && o.unit != s.v.unit {
			r.odd(-1, LostWrite, "in the end row %s is there, although %s was committed later", s.v.text, o.text)
		}
	}
}
