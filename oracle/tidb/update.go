package tidb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// followed returns the answer of two, both allowed, that the server has given, the first
// if neither is, with the other one in its set.
func (r *engine) followed(i int, kind stmt.Kind, a, b *mvcc.Prediction) *mvcc.Prediction {
	if r.Compare(i, kind, a) != nil && r.Compare(i, kind, b) == nil {
		a, b = b, a
	}
	a.AddAnswer(b.String(kind), a.String(kind))
	return a
}

// update predicts an UPDATE and applies it.
func (r *engine) update(i int, tx *versions.Txn, s *ast.UpdateStmt, view versions.View) (*mvcc.Prediction, error) {
	t, err := r.Target(s.TableRefs)
	if err != nil {
		return nil, err
	}
	p := &mvcc.Prediction{}
	rows, chains, err := r.scan(t, s, view)
	if err != nil {
		p.Err, err = mvcc.SQLErrorOf(err)
		return p, err
	}
	p.Read = chains
	views := r.subqueryViews(s, view, r.History.Stmts[i].Submit)
	news := make([]solve.Row, len(rows))
	changed := make([]bool, len(rows))
	images := make([]solve.Row, 0, 2*len(rows))
	p.Matched = int64(len(rows))
	for k, row := range rows {
		news[k], changed[k], err = r.Solver.Update(s, t.Def, row, views)
		if err != nil {
			return r.failedUpdate(i, tx, s, t, p, err, view, rows, chains, k, news, changed)
		}
		if changed[k] {
			p.Changed++
			images = append(images, row, news[k])
		}
	}
	forgotten, err := r.forgets(i, tx, s, t, view, rows, news, chains)
	if err != nil {
		return nil, err
	}
	r.touch(i, tx, t, s.Where, len(images) > 0, images)
	orders := r.orders(s, t, rows)
	mark := len(tx.Writes)
	ok := r.applyUpdate(t, tx, chains, news, changed, orders[0])
	passed := !ok // a row, which IGNORE leaves as it is
	if touchesUnique(t.Def, rows, news) {
		// Whether a key is free in passing depends on the order in which the
		// rows are met, which is the access path's affair.
		for _, order := range orders[1:] {
			r.Store.Undo(tx, mark)
			okOther := r.applyUpdate(t, tx, chains, news, changed, order)
			passed = passed || !okOther
			if okOther == ok {
				continue
			}
			p = r.followed(i, stmt.Update, p, &mvcc.Prediction{Matched: p.Matched, Changed: p.Changed, Err: mvcc.ErrDup, Read: p.Read})
			if ok = p.Err == 0; ok != okOther {
				r.Store.Undo(tx, mark)
				r.applyUpdate(t, tx, chains, news, changed, orders[0])
			}
			break
		}
	}
	if passed && s.IgnoreErr {
		return nil, mvcc.ErrIgnored
	}
	if !ok {
		p.Err = mvcc.ErrDup
		r.expectLocks(tx, t, chains, news, changed)
		r.leave(i, tx, chains, changed)
		r.lookUp(tx, s, t, rows, chains)
		return p, nil
	}
	kept := r.of(tx)
	kept.forgotten = append(kept.forgotten, forgotten...)
	return p, nil
}

// failedUpdate predicts the error of an UPDATE one of whose rows cannot be
// evaluated. A row met earlier may already have failed as a duplicate; which one
// is met first is the access path's affair, so the answer decides. The k-th row is
// the first that fails in the order of the table.
func (r *engine) failedUpdate(i int, tx *versions.Txn, s *ast.UpdateStmt, t *versions.Table, p *mvcc.Prediction, cause error, view versions.View, rows []solve.Row, chains []*versions.Chain, k int, news []solve.Row, changed []bool) (*mvcc.Prediction, error) {
	code, err := mvcc.SQLErrorOf(cause)
	if err != nil {
		return p, err
	}
	p.Err = code
	r.leave(i, tx, chains[:k], changed)
	met := r.InTheWay
	early := r.earlierDuplicate(t, tx, chains[:k], news, changed)
	if !early && !r.duplicateByIndex(tx, s, t, view, rows, chains) {
		return p, nil
	}
	dup := *p
	dup.Err = mvcc.ErrDup
	switch p = r.followed(i, stmt.Update, p, &dup); {
	case p.Err != mvcc.ErrDup:
		r.InTheWay = met
	case early:
		r.expectLocks(tx, t, chains[:k], news, changed)
	}
	return p, nil
}

// orders returns the orders in which an UPDATE may meet its rows: that of the table, which is
// the first, its reverse, and those of indexes.
func (r *engine) orders(s *ast.UpdateStmt, t *versions.Table, rows []solve.Row) [][]int {
	forward := make([]int, len(rows))
	for k := range forward {
		forward[k] = k
	}
	if len(rows) < 2 {
		return [][]int{forward}
	}
	backward := slices.Clone(forward)
	slices.Reverse(backward)
	return append([][]int{forward, backward}, r.indexOrders(s, t, rows)...)
}

// indexOrders returns the orders of the secondary indexes by which an UPDATE may go: those of a
// column that its condition tests, and those that hold the whole row.
func (r *engine) indexOrders(s *ast.UpdateStmt, t *versions.Table, rows []solve.Row) [][]int {
	var out [][]int
	tested := mvcc.ColumnsIn(t.Def, s.Where)
	for ki := range t.Def.Keys {
		key := &t.Def.Keys[ki]
		if key == t.Clustered || !tested[key.Columns[0]] && !holdsRow(t, key) {
			continue
		}
		order := make([]int, len(rows))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return versions.CompareKey(key, rows[a], rows[b]) })
		out = append(out, order)
	}
	return out
}

// holdsRow reports whether an index, of which each entry holds the clustered key, too, has all
// columns of the table.
func holdsRow(t *versions.Table, key *solve.Key) bool {
	for c := range t.Def.Columns {
		if !slices.Contains(key.Columns, c) && (t.Clustered == nil || !slices.Contains(t.Clustered.Columns, c)) {
			return false
		}
	}
	return true
}

// duplicateByIndex reports whether an UPDATE one of whose rows cannot be evaluated
// fails as a duplicate before that one if it goes by a secondary index.
func (r *engine) duplicateByIndex(
	tx *versions.Txn, s *ast.UpdateStmt, t *versions.Table, view versions.View, rows []solve.Row, chains []*versions.Chain,
) bool {
	for _, order := range r.indexOrders(s, t, rows) {
		var met []*versions.Chain
		var news []solve.Row
		var changed []bool
		for _, k := range order {
			next, change, err := r.Solver.Update(s, t.Def, rows[k], &mvcc.Stored{Store: &r.Store, View: view})
			if err != nil {
				break
			}
			met, news, changed = append(met, chains[k]), append(news, next), append(changed, change)
		}
		if r.earlierDuplicate(t, tx, met, news, changed) {
			return true
		}
	}
	return false
}

// earlierDuplicate reports whether one of the rows met before an evaluation
// error already failed as a duplicate. TiDB looks only at the transaction's own
// writes while it goes through the rows, and at the store when it locks them
// all at the end.
func (r *engine) earlierDuplicate(t *versions.Table, tx *versions.Txn, chains []*versions.Chain, news []solve.Row, changed []bool) bool {
	order := make([]int, len(chains))
	for k := range order {
		order[k] = k
	}
	mark := len(tx.Writes)
	r.ownKeysOnly = true
	ok := r.applyUpdate(t, tx, chains, news, changed, order)
	r.ownKeysOnly = false
	if ok {
		r.Store.Undo(tx, mark)
	}
	return !ok
}

// applyUpdate writes the new versions in the given order, checking unique keys
// as each row is written. It reports whether all could be written; if not,
// none is.
func (r *engine) applyUpdate(t *versions.Table, tx *versions.Txn, chains []*versions.Chain, news []solve.Row, changed []bool, order []int) bool {
	mark := len(tx.Writes)
	now := versions.View{Tick: versions.Latest, Own: tx}
	for _, k := range order {
		if !changed[k] {
			if tx.Rules.Of(rules.NoOpUpdate) == rules.NoOpWrites {
				r.Store.Update(t, chains[k], news[k], tx)
			}
			continue
		}
		if len(r.duplicates(t, now, news[k], chains[k])) > 0 {
			r.meetObstacle(t, news[k])
			r.Store.Undo(tx, mark)
			return false
		}
		r.Store.Update(t, chains[k], news[k], tx)
	}
	return true
}

// meetObstacle notes a row that cannot be written because another has its key.
func (r *engine) meetObstacle(t *versions.Table, row solve.Row) {
	if r.KeepsLooks {
		r.InTheWay = append(r.InTheWay, mvcc.Obstacle{Table: t, Row: row})
	}
}
