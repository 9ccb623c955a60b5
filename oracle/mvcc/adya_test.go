package mvcc_test

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// The definitions of Adya, "Weak Consistency" (1999), section 4.3, word for word and
// without a thought of speed, to hold dependencies.go against. A row is an object, its key
// deleted and inserted again included. A statement is one predicate read: its version set
// has a version of each row of the table, unborn ones included, and the rows that it
// chooses are read.

// read is a statement's read of one row.
type read struct {
	stmt, txn, row int
	// met is the index of the version in the version set, -1: unborn.
	met int
	// holds is the predicate.
	holds func(version int) bool
	// keyOnly says that the statement asked whether the row is there and read no more.
	keyOnly bool
}

// edges derives the dependencies of committed transactions.
func edges(f *mvcc.Facts, reads []read) map[string]bool {
	out := map[string]bool{}
	for row := range f.Rows {
		for a := range f.Committed {
			for b := range f.Committed {
				if a != b && f.Committed[a] && f.Committed[b] {
					writeDepends(f, row, a, b, out)
				}
			}
		}
	}
	for _, r := range reads {
		if !f.Committed[r.txn] {
			continue
		}
		for other := range f.Committed {
			if other == r.txn {
				continue
			}
			if f.Committed[other] && !(r.met >= 0 && f.Rows[r.row].Versions[r.met].Undone) {
				readDepends(f, r, other, out)
				antiDepends(f, r, other, out)
			}
			phenomena(f, r, other, out)
		}
	}
	return out
}

// installs returns the version of a row that a committed transaction installs, its last
// one; ok is false if it writes none.
func installs(f *mvcc.Facts, row, txn int) (version int, ok bool) {
	for k, v := range f.Rows[row].Versions {
		if v.Txn == txn && !v.Undone && (txn < 0 || f.Committed[txn]) {
			version, ok = k, true
		}
	}
	return version, ok
}

// installed says that a version is one that some committed transaction, or the set-up,
// installs.
func installed(f *mvcc.Facts, row, version int) bool {
	k, ok := installs(f, row, f.Rows[row].Versions[version].Txn)
	return ok && k == version
}

// before returns the version that immediately precedes one in the version order, -1: it is
// unborn.
func before(f *mvcc.Facts, row, version int) int {
	for k := version - 1; k >= 0; k-- {
		if installed(f, row, k) {
			return k
		}
	}
	return -1
}

// place is the version by whose place in the version order a met version stands: that of
// an intermediate one is its transaction's.
func place(f *mvcc.Facts, r read) int {
	if r.met < 0 {
		return -1
	}
	k, _ := installs(f, r.row, f.Rows[r.row].Versions[r.met].Txn)
	return k
}

// matches says whether the predicate chooses a version; what was met counts as it was.
func matches(f *mvcc.Facts, r read, version int) bool {
	if version == place(f, r) {
		version = r.met
	}
	return version >= 0 && r.holds(version)
}

// changes: Ti changes the matches of a predicate read if it installs x_i, x_h immediately
// precedes x_i, and one of them matches and the other does not (definition 4.3.2).
func changes(f *mvcc.Facts, r read, version int) bool {
	return matches(f, r, version) != matches(f, r, before(f, r.row, version))
}

// writeDepends: Tj directly write-depends on Ti if Ti installs x_i and Tj installs x's next
// version.
func writeDepends(f *mvcc.Facts, row, a, b int, out map[string]bool) {
	i, ok := installs(f, row, a)
	j, also := installs(f, row, b)
	if ok && also && i < j && before(f, row, j) == i {
		v := f.Rows[row].Versions
		out[edge(f, graph.WW, row, a, b, v[i].Stmt, v[j].Stmt, "")] = true
	}
}

// readDepends: Tj directly item-read-depends on Ti if it reads x_i. It directly
// predicate-read-depends on Ti if x_k is in the version set, i = k or x_i before x_k, and
// x_i is the latest that changes the matches.
func readDepends(f *mvcc.Facts, r read, other int, out map[string]bool) {
	x, ok := installs(f, r.row, other)
	if !ok || x > place(f, r) {
		return
	}
	stmt := f.Rows[r.row].Versions[x].Stmt
	if x == place(f, r) && chosen(r) {
		out[edge(f, graph.WR, r.row, other, r.txn, stmt, r.stmt, "")] = true
	}
	if !changes(f, r, x) {
		return
	}
	for later := x + 1; later <= place(f, r); later++ {
		if installed(f, r.row, later) && changes(f, r, later) {
			return
		}
	}
	out[edge(f, graph.PredicateWR, r.row, other, r.txn, stmt, r.stmt, by(r))] = true
}

// antiDepends: Tj directly item-anti-depends on Ti if Ti reads x_k and Tj installs x's next
// version. It directly predicate-anti-depends on Ti if it installs x_j, x_k of the version
// set is before x_j, and it changes the matches.
func antiDepends(f *mvcc.Facts, r read, other int, out map[string]bool) {
	x, ok := installs(f, r.row, other)
	if !ok || x <= place(f, r) {
		return
	}
	stmt := f.Rows[r.row].Versions[x].Stmt
	if chosen(r) && before(f, r.row, x) == place(f, r) {
		out[edge(f, graph.RW, r.row, r.txn, other, r.stmt, stmt, "")] = true
	}
	if changes(f, r, x) {
		out[edge(f, graph.PredicateRW, r.row, r.txn, other, r.stmt, stmt, by(r))] = true
	}
}

// phenomena: G1a, a version in the version set is of a transaction that aborted; G1b, it
// is not the last that its transaction wrote. Those count that make a difference: the row
// is chosen, or it is not and would be without the transaction's writes.
func phenomena(f *mvcc.Facts, r read, other int, out map[string]bool) {
	if r.met < 0 {
		return
	}
	v := f.Rows[r.row].Versions[r.met]
	if v.Txn != other || installed(f, r.row, r.met) {
		return
	}
	what := "intermediate"
	if v.Undone {
		what = "aborted"
	}
	beneath := r.met
	for beneath >= 0 && f.Rows[r.row].Versions[beneath].Txn == other {
		beneath = before(f, r.row, beneath)
	}
	switch {
	case chosen(r):
		out[edge(f, graph.WR, r.row, other, r.txn, v.Stmt, r.stmt, what)] = true
	case r.holds(r.met) || beneath >= 0 && r.holds(beneath):
		out[edge(f, graph.PredicateWR, r.row, other, r.txn, v.Stmt, r.stmt, what)] = true
	}
}

func chosen(r read) bool { return r.met >= 0 && r.holds(r.met) && !r.keyOnly }

func by(r read) string {
	if chosen(r) {
		return "chosen"
	}
	return ""
}

func edge(f *mvcc.Facts, k graph.Kinds, row, from, to, fromStmt, toStmt int, note string) string {
	return fmt.Sprintf("%s T%d (%d) -> T%d (%d) row %d of %s %s", k, from, fromStmt, to, toStmt, f.Rows[row].ID, f.Rows[row].Table.Name, note)
}
