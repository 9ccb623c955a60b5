package innodb

import (
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

var errDuplicate = &solve.SQLError{Code: mvcc.ErrDup, Message: "duplicate entry"}

// duplicate looks a new row's tuple up in a unique key. It waits for other
// transactions that changed an entry of that tuple and returns the record that
// is in the way, nil if none.
func (x *running) duplicate(t *versions.Table, k *solve.Key, row solve.Row, self *versions.Chain) (*versions.Chain, error) {
	e, tx := x.e, x.tx
	here := spot{t: t, key: k, rows: []solve.Row{row}, tuple: true}
	if k == t.Clustered {
		here.key = nil
	}
	tuple, null := e.Store.KeyOf(t.Def, k, row)
	if null {
		// Nothing is in its way but a lock on the gap.
		x.point(spot{t: t, key: here.key, gap: true}, nil, false, false)
		return nil, nil
	}
	has := func(r solve.Row) bool {
		if r == nil {
			return false
		}
		o, n := e.Store.KeyOf(t.Def, k, r)
		return !n && o == tuple
	}
	for again := true; again; {
		again = false
		for _, c := range t.Chains {
			if c == self {
				continue
			}
			if e.isolatesSnapshots(tx) && !x.metChanged && slices.ContainsFunc(c.Versions, func(v versions.Version) bool { return has(v.Row) }) {
				x.metChanged = x.changedSince(c) || x.changedBelow(c)
			}
			w := e.writer(c, tx)
			if w == nil {
				if !has(c.Last().Row) {
					if k == t.Clustered && c.Last().Key == tuple {
						if err := x.recordChanged(c, false); err != nil {
							return nil, err
						}
					}
					continue
				}
				if err := x.recordChanged(c, k == t.Clustered); err != nil {
					return nil, err
				}
				// A scan by this index may have left a lock here that no other path takes.
				if h := e.holder(c, tx, versions.Share); h != nil && x.point(here, h, false, false) != nowhere || x.mayWait(here, e.uncertainLocks.Holder(tx, c, versions.Share)) != nowhere ||
					e.loose && x.point(here, nil, false, false) != nowhere {
					again = true
					break
				}
				e.uncertainLocks.Take(versions.Lock{Txn: tx, Row: c, Mode: versions.Share})
				return c, nil
			}
			// Only the versions since the last committed one concern w.
			concerns := false
			for i := len(c.Versions) - 1; i >= 0; i-- {
				if has(c.Versions[i].Row) {
					concerns = true
				}
				if c.Versions[i].Txn != w {
					break
				}
			}
			if !concerns {
				continue
			}
			if !x.due && e.running[w.Session] != nil && slices.Contains(e.pending[c], k) {
				// It waits to change this index, whose entry is as it was.
				if v := e.committed(c, tx); v != nil && has(v.Row) {
					return c, nil
				}
				continue
			}
			if x.point(here, w, false, true) != nowhere {
				again = true
				break
			}
			v := e.committed(c, tx)
			asItWas := v != nil && has(v.Row) && has(c.Last().Row)
			if !x.waited && e.running[w.Session] == nil && !(asItWas && k != t.Clustered && x.skipsDuplicates()) {
				x.collided = w
			}
			if asItWas {
				return c, nil
			}
		}
		last := here
		last.gap = true
		if !again && x.point(last, nil, false, false) != nowhere {
			again = true
		}
	}
	return nil, nil
}

// skipsDuplicates says that the statement passes over a row whose tuple another has: to
// see that, it needs no more than the entry of the unique index.
func (x *running) skipsDuplicates() bool {
	ins, ok := x.node.(*ast.InsertStmt)
	return stmt.Of(x.node).Ignore && !(ok && (ins.IsReplace || len(ins.OnDuplicate) > 0))
}

// put inserts a row: the clustered record goes in first, then an entry of each other
// unique key, each behind the look for one that is in the way. Where there is one, what
// was done is taken back; put returns its record and the index of the key.
func (x *running) put(t *versions.Table, row solve.Row) (c, dup *versions.Chain, key int, err error) {
	e, mark := x.e, len(x.tx.Writes)
	id := e.hiddenID(t) // before it waits for a lock
	var made *versions.Chain
	defer func() { delete(e.pending, made) }()
	for pass := range 2 {
		for ki := range t.Def.Keys {
			k := &t.Def.Keys[ki]
			if !k.Unique && !k.Primary || (k == t.Clustered) != (pass == 0) {
				continue
			}
			if dup, err = x.duplicate(t, k, row, made); err != nil {
				return nil, nil, 0, err
			}
			if dup != nil {
				x.meetObstacle(t, row)
				e.undo(x.tx, mark)
				return nil, dup, ki, nil
			}
			if left := e.pending[made]; made != nil && len(left) > 0 && left[0] == k {
				e.pending[made] = left[1:]
			}
		}
		if pass > 0 {
			continue
		}
		x.point(spot{t: t, gap: true}, nil, false, false)
		made = e.insertAs(t, row, x.tx, 0, id)
		delete(e.pending, made)
		for ki := range t.Def.Keys {
			if k := &t.Def.Keys[ki]; k != t.Clustered {
				e.pending[made] = append(e.pending[made], k)
			}
		}
	}
	if len(e.pending[made]) > 0 {
		// For a lock on the gap in another index.
		x.point(spot{}, nil, false, false)
	}
	return made, nil, 0, nil
}

// insert runs an INSERT or REPLACE row by row.
func (x *running) insert(s *ast.InsertStmt) (*mvcc.Prediction, error) {
	e, tx := x.e, x.tx
	name := stmt.SoleTable(s.Table)
	if name == nil {
		return nil, &mvcc.Loss{Slug: "unsupported: an INSERT into something else than a table"}
	}
	t := e.Table(name.Name.O)
	if t == nil {
		return nil, &solve.SQLError{Code: 1146, Message: "no such table"}
	}
	p := &mvcc.Prediction{Matched: -1}
	x.table = t
	if err := x.judgesQuery(s); err != nil {
		return nil, err
	}
	x.point(spot{}, nil, false, false)
	rows, evalErr := e.Solver.Insert(s, t.Def, x.views(nil, nil))
	if evalErr != nil {
		if _, err := mvcc.SQLErrorOf(evalErr); err != nil {
			return nil, err
		}
	}
	if c := mvcc.ErrCode(x.st); (c == mvcc.ErrAutoIncrement || c == mvcc.ErrAutoRange) && mvcc.AutoColumn(t) >= 0 {
		return nil, &mvcc.Loss{Slug: "auto-increment exhausted"}
	}
	st := x.identified(t)
	if len(rows) > 0 && st.Result.LastID != 0 {
		// Values are taken for all rows at once, and are lost if one fails.
		e.counters[t] = max(e.counters[t], st.Result.LastID+int64(len(s.Lists)))
	}
	if err := mvcc.JudgesGenerated(s, t, rows, st); err != nil {
		return nil, err
	}
	e.Generated(t, rows, st)
	var images []solve.Row
	for _, row := range rows {
		c, dup, key, err := x.put(t, row)
		switch {
		case err != nil:
			return nil, err
		case dup == nil:
			p.Read = append(p.Read, c)
			p.Changed++
			images = append(images, row)
			x.images = append(x.images, image{nil, row})
			continue
		}
		switch {
		case dup.Last().Row == nil && len(s.OnDuplicate) > 0:
			return nil, errDuringDelete
		case s.IsReplace:
			n, err := x.replace(t, row, dup, key)
			if err != nil {
				return nil, err
			}
			p.Changed += n
			images = append(images, row)
		case len(s.OnDuplicate) > 0:
			old := dup.Last().Row
			next, changed, err := e.Solver.OnDuplicate(s, t.Def, old, row, x.views(nil, nil))
			if err != nil {
				return nil, err
			}
			if !changed {
				if slices.ContainsFunc(s.OnDuplicate, func(l *ast.Assignment) bool { return renewed(t, l, old) }) {
					return nil, &mvcc.Loss{Slug: "unsupported: NULL assigned again by ON DUPLICATE KEY UPDATE"}
				}
				if tx.Rules.Of(rules.NoOpUpsert) == rules.NoOpWrites {
					e.write(t, dup, old, tx, dup.Last().RowID)
				}
				continue
			}
			if err := x.changeRow(t, hit{dup, old}, next); err != nil {
				return nil, err
			}
			p.Changed += 2
			images = append(images, old, next)
			x.images = append(x.images, image{old, next})
		case s.IgnoreErr:
		default:
			return nil, errDuplicate
		}
	}
	if evalErr != nil {
		return nil, evalErr
	}
	e.touchInnoDB(x, t, nil, true, images)
	e.Touched[len(e.Touched)-1].Tried = rows
	return p, nil
}

// judgesQuery refuses an INSERT … SELECT of which the view is not known: below
// REPEATABLE READ its query may lock what it reads, and where snapshots are isolated
// its read view stays open while the INSERT waits.
func (x *running) judgesQuery(s *ast.InsertStmt) error {
	sel, ok := s.Select.(*ast.SelectStmt)
	switch {
	case !ok || x.tx.Level >= corpus.RepeatableRead:
	case stmt.LockOf(sel).Mode != stmt.None:
		return &mvcc.Loss{Slug: "unsupported: INSERT of a locking query"}
	case x.e.isolatesSnapshots(x.tx) && len(x.st.Waits) > 0:
		return &mvcc.Loss{Slug: "unsupported: INSERT of a query that waits under snapshot isolation"}
	}
	return nil
}

// identified returns the statement with the first of its AUTO_INCREMENT values.
// The answer of one that failed does not tell it; but the counter is beyond every
// value that the column has or had, and beyond those that a failed one has taken.
// https://dev.mysql.com/doc/refman/en/innodb-auto-increment-handling.html
func (x *running) identified(t *versions.Table) *history.Stmt {
	if x.st.Result.LastID != 0 {
		return x.st
	}
	auto := mvcc.AutoColumn(t)
	if auto < 0 {
		return x.st
	}
	st := *x.st
	st.Result.LastID = max(1, x.e.counters[t])
	for _, c := range t.Chains {
		for i := range c.Versions {
			r := c.Versions[i].Row
			if r == nil {
				continue
			}
			last := r[auto].Int()
			if last == math.MaxInt64 {
				st.Result.LastID = math.MinInt64 // there is none behind it
				return &st
			}
			st.Result.LastID = max(st.Result.LastID, last+1)
		}
	}
	return &st
}

// errDuringDelete is the loss of a statement that finds a row by an index from which a
// DELETE that waits has yet to take it.
var errDuringDelete = &mvcc.Loss{Slug: "unsupported: a duplicate of a row amid its DELETE"}

// replace puts a row where others are in the way, the first by the key of the index
// given: it deletes them one after another and tries again each time. What is in the
// way of the table's last unique key is changed in place: where no key is the clustered
// one, the new row is a version of the old one's record.
// https://dev.mysql.com/doc/refman/en/replace.html ("as an update rather than a delete
// plus insert"); foreign keys and triggers, which forbid it, are refused elsewhere.
func (x *running) replace(t *versions.Table, row solve.Row, dup *versions.Chain, key int) (int64, error) {
	last := 0
	for ki := range t.Def.Keys {
		if k := &t.Def.Keys[ki]; k.Unique || k.Primary {
			last = ki
		}
	}
	for n := int64(2); ; n++ {
		old := dup.Last().Row
		switch {
		case old == nil:
			return 0, errDuringDelete
		case versions.EqualRows(old, row):
			// Nothing is deleted if its key is the last unique one of the table.
			return 0, mvcc.ErrIdentical
		case key == last:
			return n, x.changeRow(t, hit{dup, old}, row)
		}
		x.e.write(t, dup, nil, x.tx, dup.Last().RowID)
		var err error
		if _, dup, key, err = x.put(t, row); dup == nil || err != nil {
			return n, err
		}
	}
}

func (x *running) meetObstacle(t *versions.Table, row solve.Row) {
	if x.e.KeepsLooks {
		x.inTheWay = append(x.inTheWay, mvcc.Obstacle{Table: t, Row: row})
	}
}
