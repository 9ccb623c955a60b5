package mvcc

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Unit is one transaction of a history, a node of its dependency graph.
type Unit struct {
	Session   int
	Committed bool
	Level     corpus.Level
	// End is the statement that ended it, itself outside of BEGIN and COMMIT; -1: none
	// did.
	End int
}

// Dependency is an edge between two units: what one of them did rests on the other,
// or on the other not having come yet (Adya, "Weak Consistency", 1999, section 4.3).
type Dependency struct {
	From, To int
	Kind     graph.Kinds
	// Table and Row name the item: the row as text, of a deletion the row before.
	Table, Row string
	// Item numbers the row, equal for two dependencies on the same one.
	Item int
	// FromStmt and ToStmt are the statements that it comes from.
	FromStmt, ToStmt int
	// Aborted says that From was rolled back: To read what never came to be.
	// Intermediate, that From itself replaced what To read.
	Aborted, Intermediate bool
	// Chosen says of an edge by a condition that the statement chose the row: then edges
	// of the item lead along the same versions, and tell more.
	Chosen bool
	// Plain says of what was read that no lock was taken for it, and that it was not the
	// reader's own version; KeyOnly, that it was asked no more than whether a row has
	// some key.
	Plain, KeyOnly bool
	// Fresh says of what a condition saw that the version before it is not in the reader's
	// snapshot either: a row came and went.
	Fresh bool
	// Own is the statement that wrote the version read, if the reader itself did, else -1.
	Own int
	// Through says how the reader came to the row if its statement did not read that itself: one of the constants
	// below.
	Through string
}

// Ways in which a write comes to rows that it does not read itself.
const (
	ThroughForeignKey = "foreign key"
	ThroughCascade    = "cascade"
	ThroughUpsert     = "upsert"
)

// Dependencies is the direct serialization graph of a history as a replay explains
// it: exact where the replay fits, up to the first difference otherwise.
type Dependencies struct {
	Units []Unit
	Edges []Dependency
	// Coarse says that some condition could not be evaluated row by row, as one that
	// compares two tables, and was taken to match every row.
	Coarse bool
}

// Dependencies returns the graph of what was replayed; the replay must have been
// Observed.
func (r *Replay) Dependencies() *Dependencies { return r.dependencies(false) }

// EffectiveDependencies is the graph without versions that are equal to those before
// them, in the columns that a SELECT names if it is one. Who writes what was there changes
// nothing that another could see; and a locking read that needs only the columns of an
// index locks no more than its entries.
func (r *Replay) EffectiveDependencies() *Dependencies { return r.dependencies(true) }

func (r *Replay) dependencies(effective bool) *Dependencies {
	g := &dependencies{r: r, of: map[*versions.Txn]int{}, effective: effective}
	last := map[*versions.Txn]int{}
	for i := range r.Steps {
		if t := r.Steps[i].txn; t != nil {
			g.unit(t) // in their order
			last[t] = i
		}
	}
	for t, i := range last {
		g.Units[g.of[t]].End = r.endOf(i)
	}
	store := r.rows()
	for _, name := range store.Order {
		for _, c := range store.Tables[name].Chains {
			g.writes(store.Tables[name], c)
		}
	}
	for i := range r.Steps {
		for k := range r.Steps[i].looks {
			g.reads(i, &r.Steps[i].looks[k], store)
		}
	}
	g.Coarse = r.coarse
	return &g.Dependencies
}

// endOf returns the statement that ended the transaction which the i-th ran in, -1 if
// none did.
func (r *Replay) endOf(i int) int {
	for j := i; j < len(r.History.Stmts); j++ {
		s := &r.History.Stmts[j]
		if s.Session != r.History.Stmts[i].Session {
			continue
		}
		if k := KindOf(r.Case.Steps[s.Line].Stmt); !s.Result.InTxn || j > i && s.Result.Err == nil && k.Commits() {
			return j
		}
	}
	return -1
}

type dependencies struct {
	Dependencies
	r  *Replay
	of map[*versions.Txn]int
	// effective leaves out versions that change nothing.
	effective bool
}

func (g *dependencies) unit(t *versions.Txn) int {
	u, ok := g.of[t]
	if !ok {
		u = len(g.Units)
		g.of[t] = u
		g.Units = append(g.Units, Unit{Session: t.Session, Level: t.Level, Committed: t.Commit > 0, End: -1})
	}
	return u
}

// installed returns the committed versions of a row that count for who reads some of its
// columns, nil being all.
func (g *dependencies) installed(c *versions.Chain, columns []int) []*versions.Version {
	all := installed(c)
	if !g.effective {
		return all
	}
	return slices.CompactFunc(all, func(a, b *versions.Version) bool { return sameIn(columns, a.Row, b.Row) })
}

func sameIn(columns []int, a, b solve.Row) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if columns == nil {
		return versions.FormatRow(a) == versions.FormatRow(b)
	}
	return !slices.ContainsFunc(columns, func(i int) bool { return versions.FormatRow(a[i:i+1]) != versions.FormatRow(b[i:i+1]) })
}

// installed returns the committed versions of a row, of each transaction its last.
func installed(c *versions.Chain) []*versions.Version {
	var out []*versions.Version
	for j := range c.Versions {
		v := &c.Versions[j]
		if v.Txn != nil && v.Txn.Commit == 0 {
			continue
		}
		if v.Txn != nil { // what others wrote between two of its versions comes before it
			out = slices.DeleteFunc(out, func(o *versions.Version) bool { return o.Txn == v.Txn })
		}
		out = append(out, v)
	}
	return out
}

func (g *dependencies) add(from, to *versions.Txn, fromStmt, toStmt int, k graph.Kinds, t *versions.Table, c *versions.Chain, row solve.Row) *Dependency {
	if from == nil || to == nil || from == to {
		return nil
	}
	g.Edges = append(g.Edges, Dependency{From: g.unit(from), To: g.unit(to), Kind: k, Table: t.Def.Name, Row: versions.ShowRow(row), Item: c.ID, FromStmt: fromStmt, ToStmt: toStmt, Own: -1})
	return &g.Edges[len(g.Edges)-1]
}

// writes adds the order in which transactions wrote a row.
func (g *dependencies) writes(t *versions.Table, c *versions.Chain) {
	list := g.installed(c, nil)
	for k := 1; k < len(list); k++ {
		g.add(list[k-1].Txn, list[k].Txn, list[k-1].Stmt, list[k].Stmt, graph.WW, t, c, rowAt(list, k))
	}
}

// rowAt returns a version's row, of a deletion that of the version before.
func rowAt(list []*versions.Version, k int) solve.Row {
	for ; k >= 0; k-- {
		if list[k].Row != nil {
			return list[k].Row
		}
	}
	return nil
}

// reads adds what a look of a statement at a table depends on. A row that came later
// than the statement had no version yet that it could have met.
func (g *dependencies) reads(i int, l *look, store *versions.Store) {
	holds := l.holds
	if holds == nil {
		holds = g.r.condition(g.r.Case.Steps[g.r.History.Stmts[i].Line].Stmt, l.table, store, versions.View{Tick: versions.Latest, Own: g.r.Steps[i].txn})
	}
	seen := map[*versions.Chain]bool{}
	for k := range l.met {
		seen[l.met[k].chain] = true
		g.read(i, l, &l.met[k], store, holds)
	}
	for _, c := range l.table.Chains {
		if !seen[c] && !l.some {
			g.read(i, l, &met{chain: c, none: true}, store, holds)
		}
	}
}

// read adds what rests on the version of a row that a statement met, and what of later
// versions must come behind it. Of the item: who wrote the version, and who wrote the
// next one. Of the condition: who last changed, up to this version, whether the row
// matches, and all who change it later. An intermediate version counts as one of its
// transaction.
func (g *dependencies) read(i int, l *look, m *met, store *versions.Store, holds func(solve.Row) bool) {
	tx := g.r.Steps[i].txn
	if m.unknown {
		return
	}
	first := len(g.Edges)
	defer func() {
		for k := first; k < len(g.Edges); k++ {
			// Whoever looks for a key and finds another row with it has read nothing of this one.
			g.Edges[k].Plain, g.Edges[k].KeyOnly = l.plain && m.by != tx, l.keyOnly || l.holds != nil && !m.matched
			if m.by == tx {
				g.Edges[k].Own = m.stmt
			}
		}
	}()
	item, predicate := graph.WR, graph.PredicateWR
	if !m.matched || l.keyOnly {
		item = predicate
	}
	if m.by != nil && m.by != tx && (m.by.Commit == 0 || m.undone(store)) {
		if !m.matched && !m.hidden {
			return
		}
		if d := g.add(m.by, tx, m.stmt, i, item, l.table, m.chain, goneRow(m, store)); d != nil {
			d.Aborted = m.by.Ended > 0
		}
		return
	}
	list := g.installed(m.chain, l.columns)
	at := -1 // the place in list of the version that was met
	switch {
	case m.none:
	case m.by == nil:
		at = 0
	default:
		at = g.placeOf(m, list)
		if at < 0 {
			return // its own, rolled back later
		}
		if list[at].Txn == m.by && list[at].Stmt != m.stmt && m.by != tx && (m.matched || m.hidden) {
			if d := g.add(m.by, tx, m.stmt, i, item, l.table, m.chain, m.row(list, at)); d != nil {
				d.Intermediate = true
			}
		}
	}
	match := make([]bool, len(list)+1) // by place + 1; unborn rows match nothing
	for k, v := range list {
		match[k+1] = holds(v.Row)
	}
	match[at+1] = m.matched
	chosen := m.matched && !l.keyOnly && at >= 0
	if chosen {
		g.add(list[at].Txn, tx, list[at].Stmt, i, graph.WR, l.table, m.chain, m.row(list, at))
		if at+1 < len(list) {
			g.add(tx, list[at+1].Txn, i, list[at+1].Stmt, graph.RW, l.table, m.chain, rowAt(list, at+1))
		}
	}
	changes := func(k int, from, to *versions.Txn, fromStmt, toStmt int, kind graph.Kinds) {
		if d := g.add(from, to, fromStmt, toStmt, kind, l.table, m.chain, rowAt(list, k)); d != nil {
			d.Chosen = chosen
		}
	}
	for k := at; k >= 0; k-- {
		if match[k+1] != match[k] {
			n := len(g.Edges)
			changes(k, list[k].Txn, tx, list[k].Stmt, i, graph.PredicateWR)
			if len(g.Edges) > n && k > 0 {
				w := list[k-1].Txn
				g.Edges[n].Fresh = w != nil && w != tx && tx.Snapshot > 0 && w.Commit >= tx.Snapshot
			}
			break
		}
	}
	for k := at + 1; k < len(list); k++ {
		if match[k+1] != match[k] {
			changes(k, tx, list[k].Txn, i, list[k].Stmt, graph.PredicateRW)
		}
	}
}

// placeOf returns the place of the version that was met, -1 if it did not stay. That of
// one which is left out is the one before it, to which it is equal.
func (g *dependencies) placeOf(m *met, list []*versions.Version) int {
	if k := slices.IndexFunc(list, func(v *versions.Version) bool { return v.Txn == m.by }); k >= 0 || !g.effective {
		return k
	}
	all := installed(m.chain)
	for k := slices.IndexFunc(all, func(v *versions.Version) bool { return v.Txn == m.by }); k > 0; k-- {
		if before := slices.Index(list, all[k-1]); before >= 0 {
			return before
		}
	}
	return -1
}

// row returns what a statement met, which the writer may have replaced since, by nothing even;
// where that version is not kept, the one at its place in a list.
func (m *met) row(list []*versions.Version, at int) solve.Row {
	for j := range m.chain.Versions {
		if v := &m.chain.Versions[j]; v.Txn == m.by && v.Stmt == m.stmt && v.Row != nil {
			return v.Row
		}
	}
	return rowAt(list, at)
}

// undone reports whether the version that was met was rolled back since, be it with
// its transaction or alone. A statement may have been tried in two ways, one of which
// was taken back.
func (m *met) undone(s *versions.Store) bool {
	return !m.chain.Has(m.by, m.stmt) && slices.ContainsFunc(s.Undone, func(u versions.Undone) bool { return u.Chain == m.chain && u.Tx == m.by && u.Version.Stmt == m.stmt })
}

// goneRow returns the row of a version that was taken back since.
func goneRow(m *met, s *versions.Store) solve.Row {
	for j := range s.Undone {
		if u := &s.Undone[j]; u.Chain == m.chain && u.Tx == m.by && u.Version.Stmt == m.stmt && u.Version.Row != nil {
			return u.Version.Row
		}
	}
	return rowAt(installed(m.chain), len(installed(m.chain))-1)
}
