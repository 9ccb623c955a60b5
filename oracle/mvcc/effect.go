package mvcc

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// read predicts a query under one view.
func (r *Replay) read(i int, tx *Txn, s *ast.SelectStmt, view View, kind stmt.Kind) (*Prediction, error) {
	p := &Prediction{Matched: -1, Changed: -1}
	views := &stored{&r.store, view}
	if r.unknownHint(s.From) {
		p.Err = errNoKey
		return p, nil
	}
	res, err := r.solver.Select(s, views)
	if name := stmt.SoleTable(s.From); err == nil && name != nil && r.table(name.Name.O) != nil {
		err = r.overwritten(r.table(name.Name.O), s, view, i)
	}
	if err != nil {
		p.Err, err = sqlError(err)
		return p, err
	}
	p.Rows, p.Ordered = res.Rows, res.TotalOrder
	if res.Cut {
		all, err := r.solver.Select(r.unlimited(s), views)
		if err != nil {
			return nil, lossOf("solver", err)
		}
		if err := p.anyOf(s, all.Rows, r.h.Stmts[i].Result.Rows); err != nil {
			return nil, err
		}
	}
	name := stmt.SoleTable(s.From)
	if name == nil {
		r.touchJoined(i, tx, r.h.Stmts[i].Submit, s.From)
		return p, nil
	}
	t := r.table(name.Name.O)
	if t == nil {
		if kind != stmt.Select {
			return nil, &Loss{Slug: "unsupported: a common table expression (WITH)"}
		}
		return p, nil
	}
	r.touch(i, tx, t, s.Where, false, nil)
	if kind == stmt.Select {
		return p, nil
	}
	rows, chains, err := r.reached(t, view)
	if err != nil {
		p.Err, err = sqlError(err)
		return p, err
	}
	if seen, _ := t.Rows(view); len(rows) < len(seen) {
		if res.Cut {
			return nil, errUnordered
		}
		if p.Rows, err = r.readReached(s, t, rows, views); err != nil {
			return nil, lossOf("solver", err)
		}
	}
	if res.Cut {
		return p, nil // which rows it has read is not known
	}
	idx, err := r.solver.Matches(s, t.Def, rows, views)
	if err != nil {
		return nil, lossOf("solver", err)
	}
	for _, j := range idx {
		p.read = append(p.read, chains[j])
	}
	return p, nil
}

// unknownHint reports whether a table's index hint names a key that it has not. A
// key may be named by a prefix of its name that no other key's name has.
// https://dev.mysql.com/doc/refman/en/index-hints.html
func (r *Replay) unknownHint(from *ast.TableRefsClause) bool {
	name := stmt.SoleTable(from)
	if name == nil || r.table(name.Name.O) == nil {
		return false
	}
	t := r.table(name.Name.O).Def
	for _, h := range name.IndexHints {
		for _, n := range h.IndexNames {
			exact, prefixed := false, 0
			for i := range t.Keys {
				key := hintName(t, &t.Keys[i])
				exact = exact || key == n.L
				if strings.HasPrefix(key, n.L) {
					prefixed++
				}
			}
			if !exact && prefixed != 1 {
				return true
			}
		}
	}
	return false
}

// hintName returns what a hint calls a key, in small letters. One without a name takes that
// of its first column.
func hintName(t *solve.Table, k *solve.Key) string {
	switch {
	case k.Primary:
		return "primary"
	case k.Name == "":
		return strings.ToLower(t.Columns[k.Columns[0]].Name)
	}
	return strings.ToLower(k.Name)
}

// scan returns the rows of a table that a write matches, in scan order.
func (r *Replay) scan(t *Table, node ast.StmtNode, view View) ([]solve.Row, []*Chain, error) {
	if err := r.overwritten(t, node, view, r.store.stmt); err != nil {
		return nil, nil, err
	}
	rows, chains, err := r.reached(t, view)
	if err != nil {
		return nil, nil, err
	}
	r.scanOrder(t, rows, chains)
	idx, err := r.solver.Matches(node, t.Def, rows, &stored{&r.store, subqueryView(node, view, r.h.Stmts[r.store.stmt].Submit)})
	if err != nil {
		return nil, nil, err
	}
	if stmt.Of(node).Limit != nil && !ordered(node, t, rows, idx) {
		return nil, nil, errUnordered
	}
	outRows := make([]solve.Row, len(idx))
	outChains := make([]*Chain, len(idx))
	for k, j := range idx {
		outRows[k], outChains[k] = rows[j], chains[j]
	}
	return outRows, outChains, nil
}

// subqueryView returns what the subqueries of a write see that started at the
// given tick.
func subqueryView(node ast.StmtNode, view View, started history.Tick) View {
	if view.Own == nil || view.Own.Rules.of(rules.SubqueryView) != rules.SnapshotSubquery {
		return view
	}
	if _, ok := node.(*ast.SelectStmt); ok || !hasScalarSubquery(node) {
		return view
	}
	if view.Own.Rules.of(rules.ConsistentRead) == rules.Snapshot {
		return View{Tick: view.Own.Snapshot, Own: view.Own}
	}
	return View{Tick: started, Own: view.Own}
}

// overwritten evaluates a filter on committed versions that the own transaction
// has overwritten, where the rule FilterScope says so, and returns the error
// that this raises. Which part of the filter is reached is the plan's affair,
// so an error that some part raises is returned if the answer has it.
func (r *Replay) overwritten(t *Table, node ast.StmtNode, view View, i int) error {
	if view.Own == nil || view.Own.Rules.of(rules.FilterScope) != rules.OverwrittenRows {
		return nil
	}
	code := errCode(&r.h.Stmts[i])
	if code != errTruncated && code != errOutOfRange && code != errDateOverflow {
		return nil
	}
	committed := View{Tick: view.Tick}
	rows, chains := t.Rows(committed)
	where := stmt.Of(node).Where
	for k, c := range chains {
		if ver := view.version(c); ver == nil || ver.Txn != view.Own {
			continue
		}
		for _, part := range leaves(where, nil) {
			_, warnings, err := r.solver.Where(part, t.Def, rows[k], &stored{&r.store, committed})
			var e *solve.SQLError
			if warnings > 0 && code != errOutOfRange || errors.As(err, &e) && e.Code == code {
				return &solve.SQLError{Code: code}
			}
			var refused *solve.Unsupported
			if errors.As(err, &refused) {
				return refused
			}
		}
	}
	return nil
}

// scanOrder sorts by the clustered key, as a full scan meets the rows; a table
// without one is met in order of insertion.
func (r *Replay) scanOrder(t *Table, rows []solve.Row, chains []*Chain) {
	if t.Clustered == nil {
		return
	}
	type pair struct {
		row   solve.Row
		chain *Chain
	}
	ps := make([]pair, len(rows))
	for i := range rows {
		ps[i] = pair{rows[i], chains[i]}
	}
	slices.SortStableFunc(ps, func(a, b pair) int { return compareKey(t.Clustered, a.row, b.row) })
	for i := range ps {
		rows[i], chains[i] = ps[i].row, ps[i].chain
	}
}

func (r *Replay) target(from *ast.TableRefsClause) (*Table, error) {
	name := stmt.SoleTable(from)
	if name == nil {
		return nil, &Loss{Slug: "unsupported: a write to several tables"}
	}
	t := r.table(name.Name.O)
	if t == nil {
		return nil, &Loss{Slug: "unsupported: a table that no set-up line creates"}
	}
	return t, nil
}

// latest is behind every tick of a history.
const latest history.Tick = 1 << 60

// duplicates returns the chains, other than the row's own, whose visible row
// has the same tuple in a unique key, in order of the keys.
func (r *Replay) duplicates(t *Table, view View, row solve.Row, self *Chain) []*Chain {
	var out []*Chain
	for ki := range t.Def.Keys {
		k := &t.Def.Keys[ki]
		if !k.Unique && !k.Primary {
			continue
		}
		tuple, hasNull := r.store.keyOf(t.Def, k, row)
		if hasNull {
			continue
		}
		for _, c := range t.Chains {
			if c == self || slices.Contains(out, c) {
				continue
			}
			if ver := view.Seen(c); ver != nil && (!r.ownKeysOnly || ver.Txn == view.Own) {
				if other, null := r.store.keyOf(t.Def, k, ver.Row); !null && other == tuple {
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
func (r *Replay) delete(i int, tx *Txn, s *ast.DeleteStmt, view View) (*Prediction, error) {
	t, err := r.target(s.TableRefs)
	if err != nil {
		return nil, err
	}
	p := &Prediction{Matched: -1}
	rows, chains, err := r.scan(t, s, view)
	if err != nil {
		p.Err, err = sqlError(err)
		return p, err
	}
	p.read, p.Changed = chains, int64(len(rows))
	r.touch(i, tx, t, s.Where, len(rows) > 0, rows)
	for _, c := range chains {
		r.store.Delete(t, c, tx)
	}
	return p, nil
}

// insert predicts an INSERT or REPLACE and applies it.
func (r *Replay) insert(i int, tx *Txn, s *ast.InsertStmt, view View) (*Prediction, error) {
	name := stmt.SoleTable(s.Table)
	if name == nil {
		return nil, &Loss{Slug: "unsupported: an INSERT into something else than a table"}
	}
	t := r.table(name.Name.O)
	if t == nil {
		return nil, &Loss{Slug: "unsupported: a table that no set-up line creates"}
	}
	p := &Prediction{Matched: -1}
	if c := errCode(&r.h.Stmts[i]); (c == errOutOfRange || c == errAutoIncrement || c == errAutoRange) && slices.ContainsFunc(t.Def.Columns, func(c solve.Column) bool { return c.Auto }) {
		return nil, &Loss{Slug: "auto-increment exhausted"}
	}
	if tx.Level == corpus.RepeatableRead && s.Select == nil && HasSubquery(s) {
		// One that does not depend on the row is evaluated with the plan, on the snapshot.
		return nil, &Loss{Slug: "unsupported: subquery in VALUES"}
	}
	rows, evalErr := r.solver.Insert(s, t.Def, &stored{&r.store, view})
	var code uint16
	if evalErr != nil {
		var err error
		if code, err = sqlError(evalErr); err != nil {
			return nil, err
		}
		// TiDB evaluates all rows before it writes the first one; InnoDB's
		// servers write row by row, so that an earlier row's duplicate wins.
		if r.h.Server.DBMS == history.TiDB {
			p.Err = code
			return p, nil
		}
	}
	if err := judgesGenerated(s, t, rows, &r.h.Stmts[i]); err != nil {
		return nil, err
	}
	r.generated(t, rows, &r.h.Stmts[i])
	var images []solve.Row
	for _, row := range rows {
		dups := r.duplicates(t, view, row, nil)
		if len(dups) > 0 {
			r.meetObstacle(t, row)
		}
		switch {
		case len(dups) == 0:
			p.read = append(p.read, r.store.Insert(t, row, tx))
			p.Changed++
			images = append(images, row)
		case s.IsReplace:
			for _, c := range dups {
				if equalRows(view.Seen(c).Row, row) {
					return nil, errIdentical
				}
				images = append(images, view.Seen(c).Row)
				r.store.Delete(t, c, tx)
				p.Changed++
			}
			p.read = append(p.read, r.store.Insert(t, row, tx))
			images = append(images, row)
			p.Changed++
		case len(s.OnDuplicate) > 0:
			n, image, err := r.onDuplicate(s, t, tx, view, r.upserted(t, tx, view, dups, row), row)
			if err != nil {
				p.Err, err = sqlError(err)
				return p, err
			}
			if n < 0 {
				p.Err = errDup
				return p, nil
			}
			p.Changed += n
			images = append(images, image...)
		case s.IgnoreErr:
		default:
			p.Err = errDup
			return p, nil
		}
	}
	r.touch(i, tx, t, nil, true, images)
	r.touched[len(r.touched)-1].tried = rows
	if code != 0 {
		p.Err = code
	}
	return p, nil
}

// upserted returns which of several rows that have keys of a new one ON DUPLICATE KEY
// UPDATE changes.
func (r *Replay) upserted(t *Table, tx *Txn, view View, dups []*Chain, row solve.Row) *Chain {
	if len(dups) > 1 && tx.Snapshot != 0 && tx.Rules.of(rules.UpsertRow) == rules.FirstInSnapshot {
		snapshot := View{Tick: tx.Snapshot, Own: tx}
		for _, c := range r.duplicates(t, snapshot, row, nil) {
			if slices.Contains(dups, c) && equalRows(snapshot.Seen(c).Row, view.Seen(c).Row) {
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
func (r *Replay) onDuplicate(s *ast.InsertStmt, t *Table, tx *Txn, view View, c *Chain, row solve.Row) (int64, []solve.Row, error) {
	old := view.Seen(c).Row
	next, changed, err := r.solver.OnDuplicate(s, t.Def, old, row, &stored{&r.store, view})
	if err != nil {
		return 0, nil, err
	}
	if !changed {
		if tx.Rules.of(rules.NoOpUpsert) == rules.NoOpWrites {
			r.store.Update(t, c, old, tx)
		}
		return 0, nil, nil
	}
	if len(r.duplicates(t, view, next, c)) > 0 {
		r.meetObstacle(t, next)
		return -1, nil, nil
	}
	r.store.Update(t, c, next, tx)
	return 2, []solve.Row{old, next}, nil
}

// generated fills in AUTO_INCREMENT values, which the manual documents to be
// outside of transactions: they are taken from the answer.
// https://dev.mysql.com/doc/refman/en/innodb-auto-increment-handling.html
func (r *Replay) generated(t *Table, rows []solve.Row, st *history.Stmt) {
	next := st.Result.LastID
	for _, row := range rows {
		for c := range row {
			if row[c].IsGenerated() {
				row[c] = autoValue(t.Def.Columns[c].Type, next)
				next++
			}
		}
	}
}

func autoValue(typ solve.Type, n int64) sqlvalue.Value {
	if typ.Unsigned {
		return sqlvalue.NewUint(uint64(n))
	}
	return sqlvalue.NewInt(n)
}

// compareKey orders rows as an index on the key does.
func compareKey(k *solve.Key, a, b solve.Row) int { return k.Compare(a, b) }

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}
