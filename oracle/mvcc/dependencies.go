package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Unit is one transaction of a history, a node of its dependency graph.
type Unit struct {
	Session   int
	Committed bool
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
}

// Dependencies is the direct serialization graph of a history as a replay explains
// it: exact where the replay fits, up to the first difference otherwise.
type Dependencies struct {
	Units []Unit
	Edges []Dependency
	// Coarse says that some condition could not be evaluated row by row, as one that
	// compares two tables, and was taken to match every row.
	Coarse bool
}

// met is what one statement met of one row: the version in its view, and whether the
// row is among those that it matched.
type met struct {
	table *Table
	chain *Chain
	// by and stmt tell the version: who wrote it, and with which statement; none if
	// the row had no version yet.
	by   *Txn
	stmt int
	none bool
	// matched says that the statement's condition holds for the version.
	matched bool
}

// Observed makes the replay keep what each statement met, for Dependencies. It costs
// one evaluation of the condition for each row and statement.
func (r *Replay) Observed() *Replay {
	r.observed = true
	return r
}

// observe keeps what a statement met that has just ended. start is when it was sent.
func (r *Replay) observe(i int, tx *Txn, start history.Tick) {
	s := &r.Steps[i]
	s.txn, s.tables, s.met = tx, nil, nil
	node := r.c.Steps[r.h.Stmts[i].Line].Stmt
	if s.Expected == nil {
		return
	}
	view := s.View
	current := view == (View{}) || s.Kind != Select
	if current {
		view = View{Tick: latest, Own: tx}
	}
	view.Current = i + 1
	f := &tableFinder{}
	node.Accept(f)
	insert, isInsert := node.(*ast.InsertStmt)
	for at, name := range f.names {
		t := r.table(name)
		if t == nil || slices.Contains(f.names[:at], name) {
			continue
		}
		if isInsert && at == 0 && (s.Expected.Err != 0 || len(insert.OnDuplicate) == 0 && !insert.IsReplace) {
			continue // it reads no row of its table
		}
		s.tables = append(s.tables, t)
		holds := r.condition(node, t, &r.store, view)
		for _, c := range t.Chains {
			v := view.version(c)
			m := met{table: t, chain: c, none: v == nil}
			if v != nil {
				m.matched = holds(v.Row)
			}
			if read := s.Expected.read; current && !isInsert && m.matched && !slices.Contains(read, c) {
				// It passed the row while this version was not committed yet.
				v = View{Tick: start, Own: tx, Current: i + 1}.version(c)
				m.none, m.matched = v == nil, false
			}
			if v != nil {
				m.by, m.stmt = v.Txn, v.Stmt
			}
			s.met = append(s.met, m)
		}
	}
}

// condition returns a test for rows of a table: is a row, deletions are none, one that
// the statement's condition chooses? Where the statement reads other tables, too, every
// row is.
func (r *Replay) condition(node ast.StmtNode, t *Table, store *Store, view View) func(solve.Row) bool {
	where, from := condition(node)
	name := singleTable(from)
	if name == nil || lower(name.Name.O) != lower(t.Def.Name) {
		r.coarse = true
		return func(row solve.Row) bool { return row != nil }
	}
	views := &stored{store, view}
	return func(row solve.Row) bool {
		if row == nil {
			return false
		}
		if where == nil {
			return true
		}
		ok, _, err := r.solver.Where(where, t.Def, row, views)
		if err != nil {
			r.coarse = true
			return true
		}
		return ok == sqlvalue.True
	}
}

// Dependencies returns the graph of what was replayed; the replay must have been
// Observed.
func (r *Replay) Dependencies() *Dependencies {
	g := &dependencies{r: r, of: map[*Txn]int{}}
	for i := range r.Steps {
		if t := r.Steps[i].txn; t != nil {
			g.unit(t) // in their order
		}
	}
	store := r.rows()
	for _, name := range store.Order {
		for _, c := range store.Tables[name].Chains {
			g.writes(store.Tables[name], c)
		}
	}
	for i := range r.Steps {
		seen := map[*Chain]bool{}
		for k := range r.Steps[i].met {
			seen[r.Steps[i].met[k].chain] = true
			g.reads(i, &r.Steps[i].met[k], store)
		}
		for _, t := range r.Steps[i].tables {
			for _, c := range t.Chains {
				if !seen[c] { // it came later
					g.reads(i, &met{table: t, chain: c, none: true}, store)
				}
			}
		}
	}
	g.Coarse = r.coarse
	return &g.Dependencies
}

type dependencies struct {
	Dependencies
	r  *Replay
	of map[*Txn]int
}

func (g *dependencies) unit(t *Txn) int {
	u, ok := g.of[t]
	if !ok {
		u = len(g.Units)
		g.of[t] = u
		g.Units = append(g.Units, Unit{Session: t.Session, Committed: t.Commit > 0})
	}
	return u
}

// installed returns the committed versions of a row, of each transaction its last.
func installed(c *Chain) []*Version {
	var out []*Version
	for j := range c.Versions {
		v := &c.Versions[j]
		if v.Txn != nil && v.Txn.Commit == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Txn == v.Txn {
			out[n-1] = v
		} else {
			out = append(out, v)
		}
	}
	return out
}

func (g *dependencies) add(from, to *Txn, fromStmt, toStmt int, k graph.Kinds, t *Table, c *Chain, row solve.Row) *Dependency {
	if from == nil || to == nil || from == to {
		return nil
	}
	g.Edges = append(g.Edges, Dependency{From: g.unit(from), To: g.unit(to), Kind: k, Table: t.Def.Name, Row: FormatRow(row), Item: c.ID, FromStmt: fromStmt, ToStmt: toStmt})
	return &g.Edges[len(g.Edges)-1]
}

// writes adds the order in which transactions wrote a row.
func (g *dependencies) writes(t *Table, c *Chain) {
	list := installed(c)
	for k := 1; k < len(list); k++ {
		g.add(list[k-1].Txn, list[k].Txn, list[k-1].Stmt, list[k].Stmt, graph.WW, t, c, rowAt(list, k))
	}
}

// rowAt returns a version's row, of a deletion that of the version before.
func rowAt(list []*Version, k int) solve.Row {
	for ; k >= 0; k-- {
		if list[k].Row != nil {
			return list[k].Row
		}
	}
	return nil
}

// reads adds what rests on the version of a row that a statement met, and what of
// later versions must come behind it.
func (g *dependencies) reads(i int, m *met, store *Store) {
	s := &g.r.Steps[i]
	tx := s.txn
	list := installed(m.chain)
	at := -1 // the place in list of the version that was met
	switch {
	case m.none:
	case m.by == nil:
		at = 0
	case m.by.Commit == 0 && m.by != tx:
		if m.matched {
			if d := g.add(m.by, tx, m.stmt, i, graph.WR, m.table, m.chain, goneRow(m, store)); d != nil {
				d.Aborted = m.by.Ended > 0
			}
		}
		return
	default:
		at = slices.IndexFunc(list, func(v *Version) bool { return v.Txn == m.by })
		if at < 0 {
			return // its own, rolled back later
		}
		if list[at].Stmt != m.stmt && m.by != tx && m.matched {
			if d := g.add(m.by, tx, m.stmt, i, graph.WR, m.table, m.chain, rowAt(list, at)); d != nil {
				d.Intermediate = true
			}
		}
	}
	holds := g.r.condition(g.r.c.Steps[g.r.h.Stmts[i].Line].Stmt, m.table, store, View{Tick: latest, Own: tx})
	match := make([]bool, len(list)+1) // by place + 1; unborn rows match nothing
	for k, v := range list {
		match[k+1] = holds(v.Row)
	}
	match[at+1] = m.matched
	if m.matched && at >= 0 {
		g.add(list[at].Txn, tx, list[at].Stmt, i, graph.WR, m.table, m.chain, rowAt(list, at))
		if at+1 < len(list) {
			g.add(tx, list[at+1].Txn, i, list[at+1].Stmt, graph.RW, m.table, m.chain, rowAt(list, at+1))
		}
		return
	}
	for k := at; k >= 0; k-- {
		if match[k+1] != match[k] {
			g.add(list[k].Txn, tx, list[k].Stmt, i, graph.PredicateWR, m.table, m.chain, rowAt(list, k))
			break
		}
	}
	for k := at + 1; k < len(list); k++ {
		if match[k+1] != match[k] {
			g.add(tx, list[k].Txn, i, list[k].Stmt, graph.PredicateRW, m.table, m.chain, rowAt(list, k))
			break
		}
	}
}

// goneRow returns the row of a version that was taken back since.
func goneRow(m *met, s *Store) solve.Row {
	for j := range s.undone {
		if u := &s.undone[j]; u.chain == m.chain && u.tx == m.by && u.version.Stmt == m.stmt && u.version.Row != nil {
			return u.version.Row
		}
	}
	return rowAt(installed(m.chain), len(installed(m.chain))-1)
}
