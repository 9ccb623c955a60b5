package tidb

import (
	"cmp"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// finish rolls back what is still open, as the harness did, and compares the
// final state.
func (r *engine) finish() (*mvcc.Difference, error) {
	for _, t := range r.OpenTxns(nil) {
		r.Rollback(t, versions.Latest)
	}
	if r.Store.Err != nil {
		return nil, mvcc.LossOf("key", r.Store.Err)
	}
	return r.Final(mvcc.Newest)
}

// replay replays the history along one path of choices.
func (r *engine) replay() (*mvcc.Difference, error) {
	var first *mvcc.Difference
	note := func(d *mvcc.Difference) bool {
		if d == nil {
			return false
		}
		if d.Stmt >= 0 {
			r.Steps[d.Stmt].Diff = d
		}
		if first == nil {
			first = d
		}
		return !r.KeepGoing
	}
	for _, i := range r.order() {
		d, err := r.step(i)
		if err != nil {
			return nil, err
		}
		if note(d) {
			return first, nil
		}
	}
	d, err := r.finish()
	if err != nil {
		return nil, err
	}
	note(d)
	return first, nil
}

// order returns the statements in the order in which they took effect: one
// that did not wait at its submission, since submission is serial; one that
// waited when it returned, since its last view is later than all its waits.
// What a BEGIN commits is committed before the BEGIN waits for anything.
func (r *engine) order() []int {
	idx := make([]int, len(r.History.Stmts))
	for i := range idx {
		idx[i] = i
	}
	at := func(i int) history.Tick {
		s := &r.History.Stmts[i]
		if s.Return == 0 {
			return 1 << 60
		}
		if k := mvcc.KindOf(r.Case.Steps[s.Line].Stmt); k == stmt.Begin || k == stmt.BeginSnapshot {
			return s.Submit
		}
		return r.Effect(s)
	}
	slices.SortStableFunc(idx, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	return idx
}

// A TiDB statement reads one committed state as a whole. One that waited either
// keeps the state of its start or starts again with a newer one. It must start
// again where a row that it locks was changed meanwhile; else both are legal,
// and which one it is depends on how the lock request was woken. So each such
// statement is a choice, and choices are tried until the whole history fits.

// run tries paths of choices until one fits the whole history. It returns
// the difference of the path that went furthest, of the first among equals.
func (r *engine) run() (*mvcc.Difference, error) {
	if err := r.Load(); err != nil {
		return nil, err
	}
	var best *mvcc.Difference
	bestAt, path, ch := -2, []int(nil), &mvcc.Choices{}
	for range mvcc.MaxWorlds {
		w := r.world(ch)
		d, err := w.replay()
		if err != nil {
			return nil, err
		}
		at := len(r.History.Stmts) + 1
		if d != nil && d.Stmt >= 0 {
			at = r.position(d.Stmt)
		} else if d != nil {
			at = len(r.History.Stmts)
		}
		switch {
		case at > bestAt:
			best, bestAt, path = d, at, slices.Clone(ch.Taken)
			r.take(w)
		case at == bestAt && d != nil:
			best.AddWay(d)
		}
		if d == nil || !ch.Next() {
			break
		}
	}
	if best != nil && !r.KeepGoing {
		switch fits, err := r.inSomeOrder(); {
		case err != nil:
			return nil, err
		case fits:
			return nil, nil
		}
	}
	if best == nil && r.EveryAnswer {
		r.TryOtherWays(ch, func(ch *mvcc.Choices) ([]mvcc.Step, *mvcc.Difference, error) {
			w := r.world(ch)
			d, err := w.replay()
			return w.Steps, d, err
		})
	}
	if r.KeepGoing {
		w := r.world(&mvcc.Choices{Taken: path, Arity: make([]int, len(path))})
		w.KeepGoing = true
		if _, err := w.replay(); err != nil {
			return nil, err
		}
		r.take(w)
	}
	return best, nil
}

// position is a statement's place in the order of effects.
func (r *engine) position(stmt int) int { return slices.Index(r.order(), stmt) }

// world makes a fresh copy of the state behind the set-up.
func (r *engine) world(ch *mvcc.Choices) *engine {
	ch.Pos = 0
	return &engine{Replay: r.FilledWorld(), views: ch, transactions: make(map[*versions.Txn]*transaction)}
}

// take takes over what a world found.
func (r *engine) take(w *engine) {
	r.Steps, r.Touched, r.Sessions, r.Replayed = w.Steps, w.Touched, w.Sessions, &w.Store
}

// currentView returns the view of a locking read or a write.
func (r *engine) currentView(st *history.Stmt, tx *versions.Txn, kind stmt.Kind, node ast.StmtNode) (versions.View, error) {
	if at, ok := r.Moved[st]; ok {
		return versions.View{Tick: at, Own: tx}, nil
	}
	v := versions.View{Tick: st.Submit, Own: tx}
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
		if must || r.views.Choose(2) == 0 {
			ticks := r.releasedWithin([]history.Tick{w.Until}, w.From, w.Until)
			v.Tick = ticks[r.views.Choose(len(ticks))]
		}
	}
	return v, nil
}

// releasedWithin appends when autocommit statements, and COMMITs that had waited,
// took effect in an open interval. One that was released together with a waiting
// statement may have come before or behind it, whatever the order of their answers.
func (r *engine) releasedWithin(ticks []history.Tick, from, until history.Tick) []history.Tick {
	waited := func(w *versions.Txn) bool {
		return slices.ContainsFunc(r.History.Stmts, func(s history.Stmt) bool {
			return s.Session == w.Session && s.Return == w.Commit && len(s.Waits) > 0
		})
	}
	for _, w := range r.CommittedTxns() {
		if w.Commit > from && w.Commit < until && (w.Auto || waited(w)) {
			ticks = append(ticks, w.Commit)
		}
	}
	return ticks
}

// insertView returns what an INSERT's duplicate checks see: they are made when the lock is
// granted, which was at the end of one of its waits.
func (r *engine) insertView(st *history.Stmt, tx *versions.Txn) versions.View {
	if at, ok := r.Moved[st]; ok {
		return versions.View{Tick: at, Own: tx}
	}
	ticks := []history.Tick{r.Effect(st)}
	for i := len(st.Waits) - 1; i >= 0; i-- {
		if u := st.Waits[i].Until; u != 0 && r.changedWithin(tx, u, ticks[len(ticks)-1]) {
			ticks = append(ticks, u)
		}
	}
	if len(st.Waits) > 0 {
		ticks = r.releasedWithin(ticks, st.Waits[0].From, st.Return)
	}
	return versions.View{Tick: ticks[r.views.Choose(len(ticks))], Own: tx}
}

// sameScan reports whether a statement meets the same rows under a view and
// under a later one, so that it does not matter which it has.
func (r *engine) sameScan(v versions.View, later history.Tick, node ast.StmtNode) bool {
	from := stmt.Of(node).From
	if stmt.SoleTable(from) == nil || mvcc.HasSubquery(node) {
		return false
	}
	t := r.Table(stmt.SoleTable(from).Name.O)
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
		if !versions.EqualRows(before[i], after[i]) {
			return false
		}
	}
	return true
}

// changedWithin reports whether another transaction committed a change in the
// half-open interval.
func (r *engine) changedWithin(tx *versions.Txn, from, to history.Tick) bool {
	for _, t := range r.Store.Tables {
		for _, c := range t.Chains {
			if committedWithin(c, tx, from, to) {
				return true
			}
		}
	}
	return false
}

// conflicts reports whether a row that the statement locks under a view, or a
// row with a unique key that it writes, got a newer committed version before
// the given tick.
func (r *engine) conflicts(v versions.View, until history.Tick, tx *versions.Txn, kind stmt.Kind, node ast.StmtNode) (bool, error) {
	from := stmt.Of(node).From
	if stmt.SoleTable(from) == nil {
		return false, nil
	}
	if s, ok := node.(*ast.SelectStmt); ok && s.Limit != nil && s.OrderBy == nil {
		return false, nil // which rows it locks is not known
	}
	t, err := r.Target(from)
	if err != nil {
		return false, err
	}
	rows, chains, err := r.scan(t, node, v)
	if err != nil {
		// The statement fails under this view, before it locks anything.
		_, err := mvcc.SQLErrorOf(err)
		return false, err
	}
	for _, c := range chains {
		if committedWithin(c, tx, v.Tick, until) {
			return true, nil
		}
	}
	up, ok := node.(*ast.UpdateStmt)
	if !ok {
		return false, nil
	}
	for i, row := range rows {
		next, changed, err := r.Solver.Update(up, t.Def, row, &mvcc.Stored{Store: &r.Store, View: v})
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
func committedWithin(c *versions.Chain, tx *versions.Txn, from, to history.Tick) bool {
	for i := range c.Versions {
		ver := &c.Versions[i]
		w := ver.Txn
		if w == nil || w == tx || w.Commit < from || w.Commit >= to {
			continue
		}
		if i > 0 && ver.Row != nil && c.Versions[i-1].Row != nil && versions.EqualRows(ver.Row, c.Versions[i-1].Row) {
			continue
		}
		return true
	}
	return false
}

// keyCommittedWithin reports whether a row that has or had the same tuple in a
// unique key was committed in the interval.
func (r *engine) keyCommittedWithin(t *versions.Table, self *versions.Chain, row solve.Row, tx *versions.Txn, from, to history.Tick) bool {
	for ki := range t.Def.Keys {
		k := &t.Def.Keys[ki]
		if !k.Unique && !k.Primary {
			continue
		}
		tuple, null := r.Store.KeyOf(t.Def, k, row)
		if null {
			continue
		}
		for _, c := range t.Chains {
			if c == self || !committedWithin(c, tx, from, to) {
				continue
			}
			for i := range c.Versions {
				if old := c.Versions[i].Row; old != nil {
					if tu, null := r.Store.KeyOf(t.Def, k, old); !null && tu == tuple {
						return true
					}
				}
			}
		}
	}
	return false
}
