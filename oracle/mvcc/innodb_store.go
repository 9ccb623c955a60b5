package mvcc

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// In InnoDB a row is its clustered key: a change of that key delete-marks one
// record and inserts another. A version also carries the number of the logical
// row, which a change of key keeps, so that the promise (it is one row) and the
// practice (there are two) can both be read off the same chains.

// lock is an explicit lock on a record; a record with an uncommitted version is
// locked by its writer without one.
type lock struct {
	tx        *Txn
	exclusive bool
}

func (e *engine) lock(c *Chain, tx *Txn, exclusive bool) {
	for _, l := range e.locks[c] {
		if l.tx == tx && (l.exclusive || !exclusive) {
			return
		}
	}
	e.locks[c] = append(e.locks[c], lock{tx, exclusive})
}

// holder returns an open transaction other than tx whose lock on a record
// stands against the wanted one, nil if none is known.
func (e *engine) holder(c *Chain, tx *Txn, exclusive bool) *Txn {
	if w := e.writer(c, tx); w != nil {
		return w
	}
	for _, l := range e.locks[c] {
		if l.tx != tx && l.tx.Ended == 0 && (l.exclusive || exclusive) {
			return l.tx
		}
	}
	return nil
}

// doubt notes a lock that a server may or may not keep.
func (e *engine) doubt(c *Chain, tx *Txn, exclusive bool) {
	e.doubtful[c] = append(e.doubtful[c], lock{tx, exclusive})
}

// doubtfulHolder is holder for locks that may have been kept.
func (e *engine) doubtfulHolder(c *Chain, tx *Txn, exclusive bool) *Txn {
	for _, l := range e.doubtful[c] {
		if l.tx != tx && l.tx.Ended == 0 && (l.exclusive || exclusive) {
			return l.tx
		}
	}
	return nil
}

// queued returns a transaction that waits for a lock on a record which stands
// against the wanted one, nil if there is none: who asks later waits behind it,
// unless it holds a lock there itself. That the two meet is not certain, as each
// may go by another index.
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_INNODB_LOCK_SYS.html
func (e *engine) queued(c *Chain, tx *Txn, exclusive bool) *Txn {
	if slices.ContainsFunc(e.locks[c], func(l lock) bool { return l.tx == tx }) || len(c.Versions) > 0 && c.last().Txn == tx {
		return nil
	}
	for _, n := range e.sessionNumbers() {
		if w := e.running[n]; w.at == c && w.tx != tx && (w.exclusive || exclusive) {
			return w.tx
		}
	}
	return nil
}

// writer returns the open transaction other than tx that wrote the newest
// version of a record.
func (e *engine) writer(c *Chain, tx *Txn) *Txn {
	if len(c.Versions) == 0 {
		return nil
	}
	if w := c.last().Txn; w != nil && w != tx && w.Ended == 0 {
		return w
	}
	return nil
}

// committed returns the newest version of a record that is committed or tx's
// own, nil if there is none.
func (e *engine) committed(c *Chain, tx *Txn) *Version {
	return View{Tick: latest, Own: tx}.version(c)
}

func (e *engine) write(t *Table, c *Chain, row solve.Row, tx *Txn, rid int) {
	e.nextSeq++
	v := Version{Txn: tx, Row: row, rid: rid, seq: e.nextSeq}
	if row != nil {
		v.Key = e.store.clusteredKeyOf(t, row)
	} else if len(c.Versions) > 0 {
		v.Key = c.last().Key
	}
	e.store.push(c, v)
}

// insert adds a row to the record of its key, which may hold deleted versions.
func (e *engine) insert(t *Table, row solve.Row, tx *Txn, rid int) *Chain {
	if rid == 0 {
		e.nextRID++
		rid = e.nextRID
	}
	var c *Chain
	if t.Clustered != nil {
		c = e.recordOf(t, e.store.clusteredKeyOf(t, row))
	}
	if c == nil {
		e.store.nextRow++
		c = &Chain{ID: e.store.nextRow}
		t.Chains = append(t.Chains, c)
	}
	e.write(t, c, row, tx, rid)
	return c
}

// recordOf returns the record of a clustered key, deleted ones included.
func (e *engine) recordOf(t *Table, key string) *Chain {
	for _, c := range t.Chains {
		if c.last().Key == key {
			return c
		}
	}
	return nil
}

func (e *engine) undo(tx *Txn, n int) { e.store.undo(tx, n) }

// snapshotRows returns what a consistent read sees of a table, in the order of
// the clustered index.
func (e *engine) snapshotRows(t *Table, views *innodbViews, rule rules.Variant) []solve.Row {
	v := views.view
	type seen struct {
		c   *Chain
		ver *Version
	}
	var all []seen
	newest := make(map[int]int, len(t.Chains))
	for _, c := range t.Chains {
		ver := v.version(c)
		if views.via != nil && slices.Contains(e.pending[c], views.via) {
			// The index still has the entry of the version before, unless that
			// is marked deleted and its successor waits.
			marked := views.marked && e.pending[c][0] == views.via
			if ver = nil; views.covering && !marked && len(c.Versions) > 1 {
				ver = &c.Versions[len(c.Versions)-2]
			}
		}
		if ver == nil {
			continue
		}
		all = append(all, seen{c, ver})
		newest[ver.rid] = max(newest[ver.rid], ver.seq)
	}
	all = slices.DeleteFunc(all, func(s seen) bool {
		return s.ver.Row == nil || rule == rules.SameRow && !v.Uncommitted && newest[s.ver.rid] > s.ver.seq
	})
	slices.SortStableFunc(all, func(a, b seen) int { return clusteredOrder(t, a.c, b.c, a.ver.Row, b.ver.Row) })
	rows := make([]solve.Row, 0, len(all))
	found := map[string]bool{}
	for _, s := range all {
		if views.once != nil && views.looksUp(t, s.ver.Row) {
			if tuple, null := e.store.keyOf(t.Def, views.once, s.ver.Row); !null {
				if found[tuple] {
					continue
				}
				found[tuple] = true
			}
		}
		rows = append(rows, s.ver.Row)
	}
	return rows
}

func clusteredOrder(t *Table, a, b *Chain, ra, rb solve.Row) int {
	if t.Clustered != nil {
		if d := compareKey(t.Clustered, ra, rb); d != 0 {
			return d
		}
	}
	return cmp.Compare(a.ID, b.ID)
}

// innodbViews gives the solver what one view sees; rows of a table under scan
// can be put in the place of what the view sees of it.
type innodbViews struct {
	e    *engine
	view View
	rule rules.Variant
	only *Table
	rows []solve.Row
	// via is the secondary index that a read of uncommitted data goes by;
	// covering says that it reads nothing else, marked that a statement which
	// waits in this index has marked the old entry deleted.
	via              *solve.Key
	covering, marked bool
	// once is a unique secondary index whose look-ups end at the first row that
	// they find, although two records of one row may be visible; points is the condition
	// on which it looks up, nil for any.
	once   *solve.Key
	points ast.ExprNode
	// asked answers the subqueries of a statement that locks; see running. joined are
	// the tables that it locks itself, if there are several.
	asked  *asked
	joined map[*Table]bool
}

func (v *innodbViews) looksUp(t *Table, row solve.Row) bool {
	if v.points == nil {
		return true
	}
	truth, _, err := v.e.solver.Where(v.points, t.Def, row, v)
	return err == nil && truth == sqlvalue.True
}

// Table implements solve.Views.
func (v *innodbViews) Table(name string) (*solve.Table, []solve.Row, error) {
	t := v.e.table(name)
	if t == nil {
		return nil, nil, &solve.SQLError{Code: 1146, Message: fmt.Sprintf("Table '%s' doesn't exist", name)}
	}
	if t == v.only {
		return t.Def, v.rows, nil
	}
	if v.asked != nil && !v.joined[t] {
		return t.Def, v.asked.table(t, v), nil
	}
	return t.Def, v.e.snapshotRows(t, v, v.rule), nil
}

// insertionOrder puts the rows of tables without a clustered key into the order
// in which the set-up inserted them, which is that of their hidden row ids.
// They were read back in the order of whatever index covers them.
func (r *Replay) insertionOrder() {
	for _, t := range r.store.Tables {
		if t.Clustered != nil || len(t.Def.Keys) == 0 {
			continue
		}
		var rows []solve.Row
		for _, l := range r.c.Init {
			s, ok := l.Stmt.(*ast.InsertStmt)
			if !ok || s.Select != nil {
				continue
			}
			if name := stmt.SoleTable(s.Table); name == nil || r.table(name.Name.O) != t {
				continue
			}
			add, err := r.solver.Insert(s, t.Def, &stored{&r.store, View{Tick: latest}})
			if err != nil {
				break // INSERT IGNORE adjusts values: keep the order as read
			}
			rows = append(rows, add...)
		}
		if len(rows) != len(t.Chains) {
			continue
		}
		left, sorted := slices.Clone(t.Chains), make([]*Chain, 0, len(rows))
		for _, row := range rows {
			k := slices.IndexFunc(left, func(c *Chain) bool { return equalRows(c.Versions[0].Row, row) })
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
			c.ID = r.store.nextRow + i + 1
		}
		r.store.nextRow += len(sorted)
	}
}

// finishInnoDB rolls back what is still open, as the harness did, and compares
// the final state.
func (e *engine) finishInnoDB() (*Difference, error) {
	for _, t := range e.openTxns(nil) {
		e.rollbackInnoDB(e.session(t.Session), t)
	}
	if e.store.err != nil {
		return nil, lossOf("key", e.store.err)
	}
	if e.h.End == history.Lost || len(e.h.Final) == 0 {
		return nil, nil
	}
	for i := range e.h.Final {
		obs := &e.h.Final[i]
		t := e.table(obs.Name)
		if t == nil {
			return nil, &Loss{Slug: "table in the end that no line creates", Detail: obs.Name}
		}
		rows := e.snapshotRows(t, &innodbViews{view: View{Tick: latest}}, rules.SameRow)
		w := make([]string, len(rows))
		for j := range rows {
			w[j] = FormatRow(rows[j])
		}
		g := cellTexts(obs.Rows)
		slices.Sort(w)
		slices.Sort(g)
		if slices.Equal(w, g) {
			continue
		}
		d := &Difference{Stmt: -1, Kind: "wrong-final-state", Expected: listRows(w, true), Actual: listRows(g, true),
			Reason: fmt.Sprintf("table %s does not hold what the committed transactions wrote", t.Def.Name)}
		e.nameFinal(d, t, g)
		return d, nil
	}
	return nil, nil
}

// equalIn reports whether two rows are equal in every column of a key.
func equalIn(k *solve.Key, a, b []sqlvalue.Value) bool {
	for _, c := range k.Columns {
		if a[c] != b[c] {
			return false
		}
	}
	return true
}
