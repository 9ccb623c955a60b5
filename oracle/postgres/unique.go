package postgres

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// moved is a row that a statement makes: of an older one, or anew, when chain is nil.
type moved struct {
	chain    *versions.Chain
	old, new solve.Row
}

// duplicates is what stands in the way of rows by their unique keys.
type duplicates struct {
	// certain says that a key is taken; possible, that it is if the statement makes its rows
	// in one order and not in another, which the manual leaves open.
	// https://www.postgresql.org/docs/current/sql-createtable.html (UNIQUE, "immediately")
	certain, possible bool
	// waits holds the sessions whose open transactions decide whether a key is taken.
	waits []int
}

// duplicatesOf looks for the keys of new rows among all others. A key that an open transaction
// has written, or whose row one has changed, has to be waited for, even if that transaction
// has overwritten it since.
// https://www.postgresql.org/docs/current/index-unique-checks.html
func (w *world) duplicatesOf(t *versions.Table, tx *versions.Txn, rows []moved) (d duplicates) {
	now := versions.View{Tick: versions.Latest, Own: tx}
	for ki := range t.Def.Keys {
		k := &t.Def.Keys[ki]
		if !k.Unique && !k.Primary {
			continue
		}
		for i := range rows {
			m := &rows[i]
			key, ok := keyOf(k, m.new)
			if old, was := keyOf(k, m.old); !ok || was && old == key {
				continue
			}
			for j := range rows {
				if other, ok := keyOf(k, rows[j].new); j != i && m.chain == nil && ok && other == key {
					d.certain = true
				}
			}
			for _, c := range t.Chains {
				j := slices.IndexFunc(rows, func(o moved) bool { return o.chain == c })
				if c == m.chain {
					continue
				}
				if j < 0 {
					w.meet(&d, k, key, c, now)
					continue
				}
				if other, ok := keyOf(k, rows[j].new); ok && other == key {
					d.certain = true
				} else if other, ok := keyOf(k, rows[j].old); ok && other == key {
					d.possible = true
				}
			}
		}
	}
	slices.Sort(d.waits)
	d.waits = slices.Compact(d.waits)
	return d
}

// meet notes what a row that the statement does not make means for a key.
func (w *world) meet(d *duplicates, k *solve.Key, key string, c *versions.Chain, now versions.View) {
	has := func(v *versions.Version) bool {
		if v == nil {
			return false
		}
		other, ok := keyOf(k, v.Row)
		return ok && other == key
	}
	taken := has(now.Version(c))
	var writer *versions.Txn
	for i := range c.Versions {
		v := &c.Versions[i]
		if v.Txn == nil || v.Txn == now.Own || v.Txn.Commit > 0 {
			continue
		}
		writer, taken = v.Txn, taken || has(v)
	}
	switch {
	case taken && writer != nil:
		d.waits = append(d.waits, writer.Session)
	case taken:
		d.certain = true
	}
}

// keyOf is a row's tuple in a key; ok is false for no row, and where a part is NULL, which
// equals nothing.
func keyOf(k *solve.Key, row solve.Row) (tuple string, ok bool) {
	if row == nil {
		return "", false
	}
	cells := make([]history.Cell, len(k.Columns))
	for i, col := range k.Columns {
		text, null := row[col].Text()
		if null {
			return "", false
		}
		if cells[i].Text = text; text == "-0" { // which equals 0
			cells[i].Text = "0"
		}
	}
	return history.RowTexts([][]history.Cell{cells})[0], true
}

// changesKey reports whether two versions of a row differ in a column of a unique key.
func changesKey(t *versions.Table, old, row solve.Row) bool {
	return slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool {
		return (k.Unique || k.Primary) && !versions.EqualIn(&k, old, row)
	})
}
