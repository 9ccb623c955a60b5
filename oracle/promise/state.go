package promise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// state is what the tables of a case hold. It is not changed once it is made.
type state []content

// content is what one table holds. A table with a primary key maps the key's text to the row;
// one without maps the row's text to the row and how often it is there.
type content map[string]entry

type entry struct {
	cells []history.Cell
	n     int
}

// write is what some statements changed: the rows by which two states differ.
type write []changes

// changes maps a key to the row that is there now, whose n is 0 if it is gone. In a table without
// a primary key n is by how much the number of equal rows changed.
type changes map[string]entry

// layout says how the tables of a case are read: their names, columns and keys.
type layout []shape

type shape struct {
	name    string
	columns []string
	key     []int // indexes of the primary key's columns; none: a bag of rows
}

func textOf(cells []history.Cell) string {
	return history.RowText(cells, func(c history.Cell) string { return fmt.Sprintf("%t%q", c.Null, c.Text) })
}

// read makes a state of tables; ok is false if they are others than those of the layout.
func (l layout) read(tables []history.Table) (s state, ok bool) {
	if len(tables) != len(l) {
		return nil, false
	}
	s = make(state, len(l))
	for i, t := range tables {
		if t.Name != l[i].name || !slices.Equal(t.Columns, l[i].columns) {
			return nil, false
		}
		s[i] = content{}
		for _, row := range t.Rows {
			if len(l[i].key) == 0 {
				k := textOf(row)
				s[i][k] = entry{row, s[i][k].n + 1}
				continue
			}
			k := l[i].keyOf(row)
			for n := 2; ; n++ { // two rows of one key: a constraint is broken, which is told elsewhere
				if _, taken := s[i][k]; !taken {
					break
				}
				k = fmt.Sprintf("%s#%d", l[i].keyOf(row), n)
			}
			s[i][k] = entry{row, 1}
		}
	}
	return s, true
}

func (sh *shape) keyOf(row []history.Cell) string {
	cells := make([]history.Cell, len(sh.key))
	for i, k := range sh.key {
		cells[i] = row[k]
	}
	return textOf(cells)
}

// tables is the reverse of read; rows are in the order of their keys' texts.
func (l layout) tables(s state) []history.Table {
	out := make([]history.Table, len(l))
	for i, sh := range l {
		out[i] = history.Table{Name: sh.name, Columns: sh.columns}
		for _, k := range slices.Sorted(maps.Keys(s[i])) {
			for range s[i][k].n {
				out[i].Rows = append(out[i].Rows, s[i][k].cells)
			}
		}
	}
	return out
}

// empty is the state of tables without rows.
func (l layout) empty() state {
	s := make(state, len(l))
	for i := range s {
		s[i] = content{}
	}
	return s
}

func (l layout) nothing() write {
	w := make(write, len(l))
	for i := range w {
		w[i] = changes{}
	}
	return w
}

// difference is what leads from a to b.
func (l layout) difference(a, b state) write {
	w := l.nothing()
	for i := range l {
		bag := len(l[i].key) == 0
		for k, e := range b[i] {
			old, had := a[i][k]
			switch {
			case bag && e.n != old.n:
				w[i][k] = entry{e.cells, e.n - old.n}
			case !bag && (!had || textOf(old.cells) != textOf(e.cells)):
				w[i][k] = e
			}
		}
		for k, e := range a[i] {
			if _, there := b[i][k]; there {
				continue
			}
			if bag {
				w[i][k] = entry{e.cells, -e.n}
			} else {
				w[i][k] = entry{e.cells, 0}
			}
		}
	}
	return w
}

// plus is a state behind a write. ok is false if rows of a bag are taken away that are not there.
func (l layout) plus(s state, w write) (out state, ok bool) {
	out, ok = slices.Clone(s), true
	for i, c := range w {
		if len(c) == 0 {
			continue
		}
		out[i] = maps.Clone(s[i])
		for k, e := range c {
			n := e.n
			if len(l[i].key) == 0 {
				n += out[i][k].n
			}
			switch {
			case n < 0:
				ok = false
				delete(out[i], k)
			case n == 0:
				delete(out[i], k)
			default:
				out[i][k] = entry{e.cells, n}
			}
		}
	}
	return out, ok
}

// then is a write followed by another one.
func (l layout) then(a, b write) write {
	out := l.nothing()
	for i := range l {
		maps.Copy(out[i], a[i])
		for k, e := range b[i] {
			if len(l[i].key) == 0 {
				if e.n += out[i][k].n; e.n == 0 {
					delete(out[i], k)
					continue
				}
			}
			out[i][k] = e
		}
	}
	return out
}

func (w write) empty() bool {
	return !slices.ContainsFunc(w, func(c changes) bool { return len(c) > 0 })
}

// overlap names a row that both writes touch, "" for none. Equal rows of a bag are told apart by
// nobody, so they overlap in none.
func (l layout) overlap(a, b write) string {
	return l.overlapIn(a, b, func(int, string) bool { return true })
}

// overlapIn is overlap for some of the keys of some of the tables.
func (l layout) overlapIn(a, b write, in func(table int, key string) bool) string {
	for i := range l {
		if len(l[i].key) == 0 {
			continue
		}
		for k := range a[i] {
			if e, both := b[i][k]; both && in(i, k) {
				return l[i].name + " " + history.RowText(e.cells, history.Cell.String)
			}
		}
	}
	return ""
}

// text says what differs, with a plus before what is in b and not in a.
func (l layout) text(w write) string {
	var out []string
	for i := range l {
		for _, k := range slices.Sorted(maps.Keys(w[i])) {
			sign := "+"
			if w[i][k].n <= 0 {
				sign = "-"
			}
			out = append(out, sign+l[i].name+history.RowText(w[i][k].cells, history.Cell.String))
		}
	}
	return strings.Join(out, " ")
}
