package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// A TiDB statement reads one committed state as a whole. One that waited either
// keeps the state of its start or starts again with a newer one. It must start
// again where a row that it locks was changed meanwhile; else both are legal,
// and which one it is depends on how the lock request was woken. So each such
// statement is a choice, and choices are tried until the whole history fits.

// runTiDB tries paths of choices until one fits the whole history. It returns
// the difference of the path that went furthest, of the first among equals.
func (r *Replay) runTiDB() (*Difference, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	var best *Difference
	bestAt, path, ch := -2, []int(nil), &choices{}
	for range maxWorlds {
		w := r.world(ch)
		d, err := w.replay()
		if err != nil {
			return nil, err
		}
		at := len(r.h.Stmts) + 1
		if d != nil && d.Stmt >= 0 {
			at = r.position(d.Stmt)
		} else if d != nil {
			at = len(r.h.Stmts)
		}
		switch {
		case at > bestAt:
			best, bestAt, path = d, at, slices.Clone(ch.taken)
			r.take(w)
		case at == bestAt && d != nil:
			best.addWay(d)
		}
		if d == nil || !ch.next() {
			break
		}
	}
	if best != nil && !r.keepGoing {
		switch fits, err := r.inSomeOrder(); {
		case err != nil:
			return nil, err
		case fits:
			return nil, nil
		}
	}
	if best == nil && r.counting {
		r.tryOtherWays(ch, func(ch *choices) ([]Step, *Difference, error) {
			w := r.world(ch)
			d, err := w.replay()
			return w.Steps, d, err
		})
	}
	if r.keepGoing {
		w := r.world(&choices{taken: path, arity: make([]int, len(path))})
		w.keepGoing = true
		if _, err := w.replay(); err != nil {
			return nil, err
		}
		r.take(w)
	}
	return best, nil
}

// position is a statement's place in the order of effects.
func (r *Replay) position(stmt int) int { return slices.Index(r.order(), stmt) }

// world makes a fresh copy of the state behind the set-up.
func (r *Replay) world(ch *choices) *Replay {
	ch.pos = 0
	w := &Replay{c: r.c, h: r.h, profile: r.profile, dialect: r.dialect, solver: r.solver, views: ch, uncut: r.uncut,
		store:    Store{solver: r.solver, Order: r.store.Order, Tables: make(map[string]*Table, len(r.store.Tables)), nextRow: r.store.nextRow},
		sessions: make(map[int]*session), Steps: make([]Step, len(r.h.Stmts)), observed: r.observed}
	for n, t := range r.store.Tables {
		nt := &Table{Def: t.Def, Clustered: t.Clustered, Chains: make([]*Chain, len(t.Chains))}
		for i, c := range t.Chains {
			nt.Chains[i] = &Chain{ID: c.ID, Versions: slices.Clone(c.Versions)}
		}
		w.store.Tables[n] = nt
	}
	return w
}

// take takes over what a world found.
func (r *Replay) take(w *Replay) {
	r.Steps, r.touched, r.sessions, r.told = w.Steps, w.touched, w.sessions, &w.store
}

// currentView returns the view of a locking read or a write.
func (r *Replay) currentView(st *history.Stmt, tx *Txn, kind stmt.Kind, node ast.StmtNode) (View, error) {
	if at, ok := r.moved[st]; ok {
		return View{Tick: at, Own: tx}, nil
	}
	v := View{Tick: st.Submit, Own: tx}
	for _, w := range st.Waits {
		if w.Until == 0 || !r.changedWithin(tx, v.Tick, w.Until) {
			continue
		}
		must, err := r.conflicts(v, w.Until, tx, kind, node)
		if err != nil {
			return v, err
		}
		if !must && r.sameScan(v, w.Until, node) {
			continue
		}
		if must || r.views.choose(2) == 0 {
			ticks := r.releasedWithin([]history.Tick{w.Until}, w.From, w.Until)
			v.Tick = ticks[r.views.choose(len(ticks))]
		}
	}
	return v, nil
}

// releasedWithin appends when autocommit statements, and COMMITs that had waited,
// took effect in an open interval. One that was released together with a waiting
// statement may have come before or behind it, whatever the order of their answers.
func (r *Replay) releasedWithin(ticks []history.Tick, from, until history.Tick) []history.Tick {
	waited := func(w *Txn) bool {
		return slices.ContainsFunc(r.h.Stmts, func(s history.Stmt) bool {
			return s.Session == w.Session && s.Return == w.Commit && len(s.Waits) > 0
		})
	}
	for _, w := range r.committed() {
		if w.Commit > from && w.Commit < until && (w.auto || waited(w)) {
			ticks = append(ticks, w.Commit)
		}
	}
	return ticks
}

// insertView returns what an INSERT's duplicate checks see: they are made when the lock is
// granted, which was at the end of one of its waits.
func (r *Replay) insertView(st *history.Stmt, tx *Txn) View {
	if at, ok := r.moved[st]; ok {
		return View{Tick: at, Own: tx}
	}
	ticks := []history.Tick{r.effect(st)}
	for i := len(st.Waits) - 1; i >= 0; i-- {
		if u := st.Waits[i].Until; u != 0 && r.changedWithin(tx, u, ticks[len(ticks)-1]) {
			ticks = append(ticks, u)
		}
	}
	if len(st.Waits) > 0 {
		ticks = r.releasedWithin(ticks, st.Waits[0].From, st.Return)
	}
	return View{Tick: ticks[r.views.choose(len(ticks))], Own: tx}
}

// sameScan reports whether a statement meets the same rows under a view and
// under a later one, so that it does not matter which it has.
func (r *Replay) sameScan(v View, later history.Tick, node ast.StmtNode) bool {
	from := stmt.Of(node).From
	if stmt.SoleTable(from) == nil || HasSubquery(node) {
		return false
	}
	t := r.table(stmt.SoleTable(from).Name.O)
	if t == nil {
		return false
	}
	before, chains, err := r.scan(t, node, v)
	if err != nil {
		return false
	}
	v.Tick = later
	after, laterChains, err := r.scan(t, node, v)
	if err != nil || !slices.Equal(chains, laterChains) {
		return false
	}
	for i := range before {
		if !equalRows(before[i], after[i]) {
			return false
		}
	}
	return true
}

// changedWithin reports whether another transaction committed a change in the
// half-open interval.
func (r *Replay) changedWithin(tx *Txn, from, to history.Tick) bool {
	for _, t := range r.store.Tables {
		for _, c := range t.Chains {
			if c.committedWithin(tx, from, to) {
				return true
			}
		}
	}
	return false
}

// conflicts reports whether a row that the statement locks under a view, or a
// row with a unique key that it writes, got a newer committed version before
// the given tick.
func (r *Replay) conflicts(v View, until history.Tick, tx *Txn, kind stmt.Kind, node ast.StmtNode) (bool, error) {
	from := stmt.Of(node).From
	if stmt.SoleTable(from) == nil {
		return false, nil
	}
	if s, ok := node.(*ast.SelectStmt); ok && s.Limit != nil && s.OrderBy == nil {
		return false, nil // which rows it locks is not known
	}
	t, err := r.target(from)
	if err != nil {
		return false, err
	}
	rows, chains, err := r.scan(t, node, v)
	if err != nil {
		// The statement fails under this view, before it locks anything.
		_, err := sqlError(err)
		return false, err
	}
	for _, c := range chains {
		if c.committedWithin(tx, v.Tick, until) {
			return true, nil
		}
	}
	up, ok := node.(*ast.UpdateStmt)
	if !ok {
		return false, nil
	}
	for i, row := range rows {
		next, changed, err := r.solver.Update(up, t.Def, row, &stored{&r.store, v})
		if err != nil || !changed {
			continue
		}
		if r.keyCommittedWithin(t, chains[i], next, tx, v.Tick, until) {
			return true, nil
		}
	}
	return false, nil
}

// committedWithin reports whether another transaction committed a change of the
// row in the half-open interval; a version that repeats the one before it is
// none.
func (c *Chain) committedWithin(tx *Txn, from, to history.Tick) bool {
	for i := range c.Versions {
		ver := &c.Versions[i]
		w := ver.Txn
		if w == nil || w == tx || w.Commit < from || w.Commit >= to {
			continue
		}
		if i > 0 && ver.Row != nil && c.Versions[i-1].Row != nil && equalRows(ver.Row, c.Versions[i-1].Row) {
			continue
		}
		return true
	}
	return false
}

// keyCommittedWithin reports whether a row that has or had the same tuple in a
// unique key was committed in the interval.
func (r *Replay) keyCommittedWithin(t *Table, self *Chain, row solve.Row, tx *Txn, from, to history.Tick) bool {
	for ki := range t.Def.Keys {
		k := &t.Def.Keys[ki]
		if !k.Unique && !k.Primary {
			continue
		}
		tuple, null := r.store.keyOf(t.Def, k, row)
		if null {
			continue
		}
		for _, c := range t.Chains {
			if c == self || !c.committedWithin(tx, from, to) {
				continue
			}
			for i := range c.Versions {
				if old := c.Versions[i].Row; old != nil {
					if tu, null := r.store.keyOf(t.Def, k, old); !null && tu == tuple {
						return true
					}
				}
			}
		}
	}
	return false
}
