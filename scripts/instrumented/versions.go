package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// txn is a transaction as the answers show it; an own statement or a read outside of
// BEGIN and COMMIT is one of its own.
type txn struct {
	session int
	// end is the statement that ended it, -1: none did.
	end       int
	committed bool
}

// version is one version of one item: what a statement left there.
type version struct {
	item *item
	// by and stmt tell who wrote it, nil and -1: the set-up.
	by   *txn
	stmt int
	// row is what it holds, nil: it is a deletion.
	row []history.Cell
	// undone is the statement that took it back with a savepoint, 0: none did.
	undone int
}

// item is an object of the definitions; versions are in the order in which they were
// written. Writers of one item exclude each other, so this is that of their commits.
type item struct {
	table    *table
	name     string
	versions []*version
}

// stamp is what recognises a version: a row's id and v.
type stamp struct{ id, v string }

// content is what one read of a whole table showed.
type content map[stamp][]history.Cell

// store holds what the answers have shown of one table.
type store struct {
	t *table
	// byRow says that an item is a row, whatever becomes of its key; else it is a place
	// in the clustered index.
	byRow bool
	items []*item
	byKey map[string]*item
	known map[stamp]*version
}

// contradiction is an answer that cannot be, given those before it.
type contradiction struct {
	stmt int
	what string
}

func (e *contradiction) Error() string { return fmt.Sprintf("statement %d: %s", e.stmt, e.what) }

func contradicts(stmt int, format string, args ...any) error {
	return &contradiction{stmt, fmt.Sprintf(format, args...)}
}

// newStore begins with what the tables held behind the set-up.
//
// What an item is, no answer tells: it is a decision. Adya leaves open whether a key that
// is deleted and inserted again is another object, and whether a row whose key changes
// stays the same one. Here, as in oracle/versions, a key that is inserted again goes on with
// the item of the deleted one. On InnoDB an item is a record of the clustered index, so
// that a change of its key ends one and begins another; on TiDB it is the row, which keeps
// its item.
func newStore(t *table, initial *history.Table, dbms history.DBMS) (*store, error) {
	s := &store{t: t, byRow: dbms == history.TiDB, byKey: map[string]*item{}, known: map[stamp]*version{}}
	if initial == nil {
		return nil, unusable("a table that was not read behind the set-up")
	}
	rows, err := contentOf(-1, initial.Columns, initial.Rows)
	if err != nil {
		return nil, err
	}
	for _, st := range sorted(rows) {
		row := rows[st]
		s.push(s.itemFor(-1, nil, row), &version{stmt: -1, row: row}, st)
	}
	return s, nil
}

// contentOf reads an answer that has all columns, those added last.
func contentOf(stmt int, columns []string, rows [][]history.Cell) (content, error) {
	out := content{}
	for _, row := range rows {
		st, err := stampOf(stmt, columns, row)
		if err != nil {
			return nil, err
		}
		if _, again := out[st]; again {
			return nil, contradicts(stmt, "row %s is there twice", format(row))
		}
		out[st] = row
	}
	return out, nil
}

func stampOf(stmt int, columns []string, row []history.Cell) (stamp, error) {
	i, v := slices.Index(columns, idColumn), slices.Index(columns, versionColumn)
	if i < 0 || v < 0 || len(row) != len(columns) {
		return stamp{}, contradicts(stmt, "an answer without columns %s and %s", idColumn, versionColumn)
	}
	return stamp{row[i].Text, row[v].Text}, nil
}

// sorted returns what a read showed in a fixed order.
func sorted(c content) []stamp {
	out := make([]stamp, 0, len(c))
	for st := range c {
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b stamp) int { return strings.Compare(a.id+" "+a.v, b.id+" "+b.v) })
	return out
}

// keyText returns the values of a key as the server compares them, as far as the
// generator's strings can differ: it ignores case and spaces at the end.
func keyText(k *key, row []history.Cell) string {
	var b strings.Builder
	for _, i := range k.columns {
		fmt.Fprintf(&b, "%q", strings.ToLower(strings.TrimRight(row[i].String(), " ")))
	}
	return b.String()
}

// itemFor returns the item of a row that a statement has left where it was not before.
func (s *store) itemFor(stmt int, by *txn, row []history.Cell) *item {
	id := "id " + row[len(row)-2].Text
	name := id
	if !s.byRow {
		if k := s.t.clustered(); k != nil {
			name = "key " + keyText(k, row)
		}
	} else if it := s.byKey[id]; it == nil {
		if it := s.dead(stmt, by, row); it != nil {
			s.byKey[id] = it
			return it
		}
	}
	was := s.byKey[name]
	if was != nil && was.last(stmt, by) != nil {
		return was
	}
	it := &item{table: s.t, name: s.t.name + " " + name}
	if was != nil {
		it.name = was.name + " again"
	}
	s.byKey[name] = it
	s.items = append(s.items, it)
	return it
}

// dead returns the item whose row was deleted last with the primary key of a row.
func (s *store) dead(stmt int, by *txn, row []history.Cell) *item {
	k := s.t.primary()
	if k == nil {
		return nil
	}
	key := keyText(k, row)
	for _, it := range s.items {
		v := it.last(stmt+1, by) // REPLACE deletes first
		if v == nil || v.row != nil {
			continue
		}
		for j := len(it.versions) - 1; j >= 0; j-- {
			if was := it.versions[j]; was.row != nil && was.undone == 0 {
				if keyText(k, was.row) == key {
					return it
				}
				break
			}
		}
	}
	return nil
}

// last returns the newest version that counts for a statement of a transaction: it is
// committed or its own, and no savepoint took it back.
func (it *item) last(stmt int, by *txn) *version {
	for j := len(it.versions) - 1; j >= 0; j-- {
		v := it.versions[j]
		if v.stmt >= stmt || v.undone > 0 && v.undone < stmt {
			continue
		}
		if v.by == nil || v.by == by || v.by.committed && v.by.end < stmt {
			return v
		}
	}
	return nil
}

func (s *store) push(it *item, v *version, st stamp) {
	v.item = it
	it.versions = append(it.versions, v)
	if v.row != nil {
		s.known[st] = v
	}
}

// recognise returns the versions that a read of the whole table showed, by item.
func (s *store) recognise(stmt int, c content) (map[*item]*version, error) {
	out := make(map[*item]*version, len(c))
	for _, st := range sorted(c) {
		v := s.known[st]
		switch {
		case v == nil:
			return nil, contradicts(stmt, "row %s of %s was written by nobody", format(c[st]), s.t.name)
		case format(v.row) != format(c[st]):
			return nil, contradicts(stmt, "row %s of %s was written as %s", format(c[st]), s.t.name, format(v.row))
		case out[v.item] != nil:
			return nil, contradicts(stmt, "rows %s and %s are two versions of one item", format(out[v.item].row), format(v.row))
		}
		out[v.item] = v
	}
	return out, nil
}

// wrote adds what a statement changed: what the reads in front of it and behind it differ
// in. Deletions come first, so that a key may be taken by another row.
func (s *store) wrote(stmt int, by *txn, before, after content) error {
	met, err := s.recognise(stmt, before)
	if err != nil {
		return err
	}
	left := map[*item]bool{}
	var fresh []stamp
	for _, st := range sorted(after) {
		switch v := s.known[st]; {
		case v == nil:
			fresh = append(fresh, st)
		case met[v.item] != v || format(v.row) != format(after[st]):
			return contradicts(stmt, "row %s of %s came back without a write", format(after[st]), s.t.name)
		default:
			left[v.item] = true
		}
	}
	// A row that stays the same row keeps its item whatever its new key.
	replaced := map[*item]stamp{}
	for _, st := range fresh {
		it := s.byKey["id "+st.id]
		if !s.byRow {
			it = s.itemFor(stmt, by, after[st])
		}
		if it != nil {
			replaced[it] = st
		}
	}
	for _, it := range s.items {
		if met[it] == nil || left[it] {
			continue
		}
		if _, ok := replaced[it]; !ok {
			s.push(it, &version{by: by, stmt: stmt}, stamp{})
		}
	}
	for _, st := range fresh {
		it := s.itemFor(stmt, by, after[st])
		if left[it] {
			return contradicts(stmt, "row %s and another one are two versions of one item", format(after[st]))
		}
		s.push(it, &version{by: by, stmt: stmt, row: after[st]}, st)
	}
	return nil
}

// format prints a row as the oracle does, so that rows of both can be told equal.
func format(row []history.Cell) string {
	if row == nil {
		return "()"
	}
	cells := make([]string, len(row))
	for i, c := range row {
		cells[i] = c.String()
	}
	return "(" + strings.Join(cells, ",") + ")"
}
