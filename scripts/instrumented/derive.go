package main

import (
	"errors"
	"fmt"

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
