package innodb

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// In InnoDB a row is its clustered key: a change of that key delete-marks one
// record and inserts another. A version also carries the number of the logical
// row, which a change of key keeps, so that the promise (it is one row) and the
// practice (there are two) can both be read off the same chains.

// holder returns an open transaction other than tx whose lock on a record
// stands against the wanted one, nil if none is known.
func (e *engine) holder(c *versions.Chain, tx *versions.Txn, mode versions.Mode) *versions.Txn {
	if w := e.writer(c, tx); w != nil {
		return w
	}
	return e.locks.Holder(tx, c, mode)
}

// queued returns a transaction that waits for a lock on a record which stands
// against the wanted one, nil if there is none: who asks later waits behind it,
// unless it holds a lock there itself. That the two meet is not certain, as each
// may go by another index.
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_INNODB_LOCK_SYS.html
func (e *engine) queued(c *versions.Chain, tx *versions.Txn, mode versions.Mode) *versions.Txn {
	if e.locks.Held(versions.Lock{Txn: tx, Row: c}) || len(c.Versions) > 0 && c.Last().Txn == tx {
		return nil
	}
	for _, n := range e.sessionNumbers() {
		if w := e.running[n]; w.at == c && w.tx != tx && w.wants.Conflicts(mode) {
			return w.tx
		}
	}
	return nil
}

// writer returns the open transaction other than tx that wrote the newest
// version of a record.
func (e *engine) writer(c *versions.Chain, tx *versions.Txn) *versions.Txn {
	if len(c.Versions) == 0 {
		return nil
	}
	if w := c.Last().Txn; w != nil && w != tx && w.Ended == 0 {
		return w
	}
	return nil
}

// committed returns the newest version of a record that is committed or tx's
// own, nil if there is none.
func (e *engine) committed(c *versions.Chain, tx *versions.Txn) *versions.Version {
	return versions.View{Tick: versions.Latest, Own: tx}.Version(c)
}

func (e *engine) write(t *versions.Table, c *versions.Chain, row solve.Row, tx *versions.Txn, rid int) {
	e.nextSeq++
	v := versions.Version{Txn: tx, Row: row, RowID: rid, Seq: e.nextSeq}
	if row != nil {
		v.Key = e.Store.ClusteredKeyOf(t, row)
	} else if len(c.Versions) > 0 {
		v.Key = c.Last().Key
	}
	e.Store.Push(c, v)
}

// insert adds a row to the record of its key, which may hold deleted versions.
func (e *engine) insert(t *versions.Table, row solve.Row, tx *versions.Txn, rid int) *versions.Chain {
	return e.insertAs(t, row, tx, rid, 0)
}

// hiddenID draws the hidden row id of a row that is to be inserted; 0 where another key is clustered.
func (e *engine) hiddenID(t *versions.Table) int {
	if t.Clustered != nil {
		return 0
	}
	e.Store.NextRow++
	return e.Store.NextRow
}

// insertAs is insert with a hidden row id that was drawn before, 0 for none.
func (e *engine) insertAs(t *versions.Table, row solve.Row, tx *versions.Txn, rid, id int) *versions.Chain {
	if rid == 0 {
		e.nextRID++
		rid = e.nextRID
	} else {
		t.Moves = true
	}
	var c *versions.Chain
	if t.Clustered != nil {
		c = e.recordOf(t, e.Store.ClusteredKeyOf(t, row))
	}
	if c == nil {
		if id == 0 {
			e.Store.NextRow++
			id = e.Store.NextRow
		}
		c = &versions.Chain{ID: id}
		behind := slices.IndexFunc(t.Chains, func(o *versions.Chain) bool { return o.ID > id })
		if behind < 0 {
			behind = len(t.Chains)
		}
		// Others may be on their way through the chains.
		t.Chains = slices.Insert(slices.Clip(t.Chains), behind, c)
	}
	e.write(t, c, row, tx, rid)
	return c
}

// recordOf returns the record of a clustered key, deleted ones included.
func (e *engine) recordOf(t *versions.Table, key string) *versions.Chain {
	for _, c := range t.Chains {
		if c.Last().Key == key {
			return c
		}
	}
	return nil
}

func (e *engine) undo(tx *versions.Txn, n int) { e.Store.Undo(tx, n) }

// snapshotRows returns what a consistent read sees of a table, in the order of
// the clustered index.
func (e *engine) snapshotRows(t *versions.Table, views *innodbViews) []solve.Row {
	all, _ := t.See(views.view)
	if views.via != nil {
		all = e.seeEntries(t, views)
	}
	slices.SortStableFunc(all, func(a, b versions.Sight) int {
		return clusteredOrder(t, a.Chain, b.Chain, a.Version.Row, b.Version.Row)
	})
	rows := make([]solve.Row, 0, len(all))
	found := map[string]bool{}
	for _, s := range all {
		if views.once != nil && views.looksUp(t, s.Version.Row) {
			if tuple, null := e.Store.KeyOf(t.Def, views.once, s.Version.Row); !null {
				if found[tuple] {
					continue
				}
				found[tuple] = true
			}
		}
		rows = append(rows, s.Version.Row)
	}
	return rows
}

// seeEntries returns what a view of uncommitted data sees by a secondary index.
func (e *engine) seeEntries(t *versions.Table, views *innodbViews) []versions.Sight {
	var all []versions.Sight
	for _, c := range t.Chains {
		ver := views.view.Version(c)
		if slices.Contains(e.pending[c], views.via) {
			// The index still has the entry of the version before, unless that
			// is marked deleted and its successor waits.
			marked := views.marked && e.pending[c][0] == views.via
			if ver = nil; views.covering && !marked && len(c.Versions) > 1 {
				ver = &c.Versions[len(c.Versions)-2]
			}
		}
		if ver != nil && ver.Row != nil {
			all = append(all, versions.Sight{Chain: c, Version: ver})
		}
	}
	return all
}

func clusteredOrder(t *versions.Table, a, b *versions.Chain, ra, rb solve.Row) int {
	if t.Clustered != nil {
		if d := versions.CompareKey(t.Clustered, ra, rb); d != 0 {
			return d
		}
	}
	return cmp.Compare(a.ID, b.ID)
}

func (v *innodbViews) looksUp(t *versions.Table, row solve.Row) bool {
	if v.points == nil {
		return true
	}
	truth, _, err := v.e.Solver.Where(v.points, t.Def, row, v)
	return err == nil && truth == sqlvalue.True
}

// Table implements solve.Views.
func (v *innodbViews) Table(name string) (*solve.Table, []solve.Row, error) {
	t := v.e.Table(name)
	if t == nil {
		return nil, nil, &solve.SQLError{Code: 1146, Message: fmt.Sprintf("Table '%s' doesn't exist", name)}
	}
	if t == v.only {
		return t.Def, v.rows, nil
	}
	if v.asked != nil && !v.joined[t] {
		return t.Def, v.asked.table(t, v), nil
	}
	return t.Def, v.e.snapshotRows(t, v), nil
}

// insertionOrder puts the rows of tables without a clustered key into the order
// in which the set-up inserted them, which is that of their hidden row ids.
// They were read back in the order of whatever index covers them.
func (r *paths) insertionOrder() {
	for _, t := range r.Store.Tables {
		if t.Clustered != nil || len(t.Def.Keys) == 0 {
			continue
		}
		var rows []solve.Row
		for _, l := range r.Case.Init {
			s, ok := l.Stmt.(*ast.InsertStmt)
			if !ok || s.Select != nil {
				continue
			}
			if name := stmt.SoleTable(s.Table); name == nil || r.Table(name.Name.O) != t {
				continue
			}
			add, err := r.Solver.Insert(s, t.Def, &mvcc.Stored{Store: &r.Store, View: versions.View{Tick: versions.Latest}})
			if err != nil {
				break // INSERT IGNORE adjusts values: keep the order as read
			}
			rows = append(rows, add...)
		}
		if len(rows) != len(t.Chains) {
			continue
		}
		left, sorted := slices.Clone(t.Chains), make([]*versions.Chain, 0, len(rows))
		for _, row := range rows {
			k := slices.IndexFunc(left, func(c *versions.Chain) bool { return versions.EqualRows(c.Versions[0].Row, row) })
			if k < 0 {
				break
			}
			sorted = append(sorted, left[k])
			left = slices.Delete(left, k, k+1)
		}
		if len(left) > 0 {
			continue
		}
		t.Chains = sorted
		for i, c := range sorted {
			c.ID = r.Store.NextRow + i + 1
		}
		r.Store.NextRow += len(sorted)
	}
}

// finishInnoDB rolls back what is still open, as the harness did, and compares
// the final state.
func (e *engine) finishInnoDB() (*mvcc.Difference, error) {
	for _, t := range e.OpenTxns(nil) {
		e.rollbackInnoDB(e.Session(t.Session), t)
	}
	if e.Store.Err != nil {
		return nil, mvcc.LossOf("key", e.Store.Err)
	}
	return e.Final(func(t *versions.Table) []solve.Row {
		return e.snapshotRows(t, &innodbViews{view: versions.View{Tick: versions.Latest}})
	})
}
