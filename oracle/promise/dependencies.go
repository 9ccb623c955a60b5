package promise

import (
	"cmp"
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// Dependencies returns who read from whom and who wrote over whom in a history of PostgreSQL, nil where that cannot be
// told. Who wrote what, and in which order, is as Judge finds it. A statement has read a row if it would answer, or do,
// something else were the row not there; a condition, or a key that it looks up, depends on a write that makes such a
// row or one that is none any more. So each row that others have written costs one or two questions a statement.
// An error is that of scratch.
func Dependencies(c *corpus.Case, h *history.History, scratch Scratch) (*mvcc.Dependencies, error) {
	d, _, err := dependenciesOf(c, h, scratch)
	return d, err
}

// dependenciesOf is Dependencies. exact says that each statement answers on a state that was promised, or on that with
// those rows newest by which PostgreSQL goes whatever the snapshot, and that the tables are in the end what was written:
// then they are all that there are.
func dependenciesOf(c *corpus.Case, h *history.History, scratch Scratch) (d *mvcc.Dependencies, exact bool, err error) {
	if h.Server.DBMS != history.PostgreSQL || h.Server.Declared != nil || h.End != history.Complete || h.Held() {
		return nil, false, nil
	}
	j := &judge{
		c: c, h: h, scratch: scratch,
		kept: map[string]*history.SoloAnswer{}, held: map[int]bool{}, skipped: map[int]string{},
	}
	x, fits, err := j.likeliest()
	if x == nil || err != nil {
		return nil, false, notOpen(err)
	}
	g := &dependencies{tracing: x, of: map[*unit]int{}}
	for _, u := range j.t.units {
		if slices.ContainsFunc(u.events, (*event).data) {
			g.unit(u)
		}
	}
	if err := g.chains(); err != nil {
		return nil, false, err
	}
	for n := range g.rows {
		g.writes(n)
	}
	for _, s := range x.seen {
		if s.e.unit.committed {
			if err := g.reads(s); err != nil {
				return nil, false, err
			}
		}
	}
	slices.SortStableFunc(g.Edges, func(a, b mvcc.Dependency) int {
		return cmp.Or(cmp.Compare(a.ToStmt, b.ToStmt), cmp.Compare(a.FromStmt, b.FromStmt), cmp.Compare(a.Item, b.Item))
	})
	return &g.Dependencies, fits && !x.astray && !x.untold, nil
}

// cyclic says that committed transactions depend on each other in a circle by those dependencies that count.
func cyclic(d *mvcc.Dependencies, counts func(*mvcc.Dependency) bool) bool {
	var edges []*mvcc.Dependency
	for i := range d.Edges {
		if e := &d.Edges[i]; counts(e) && d.Units[e.From].Committed && d.Units[e.To].Committed {
			edges = append(edges, e)
		}
	}
	g := graph.Build(len(d.Units), func(edge func(from, to int32, k graph.Kinds)) {
		for _, e := range edges {
			edge(int32(e.From), int32(e.To), e.Kind)
		}
	})
	find := graph.NewFinder(g)
	return slices.ContainsFunc(edges, func(e *mvcc.Dependency) bool {
		return len(find.Path(int32(e.To), int32(e.From), graph.Data)) > 0
	})
}

// likeliest follows a history in the order that explains most of its answers; nil if nothing can be followed. fits says
// that it explains all, and the tables in the end.
func (j *judge) likeliest() (best *tracing, fits bool, err error) {
	j.defs = definitions(j.c, j.h)
	if j.layout, err = layoutOf(j.defs, j.h); err != nil {
		return nil, false, err
	}
	if j.t, err = read(j.c, j.h); err != nil {
		return nil, false, err
	}
	if j.hidden, err = hiddenIn(j.c, j.defs, j.h.Server); err != nil {
		return nil, false, err
	}
	initial, ok := j.layout.read(j.h.Initial)
	if !ok {
		return nil, false, nil
	}
	final, _ := j.layout.read(j.h.Final)
	orders, err := j.orders()
	if err != nil {
		return nil, false, err
	}
	least := 0
	for _, events := range orders {
		x, err := j.trace(events, initial, map[*unit][]int{})
		if err != nil {
			return nil, false, err
		}
		unseen := 2 * x.unseen
		if final == nil || !j.layout.difference(x.w.committed[x.w.newest()], final).empty() {
			unseen++
		}
		if best == nil || unseen < least {
			best, least = x, unseen
			// Once more with the snapshots that later answers have left.
			if best, err = j.trace(events, initial, x.taken); err != nil {
				return nil, false, err
			}
		}
		if least == 0 {
			break
		}
	}
	return best, least == 0 && best.unseen == 0, nil
}

type dependencies struct {
	mvcc.Dependencies
	*tracing
	of map[*unit]int
	// rows holds all rows that somebody has written and committed.
	rows []chain
}

// chain holds the versions of a row in the order of their commits, the set-up's first.
type chain struct {
	item
	versions []version
}

// version is a row as a transaction left it; its n is 0 if it is gone.
type version struct {
	entry
	by     *unit // nil: the set-up
	stmt   int   // -1: the set-up
	commit int   // the number of commits up to this one
}

func (g *dependencies) unit(u *unit) int {
	n, ok := g.of[u]
	if !ok {
		n = len(g.Units)
		g.of[u] = n
		one := mvcc.Unit{Session: u.session, Committed: u.committed, Level: u.level, End: -1}
		if u.end != nil {
			one.End = u.end.index
		}
		g.Units = append(g.Units, one)
	}
	return n
}

// chains gathers the versions of each row that was written.
func (g *dependencies) chains() error {
	same, err := g.sameAsBefore()
	if err != nil {
		return err
	}
	all := map[item]bool{}
	for k, w := range g.w.wrote {
		for i := range w {
			for key := range w[i] {
				all[item{i, key}] = true
			}
		}
		for at := range same[g.w.at[k].unit] {
			all[at] = true
		}
	}
	for _, s := range g.seen {
		for _, u := range s.open {
			for at := range g.wrote[u] {
				all[at] = true
			}
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(all), compareItems) {
		c := chain{at, []version{{entry: g.w.committed[0][at.table][at.key], stmt: -1}}}
		for k, w := range g.w.wrote {
			u := g.w.at[k].unit
			now, before := g.w.committed[k+1][at.table][at.key], c.versions[len(c.versions)-1]
			_, wrote := w[at.table][at.key]
			by, known := g.wrote[u][at]
			if again, ok := same[u][at]; ok && !wrote {
				by, known, wrote = again, true, true
			}
			if wrote && known && (now.n > 0 || before.n > 0) {
				c.versions = append(c.versions, version{now, u, by, k + 1})
			}
		}
		g.rows = append(g.rows, c)
	}
	return nil
}

// sameAsBefore returns the rows, with the statement, that UPDATEs have written as they were: these count, and do not
// differ.
func (g *dependencies) sameAsBefore() (map[*unit]map[item]int, error) {
	out := map[*unit]map[item]int{}
	for _, s := range g.seen {
		e := s.e
		t := stmt.Of(e.node).Table()
		if e.kind != stmt.Update || !e.unit.committed || t == nil || g.subquery(e) || e.undoneLater() {
			continue
		}
		i := g.layout.table(t.Name.O)
		if i < 0 || len(g.layout[i].key) == 0 || int(e.st.Result.Affected) <= len(s.did[i]) {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(s.rows[i])) {
			at := item{i, key}
			if _, did := s.did[i][key]; did {
				continue
			}
			chosen, err := g.chooses(s, at, s.rows[i][key])
			if err != nil {
				return nil, err
			}
			if chosen == takes {
				if out[e.unit] == nil {
					out[e.unit] = map[item]int{}
				}
				out[e.unit][at] = e.index
			}
		}
	}
	return out, nil
}

// add adds an edge about the k-th version of a row.
func (g *dependencies) add(from, to *unit, fromStmt, toStmt int, kind graph.Kinds, row, k int) *mvcc.Dependency {
	if from == nil || to == nil || from == to {
		return nil
	}
	c := &g.rows[row]
	for k > 0 && c.versions[k].n == 0 {
		k--
	}
	g.Edges = append(g.Edges, mvcc.Dependency{
		From: g.unit(from), To: g.unit(to), Kind: kind, Table: g.layout[c.table].name,
		Row: history.RowText(c.versions[k].cells, history.Cell.String), Item: row, FromStmt: fromStmt, ToStmt: toStmt, Own: -1,
	})
	return &g.Edges[len(g.Edges)-1]
}

// writes adds the order in which transactions wrote a row. Of equal rows of a table without a primary key it is that
// of who removes what another one has made.
func (g *dependencies) writes(row int) {
	c := &g.rows[row]
	for k := 1; k < len(c.versions); k++ {
		a, b := c.versions[k-1], c.versions[k]
		if len(g.layout[c.table].key) > 0 || b.n < a.n && k > 1 && a.n > c.versions[k-2].n {
			g.add(a.by, b.by, a.stmt, b.stmt, graph.WW, row, k)
		}
	}
}

// reads adds what a statement's sight depends on.
func (g *dependencies) reads(s *sight) error {
	for row := range g.rows {
		c := &g.rows[row]
		_, mine := s.own[c.table][c.key]
		if mine || !g.concerns(s.e, c.table) || s.open == nil && !slices.ContainsFunc(c.versions, func(v version) bool {
			return v.by != nil && v.by != s.e.unit
		}) {
			continue
		}
		first := len(g.Edges)
		if err := g.read(s, row); err != nil {
			return err
		}
		for k := first; k < len(g.Edges); k++ {
			e := &g.Edges[k]
			e.Plain, e.KeyOnly = s.e.plain(), s.e.writes() && g.byKeys(s.e, c.table)
		}
	}
	return nil
}

// concerns says that what a statement answers or does may depend on the rows of a table.
func (j *judge) concerns(e *event, table int) bool {
	return j.names(e, table) || e.writes() && (j.hidden.keys || len(j.hidden.triggers) > 0)
}

// read adds what rests on the version of a row that a statement saw, and what must come behind it.
func (g *dependencies) read(s *sight, row int) error {
	c := &g.rows[row]
	if done, err := g.readOpen(s, row); done || err != nil {
		return err
	}
	upto, taken := s.apart[c.item]
	if !taken {
		upto = s.upto[c.table]
	}
	at := 0
	for k, v := range c.versions {
		if v.commit <= upto {
			at = k
		}
	}
	keys := g.byKeys(s.e, c.table) && s.e.writes()
	chosen, err := g.chooses(s, c.item, c.versions[at].entry)
	if err != nil {
		return err
	}
	if chosen == takes && !keys {
		g.add(c.versions[at].by, s.e.unit, c.versions[at].stmt, s.e.index, graph.WR, row, at)
		if at+1 < len(c.versions) {
			next := c.versions[at+1]
			g.add(s.e.unit, next.by, s.e.index, next.stmt, graph.RW, row, at+1)
		}
		return nil
	}
	match := make([]choice, len(c.versions))
	for k, v := range c.versions {
		if match[k], err = g.chooses(s, c.item, v.entry); err != nil {
			return err
		}
	}
	changes := func(k int) bool { return match[k] != match[k-1] && match[k] != untold && match[k-1] != untold }
	first := len(g.Edges)
	for k := at; k > 0; k-- {
		if changes(k) {
			g.add(c.versions[k].by, s.e.unit, c.versions[k].stmt, s.e.index, graph.PredicateWR, row, k)
			break
		}
	}
	for k := at + 1; k < len(c.versions); k++ {
		if changes(k) {
			g.add(s.e.unit, c.versions[k].by, s.e.index, c.versions[k].stmt, graph.PredicateRW, row, k)
		}
	}
	if !keys || len(g.Edges) == first {
		return nil
	}
	through, err := g.through(s, c, match)
	for k := first; k < len(g.Edges); k++ {
		g.Edges[k].Through = through
	}
	return err
}

// readOpen adds what rests on a version that was not committed when a statement saw it; done is false if it saw none
// of this row.
func (g *dependencies) readOpen(s *sight, row int) (done bool, err error) {
	c := &g.rows[row]
	for _, u := range s.open {
		by := g.wroteBefore(u, c.item, s)
		if by < 0 {
			continue
		}
		seen := s.rows[c.table][c.key]
		if chosen, err := g.chooses(s, c.item, seen); err != nil || chosen != takes {
			return true, err
		}
		k := slices.IndexFunc(c.versions, func(v version) bool { return v.by == u })
		if d := g.add(u, s.e.unit, by, s.e.index, graph.WR, row, max(k, 0)); d != nil {
			d.Aborted = !u.committed
			d.Intermediate = k >= 0 && textOf(seen.cells) != textOf(c.versions[k].cells)
			d.Row = history.RowText(seen.cells, history.Cell.String)
		}
		if k >= 0 && k+1 < len(c.versions) {
			g.add(s.e.unit, c.versions[k+1].by, s.e.index, c.versions[k+1].stmt, graph.RW, row, k+1)
		}
		return true, nil
	}
	return false, nil
}

// wroteBefore returns the statement with which a transaction had last written a row when another statement saw it,
// -1 if none did.
func (g *dependencies) wroteBefore(u *unit, at item, s *sight) int {
	by := -1
	for _, o := range g.seen {
		if o == s {
			break
		}
		if _, wrote := o.did[at.table][at.key]; wrote && o.e.unit == u {
			by = o.e.index
		}
	}
	return by
}

// through says how a write that goes by keys came to depend on one of the versions of a row, those that it would
// choose being marked.
func (g *dependencies) through(s *sight, c *chain, match []choice) (string, error) {
	switch {
	case upserts(s.e.node) && s.e.mayName(g.judge, c.table):
		return mvcc.ThroughUpsert, nil
	case g.names(s.e, c.table):
		return "", nil
	}
	rows := s.rows.with(c.item, c.versions[slices.Index(match, takes)].entry)
	_, after, err := g.ask(rows, s.e)
	switch {
	case err != nil:
		return mvcc.ThroughForeignKey, notOpen(err)
	case len(g.layout.difference(rows, after)[c.table]) > 0:
		return mvcc.ThroughCascade, nil
	}
	return mvcc.ThroughForeignKey, nil
}
