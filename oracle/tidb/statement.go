package tidb

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// read predicts a query under one view.
func (r *engine) read(i int, tx *versions.Txn, s *ast.SelectStmt, view versions.View, kind stmt.Kind) (*mvcc.Prediction, error) {
	p := &mvcc.Prediction{Matched: -1, Changed: -1}
	views := r.subqueryViews(s, view, r.History.Stmts[i].Submit)
	if r.UnknownHint(s.From) {
		p.Err = mvcc.ErrNoKey
		return p, nil
	}
	res, err := r.Solver.Select(s, views)
	if name := stmt.SoleTable(s.From); err == nil && name != nil && r.Table(name.Name.O) != nil {
		err = r.overwritten(r.Table(name.Name.O), s, view, i)
	}
	if err == nil {
		err = r.overwrittenWithin(s, view, i)
	}
	if err != nil {
		p.Err, err = mvcc.SQLErrorOf(err)
		return p, err
	}
	p.Rows, p.Ordered = res.Rows, res.TotalOrder
	if res.Cut {
		all, err := r.Solver.Select(r.Unlimited(s), views)
		if err != nil {
			return nil, mvcc.LossOf("solver", err)
		}
		if err := p.AnyOf(s, all.Rows, r.History.Stmts[i].Result.Rows); err != nil {
			return nil, err
		}
	}
	name := stmt.SoleTable(s.From)
	if name == nil {
		r.TouchJoined(i, tx, r.History.Stmts[i].Submit, s.From)
		return p, nil
	}
	t := r.Table(name.Name.O)
	if t == nil {
		if kind != stmt.Select {
			return nil, &mvcc.Loss{Slug: "unsupported: a common table expression (WITH)"}
		}
		return p, nil
	}
	r.touch(i, tx, t, s.Where, false, nil)
	if kind == stmt.Select {
		return p, nil
	}
	rows, chains, err := r.reached(t, view)
	if err != nil {
		p.Err, err = mvcc.SQLErrorOf(err)
		return p, err
	}
	if seen, _ := t.Rows(view); len(rows) < len(seen) {
		if res.Cut {
			return nil, mvcc.ErrUnordered
		}
		if p.Rows, err = r.readReached(s, t, rows, views); err != nil {
			return nil, mvcc.LossOf("solver", err)
		}
	}
	found := s
	if res.Cut {
		found = r.Unlimited(s)
	}
	idx, err := r.Solver.Matches(found, t.Def, rows, views)
	if err != nil {
		return nil, mvcc.LossOf("solver", err)
	}
	if res.Cut {
		idx = r.returned(i, found, t, rows, idx, views)
	}
	for _, j := range idx {
		p.Read = append(p.Read, chains[j])
	}
	return p, nil
}

// returned tells which of the rows that a query without its LIMIT finds that has left, as
// far as the answer shows which these are.
func (r *engine) returned(i int, s *ast.SelectStmt, t *versions.Table, rows []solve.Row, matched []int, views solve.Views) []int {
	if !mvcc.PlainRows(s) {
		return nil
	}
	texts := make([]string, len(matched))
	for k, j := range matched {
		res, err := r.Solver.Project(s, t.Def, []solve.Row{rows[j]}, views)
		if err != nil || len(res.Rows) != 1 {
			return nil
		}
		texts[k] = versions.FormatRow(res.Rows[0])
	}
	_, sure := mvcc.ReturnedOf(texts, mvcc.CountTexts(r.History.Stmts[i].Result.Rows))
	var out []int
	for _, k := range sure {
		out = append(out, matched[k])
	}
	return out
}

// scan returns the rows of a table that a write matches, in scan order.
func (r *engine) scan(t *versions.Table, node ast.StmtNode, view versions.View) ([]solve.Row, []*versions.Chain, error) {
	if err := r.overwritten(t, node, view, r.Store.Stmt); err != nil {
		return nil, nil, err
	}
	if err := r.overwrittenWithin(node, view, r.Store.Stmt); err != nil {
		return nil, nil, err
	}
	rows, chains, err := r.reached(t, view)
	if err != nil {
		return nil, nil, err
	}
	r.ScanOrder(t, rows, chains)
	idx, err := r.Solver.Matches(node, t.Def, rows, r.subqueryViews(node, view, r.History.Stmts[r.Store.Stmt].Submit))
	if err != nil {
		return nil, nil, err
	}
	if stmt.Of(node).Limit != nil && !mvcc.Ordered(node, t, rows, idx) {
		return nil, nil, mvcc.ErrUnordered
	}
	outRows := make([]solve.Row, len(idx))
	outChains := make([]*versions.Chain, len(idx))
	for k, j := range idx {
		outRows[k], outChains[k] = rows[j], chains[j]
	}
	return outRows, outChains, nil
}

// duplicates returns the chains, other than the row's own, whose visible row
// has the same tuple in a unique key, in order of the keys.
func (r *engine) duplicates(t *versions.Table, view versions.View, row solve.Row, self *versions.Chain) []*versions.Chain {
	var out []*versions.Chain
	for ki := range t.Def.Keys {
		k := &t.Def.Keys[ki]
		if !k.Unique && !k.Primary {
			continue
		}
		tuple, hasNull := r.Store.KeyOf(t.Def, k, row)
		if hasNull {
			continue
		}
		for _, c := range t.Chains {
			if c == self || slices.Contains(out, c) {
				continue
			}
			if ver := view.Seen(c); ver != nil && (!r.ownKeysOnly || ver.Txn == view.Own) {
				if other, null := r.Store.KeyOf(t.Def, k, ver.Row); !null && other == tuple {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// touchesUnique reports whether any row changes a column of a unique key.
func touchesUnique(t *solve.Table, olds, news []solve.Row) bool {
	for _, k := range t.Keys {
		if !k.Unique && !k.Primary {
			continue
		}
		for _, col := range k.Columns {
			for i := range olds {
				if olds[i][col] != news[i][col] {
					return true
				}
			}
		}
	}
	return false
}

// delete predicts a DELETE and applies it.
func (r *engine) delete(i int, tx *versions.Txn, s *ast.DeleteStmt, view versions.View) (*mvcc.Prediction, error) {
	t, err := r.Target(s.TableRefs)
	if err != nil {
		return nil, err
	}
	p := &mvcc.Prediction{Matched: -1}
	rows, chains, err := r.scan(t, s, view)
	if err != nil {
		p.Err, err = mvcc.SQLErrorOf(err)
		return p, err
	}
	p.Read, p.Changed = chains, int64(len(rows))
	r.touch(i, tx, t, s.Where, len(rows) > 0, rows)
	for _, c := range chains {
		r.Store.Delete(t, c, tx)
	}
	return p, nil
}

// insert predicts an INSERT or REPLACE and applies it.
func (r *engine) insert(i int, tx *versions.Txn, s *ast.InsertStmt, view versions.View) (*mvcc.Prediction, error) {
	name := stmt.SoleTable(s.Table)
	if name == nil {
		return nil, &mvcc.Loss{Slug: "unsupported: an INSERT into something else than a table"}
	}
	t := r.Table(name.Name.O)
	if t == nil {
		return nil, &mvcc.Loss{Slug: "unsupported: a table that no set-up line creates"}
	}
	p := &mvcc.Prediction{Matched: -1}
	if c := mvcc.ErrCode(&r.History.Stmts[i]); (c == mvcc.ErrOutOfRange || c == mvcc.ErrAutoIncrement || c == mvcc.ErrAutoRange) && slices.ContainsFunc(t.Def.Columns, func(c solve.Column) bool { return c.Auto }) {
		return nil, &mvcc.Loss{Slug: "auto-increment exhausted"}
	}
	if tx.Level == corpus.RepeatableRead && s.Select == nil && mvcc.HasSubquery(s) {
		// One that does not depend on the row is evaluated with the plan, on the snapshot.
		return nil, &mvcc.Loss{Slug: "unsupported: subquery in VALUES"}
	}
	rows, evalErr := r.Solver.Insert(s, t.Def, r.subqueryViews(s, view, r.History.Stmts[i].Submit))
	if evalErr != nil {
		// All rows are evaluated before the first one is written.
		var err error
		p.Err, err = mvcc.SQLErrorOf(evalErr)
		return p, err
	}
	if err := mvcc.JudgesGenerated(s, t, rows, &r.History.Stmts[i]); err != nil {
		return nil, err
	}
	r.Generated(t, rows, &r.History.Stmts[i])
	var images []solve.Row
	for _, row := range rows {
		dups := r.duplicates(t, view, row, nil)
		if len(dups) > 0 {
			r.meetObstacle(t, row)
		}
		switch {
		case len(dups) == 0, r.mistakes(i, tx, row, dups):
			p.Read = append(p.Read, r.Store.Insert(t, row, tx))
			p.Changed++
			images = append(images, row)
		case s.IsReplace:
			for _, c := range dups {
				if versions.EqualRows(view.Seen(c).Row, row) {
					return nil, mvcc.ErrIdentical
				}
				images = append(images, view.Seen(c).Row)
				r.Store.Delete(t, c, tx)
				p.Changed++
			}
			p.Read = append(p.Read, r.Store.Insert(t, row, tx))
			images = append(images, row)
			p.Changed++
		case len(s.OnDuplicate) > 0:
			n, image, err := r.onDuplicate(s, t, tx, view, r.upserted(t, tx, view, dups, row), row)
			if err != nil {
				p.Err, err = mvcc.SQLErrorOf(err)
				return p, err
			}
			if n < 0 {
				p.Err = mvcc.ErrDup
				return p, nil
			}
			p.Changed += n
			images = append(images, image...)
		case s.IgnoreErr:
		default:
			p.Err = mvcc.ErrDup
			return p, nil
		}
	}
	r.touch(i, tx, t, nil, true, images)
	r.Touched[len(r.Touched)-1].Tried = rows
	return p, nil
}

// upserted returns which of several rows that have keys of a new one ON DUPLICATE KEY
// UPDATE changes.
func (r *engine) upserted(t *versions.Table, tx *versions.Txn, view versions.View, dups []*versions.Chain, row solve.Row) *versions.Chain {
	if len(dups) > 1 && tx.Snapshot != 0 && tx.Rules.Of(rules.UpsertRow) == rules.FirstInSnapshot {
		snapshot := versions.View{Tick: tx.Snapshot, Own: tx}
		for _, c := range r.duplicates(t, snapshot, row, nil) {
			if slices.Contains(dups, c) && versions.EqualRows(snapshot.Seen(c).Row, view.Seen(c).Row) {
				return c
			}
		}
	}
	return dups[0]
}

// onDuplicate applies ON DUPLICATE KEY UPDATE to the row in the way. It
// returns the count that the statement reports for it, 2 if the row changed
// and 0 if not; -1 if the new row collides with a third one.
// https://dev.mysql.com/doc/refman/en/insert-on-duplicate.html
func (r *engine) onDuplicate(s *ast.InsertStmt, t *versions.Table, tx *versions.Txn, view versions.View, c *versions.Chain, row solve.Row) (int64, []solve.Row, error) {
	old := view.Seen(c).Row
	next, changed, err := r.Solver.OnDuplicate(s, t.Def, old, row, &mvcc.Stored{Store: &r.Store, View: view})
	if err != nil {
		return 0, nil, err
	}
	if !changed {
		if tx.Rules.Of(rules.NoOpUpsert) == rules.NoOpWrites {
			r.Store.Update(t, c, old, tx)
		}
		return 0, nil, nil
	}
	if len(r.duplicates(t, view, next, c)) > 0 {
		r.meetObstacle(t, next)
		return -1, nil, nil
	}
	r.Store.Update(t, c, next, tx)
	return 2, []solve.Row{old, next}, nil
}
