package invariant

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// family is a table that others refer to in the three ways that have an effect.
var family = Workload{
	Name: "parent-child", looks: true,
	Says: "no row refers to one that is not there, in any snapshot and at the end of an epoch",
	Kinds: []Opportunity{
		{Orphan, "read children and their parents while another one committed a change"},
		{Lost, "wrote and were acknowledged"}, {HalfDone, "wrote two rows or more"},
	},
	// A parent that is referred to is not deleted, and a child without a parent not inserted.
	usual: map[string]string{"1451": "parent referred to", "1452": "no such parent", "23503": "foreign key violation",
		"23001": "restrict violation", "1216": "no such parent", "1217": "parent referred to"},
	define: func(d *dialect) []string {
		out := []string{"CREATE TABLE parent (id BIGINT NOT NULL PRIMARY KEY, v BIGINT NOT NULL)" + d.engine}
		for _, c := range children {
			null := " NOT NULL"
			if c.nulls {
				null = ""
			}
			table := "CREATE TABLE " + c.table + " (id BIGINT NOT NULL PRIMARY KEY, p BIGINT" + null + ", "
			if !d.postgres {
				table += "KEY by_p (p), "
			}
			out = append(out, table+"FOREIGN KEY (p) REFERENCES parent (id) ON DELETE "+c.action+")"+d.engine)
			if d.postgres {
				out = append(out, "CREATE INDEX ON "+c.table+" (p)")
			}
		}
		return out
	},
	begin: func(e *Epoch) state {
		return &families{e: e, next: e.first, points: map[place][]int64{}}
	},
}

// children are the tables that refer to parents. leaves: a row goes with its parent; nulls: it loses it.
var children = []struct {
	table, action string
	leaves, nulls bool
}{
	{"child_cascade", "CASCADE", true, false}, {"child_null", "SET NULL", false, true}, {"child_restrict", "RESTRICT", false, false},
}

// restricted is the number of the table whose rows keep their parents.
const restricted = 2

// parents is how many there are about.
const parents = 16

// place is a row: the number of its table among the children, -1 for a parent, and its key, which is never used again.
type place struct {
	table int
	id    int64
}

// deed is a transaction that writes.
type deed struct {
	token          int64
	status         kv.Status
	born, deleted  []place
	cleared, freed []int64 // parents whose children it deleted, or that it deleted with what follows of it
}

type families struct {
	e     *Epoch
	mu    sync.Mutex
	next  int64
	alive []int64   // parents that may be there
	kids  [][]int64 // children that may be there, by table
	deeds []*deed
	// points are the parents that a child has ever been given.
	points map[place][]int64
}

func (f *families) fill() []string {
	first := &deed{status: kv.OK}
	sql := "INSERT INTO parent (id, v) VALUES "
	for i := range parents {
		if i > 0 {
			sql += ", "
		}
		sql += fmt.Sprintf("(%d, 0)", f.next)
		first.born = append(first.born, place{-1, f.next})
		f.alive = append(f.alive, f.next)
		f.next++
	}
	f.kids = make([][]int64, len(children))
	f.deeds = append(f.deeds, first)
	return []string{sql}
}

func (f *families) discard() (out []string) {
	for _, c := range children {
		out = append(out, fmt.Sprintf("DELETE FROM %s WHERE id < %d", c.table, f.e.first))
	}
	return append(out, fmt.Sprintf("DELETE FROM parent WHERE id < %d", f.e.first))
}

func (f *families) fresh() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	return f.next - 1
}

func (f *families) transact(t *txn) {
	if t.looks || t.rand.IntN(3) == 0 {
		t.readsOnly = true
		t.within(func() error { return f.look(t) })
		return
	}
	d := &deed{token: t.token}
	t.settle = func(s kv.Status) {
		if len(d.born)+len(d.deleted) > 0 {
			t.meets(Lost)
		}
		if len(d.born)+len(d.deleted) > 1 {
			t.meets(HalfDone)
		}
		f.settled(d, s)
	}
	t.within(func() error {
		for range 1 + t.rand.IntN(3) {
			if err := f.act(t, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// pick draws one of a list that clients share; 0: it is empty.
func (f *families) pick(t *txn, of func() []int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := of()
	if len(list) == 0 {
		return 0
	}
	return among(t.rand, list)
}

func (f *families) point(at place, parent int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.points[at] = append(f.points[at], parent)
}

func (f *families) act(t *txn, d *deed) error {
	k := t.rand.IntN(len(children))
	if k == restricted && t.rand.IntN(2) == 0 {
		k = t.rand.IntN(restricted) // what cannot be deleted is about in small numbers
	}
	table := children[k].table
	parent := f.pick(t, func() []int64 { return f.alive })
	child := f.pick(t, func() []int64 { return f.kids[k] })
	f.mu.Lock()
	many := len(f.alive) > parents
	f.mu.Unlock()
	switch n := t.rand.IntN(10); {
	case parent == 0 || n < 2 && !many:
		at := place{-1, f.fresh()}
		d.born = append(d.born, at)
		return t.exec(fmt.Sprintf("INSERT INTO parent (id, v) VALUES (%d, 0)", at.id), at.id)
	case n < 5:
		at := place{k, f.fresh()}
		f.point(at, parent)
		d.born = append(d.born, at)
		return t.exec(fmt.Sprintf("INSERT INTO %s (id, p) VALUES (%d, %d)", table, at.id, parent), at.id, parent)
	case n < 6 && child != 0:
		f.point(place{k, child}, parent)
		return t.exec(fmt.Sprintf("UPDATE %s SET p = %d WHERE id = %d", table, parent, child), child, parent)
	case n < 7 && child != 0:
		n, err := t.change(fmt.Sprintf("DELETE FROM %s WHERE id = %d", table, child), child)
		if n > 0 {
			d.deleted = append(d.deleted, place{k, child})
		}
		return err
	case n < 8:
		return t.exec(fmt.Sprintf("UPDATE parent SET v = v + 1 WHERE id = %d", parent), parent)
	}
	return f.bury(t, d, parent)
}

// bury deletes a parent, often with the children that would keep it.
func (f *families) bury(t *txn, d *deed, parent int64) error {
	if t.rand.IntN(3) > 0 {
		d.cleared = append(d.cleared, parent)
		if err := t.exec(fmt.Sprintf("DELETE FROM child_restrict WHERE p = %d", parent), parent); err != nil {
			return err
		}
	}
	d.freed = append(d.freed, parent)
	n, err := t.change(fmt.Sprintf("DELETE FROM parent WHERE id = %d", parent), parent)
	if n > 0 {
		d.deleted = append(d.deleted, place{-1, parent})
	}
	return err
}

func (f *families) settled(d *deed, s kv.Status) {
	d.status = s
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deeds = append(f.deeds, d)
	if s == kv.Fail {
		return
	}
	for _, at := range d.born {
		if at.table < 0 {
			f.alive = append(f.alive, at.id)
		} else {
			f.kids[at.table] = append(f.kids[at.table], at.id)
		}
	}
	is := func(id int64) func(int64) bool { return func(x int64) bool { return x == id } }
	for _, at := range d.deleted {
		if at.table < 0 {
			f.alive = slices.DeleteFunc(f.alive, is(at.id))
		} else {
			f.kids[at.table] = slices.DeleteFunc(f.kids[at.table], is(at.id))
		}
	}
	for i, k := range f.kids { // the oldest may have gone with their parents
		f.kids[i] = k[max(0, len(k)-2*parents):]
	}
}

// look reads children and parents. A transaction that has written is not asked: it may have given a child a parent that
// its own snapshot does not show.
func (f *families) look(t *txn) error {
	before := f.e.changes.Load()
	defer func() {
		if f.e.changes.Load() > before && t.set.reads != Unpromised {
			t.meets(Orphan)
		}
	}()
	k := t.rand.IntN(len(children))
	table := children[k].table
	if t.set.reads != PerTransaction || t.rand.IntN(2) == 0 {
		rows, err := t.query(fmt.Sprintf("SELECT c.id, c.p FROM %s c LEFT JOIN parent p ON p.id = c.p "+
			"WHERE %s AND c.p IS NOT NULL AND p.id IS NULL", table, between("c.id", f.e.first, f.e.last)))
		if err == nil && len(rows) > 0 && t.set.reads != Unpromised {
			var keys []int64
			for _, r := range rows {
				keys = append(keys, number(r[0]), number(r[1]))
			}
			t.violates(violation(Orphan, keys, "one SELECT shows rows of table %s (id, p) without their parents: %s",
				table, spellRows(rows)))
		}
		return err
	}
	order := []string{"SELECT id FROM parent WHERE " + between("id", f.e.first, f.e.last),
		"SELECT id, p FROM " + table + " WHERE p IS NOT NULL AND " + between("id", f.e.first, f.e.last)}
	first := t.rand.IntN(2)
	var rows [2][][]int64
	for _, i := range []int{first, 1 - first} {
		got, err := t.query(order[i])
		if err != nil {
			return err
		}
		for _, r := range got {
			n := make([]int64, len(r))
			for c := range r {
				n[c] = number(r[c])
			}
			rows[i] = append(rows[i], n)
		}
	}
	there := map[int64]bool{}
	for _, p := range rows[0] {
		there[p[0]] = true
	}
	for _, c := range rows[1] {
		if !there[c[1]] {
			t.violates(violation(Orphan, c, "two SELECTs of one transaction, which have one snapshot, show row %d of table %s "+
				"that refers to parent %d, and no such parent", c[0], table, c[1]))
		}
	}
	return nil
}

func (f *families) finish(r *reader) ([]Violation, error) {
	var all [][]int64
	kids := make([][][]int64, len(children))
	err := r.snapshot(func() (err error) {
		if all, err = r.numbers("SELECT id FROM parent WHERE " + between("id", f.e.first, f.e.last)); err != nil {
			return err
		}
		for i, c := range children {
			kids[i], err = r.numbers("SELECT id, p FROM " + c.table + " WHERE " + between("id", f.e.first, f.e.last))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.judge(all, kids), nil
}

// judge holds the parents (id) and the children (id, p) of each table against what was acknowledged.
func (f *families) judge(all [][]int64, kids [][][]int64) []Violation {
	there := map[place]bool{}
	for _, p := range all {
		there[place{-1, p[0]}] = true
	}
	var out []Violation
	for i, c := range children {
		for _, row := range kids[i] {
			there[place{i, row[0]}] = true
			if row[1] >= 0 && !there[place{-1, row[1]}] {
				out = append(out, violation(Orphan, row, "at the end of the epoch row %d of table %s refers to parent %d, which is not there",
					row[0], c.table, row[1]))
			}
		}
	}
	seen, gone := maps.Clone(there), f.goings()
	for _, d := range f.deeds {
		out = append(out, f.judgeDeed(d, there, &gone)...)
		for _, at := range d.born {
			delete(seen, at)
		}
	}
	for at := range seen {
		out = append(out, violation(Kept, []int64{at.id}, "at the end of the epoch row %d of table %s is there, which nobody inserted",
			at.id, tableOf(at)))
	}
	return out
}

func tableOf(at place) string {
	if at.table < 0 {
		return "parent"
	}
	return children[at.table].table
}

// judgeDeed looks for what one transaction must have left.
func (f *families) judgeDeed(d *deed, there map[place]bool, gone *goings) (out []Violation) {
	committed, kind, how := d.status == kv.OK, Lost, "which was acknowledged"
	if d.status == kv.Info && slices.ContainsFunc(d.born, func(at place) bool { return there[at] }) {
		committed, kind, how = true, HalfDone, "of which another row is there"
	}
	for _, at := range d.born {
		switch {
		case d.status == kv.Fail && there[at]:
			out = append(out, violation(Kept, []int64{at.id},
				"at the end of the epoch row %d of table %s is there; transaction %d, which inserted it, was rolled back",
				at.id, tableOf(at), d.token))
		case committed && !there[at] && !gone.explain(at, f.points[at]):
			out = append(out, violation(kind, []int64{at.id},
				"at the end of the epoch row %d of table %s, inserted by transaction %d, %s, is not there, and nobody deleted it",
				at.id, tableOf(at), d.token, how))
		}
	}
	for _, at := range d.deleted {
		if committed && there[at] {
			out = append(out, violation(kind, []int64{at.id},
				"at the end of the epoch row %d of table %s is there, deleted by transaction %d, %s", at.id, tableOf(at), d.token, how))
		}
	}
	return out
}

// goings are the deletions that may have been committed.
type goings struct {
	rows           map[place]bool
	freed, cleared map[int64]bool
}

func (f *families) goings() goings {
	g := goings{map[place]bool{}, map[int64]bool{}, map[int64]bool{}}
	for _, d := range f.deeds {
		if d.status == kv.Fail {
			continue
		}
		for _, at := range d.deleted {
			g.rows[at] = true
		}
		for _, p := range d.freed {
			g.freed[p] = true
		}
		for _, p := range d.cleared {
			g.cleared[p] = true
		}
	}
	return g
}

// explain says that somebody who may have committed has deleted a row, or what it goes with.
func (g *goings) explain(at place, parents []int64) bool {
	return g.rows[at] || slices.ContainsFunc(parents, func(p int64) bool {
		return at.table >= 0 && children[at.table].leaves && g.freed[p] || at.table == restricted && g.cleared[p]
	})
}
