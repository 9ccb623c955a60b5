package innodb

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// claims returns the locks that a statement surely took, nil if that is not
// certain: one table, no LIMIT, no grouping, no subquery.
func (x *running) claims() *predicateLock {
	gaps := x.tx.Level == corpus.RepeatableRead || x.tx.Level == corpus.Serializable
	v := stmt.Of(x.node)
	if !mvcc.LocksAllItMeets(v, x.kind, x.node) {
		return nil
	}
	switch name := stmt.SoleTable(v.From); {
	case name == nil:
		return nil
	case v.Kind.Reads():
		t := x.e.Table(name.Name.O)
		return &predicateLock{table: t, kind: x.kind, where: v.Where, rows: x.p.Read, columns: columnsOf(t.Def, x.node.(*ast.SelectStmt)), gaps: gaps}
	default:
		return &predicateLock{table: x.e.Table(name.Name.O), kind: x.kind, where: v.Where, gaps: gaps}
	}
}

// columnsOf returns the columns that a query mentions, nil for all.
func columnsOf(t *solve.Table, s *ast.SelectStmt) map[int]bool {
	for _, f := range s.Fields.Fields {
		if f.WildCard != nil {
			return nil
		}
	}
	return mvcc.ColumnsIn(t, s)
}

// missingWaitInnoDB reports a statement that returned without waiting although
// another open transaction surely held a lock that it surely needed, or whose wait
// ended before that transaction did. Then it notes what the statement itself holds.
func (e *engine) missingWaitInnoDB(x *running) (*mvcc.Difference, error) {
	if x.kind == stmt.Select || x.p == nil {
		return nil, nil
	}
	if stmt.Of(x.node).Lock.Wait == stmt.Skips {
		x.claimSkipping()
		return nil, nil
	}
	if d := x.passedTaken(); d != nil {
		return d, nil
	}
	x.claimCut()
	own := x.claims()
	var d *mvcc.Difference
	for _, o := range e.OpenTxns(x.tx) {
		what, err := e.owedTo(x, own, o)
		if err != nil {
			return nil, err
		}
		if what == "" {
			continue
		}
		did, lacks := "returned at once: ", "did not wait"
		if x.waited {
			did, lacks = "waited, but not for its end: ", "went on"
		}
		d = &mvcc.Difference{Stmt: x.i, Kind: "missing-wait",
			Expected: fmt.Sprintf("waits for tx%d", o.Session), Actual: did + history.Describe(x.kind, &x.st.Result),
			Reason: fmt.Sprintf("tx%d %s and had not ended, yet tx%d's %s, which needs that lock, %s", o.Session, what, x.st.Session, x.kind, lacks)}
		break
	}
	if own != nil {
		x.holdsMatching(own)
	}
	return d, nil
}

// owedTo says what another open transaction did that the statement had to wait for until its
// end, or returns "". When a statement that has waited met which row is not known, so that only
// what it acted on tells; with another answer than predicted it may have passed the row.
func (e *engine) owedTo(x *running, own *predicateLock, o *versions.Txn) (string, error) {
	if !x.waited {
		if what, err := e.barrier(x, own, o); what != "" || err != nil {
			return what, err
		}
	}
	if own == nil || x.waited && e.Compare(x.i, x.kind, x.p) != nil {
		return "", nil
	}
	return e.passedHeld(x, own, o), nil
}

// barrier says what another transaction did that the statement had to wait
// for, or returns "".
func (e *engine) barrier(x *running, own *predicateLock, o *versions.Txn) (string, error) {
	if own != nil {
		if what, err := e.rowBarrier(x, own, o); what != "" || err != nil {
			return what, err
		}
	}
	if x.collided == o {
		return "wrote the same tuple of a unique key", nil
	}
	return e.predicateBarrier(x, o)
}

// rowBarrier looks for a row that the other transaction holds and the
// statement matches.
func (e *engine) rowBarrier(x *running, own *predicateLock, o *versions.Txn) (string, error) {
	t := own.table
	secondary := slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return t.Clustered == nil || !k.Primary })
	views := x.views(nil, nil)
	match := func(row solve.Row) (bool, error) {
		truth, _, err := e.Solver.Where(own.where, t.Def, row, views)
		if err != nil {
			_, err = mvcc.SQLErrorOf(err)
			return false, err
		}
		return truth == sqlvalue.True, nil
	}
	for _, c := range t.Chains {
		if e.writer(c, x.tx) == o {
			if s := e.running[o.Session]; s != nil && c.Last().Seq > s.seq {
				// Locks of a statement that still waits are not claimed.
				continue
			}
			newest, before := c.Last(), e.committed(c, x.tx)
			if before != nil && before.Row != nil && newest.Row != nil && !mvcc.Changes(before.Row, newest.Row, own.columns) {
				// Perhaps only an entry of an index is needed, which is as it was.
				if secondary && own.kind == stmt.SelectForShare || versions.EqualRows(before.Row, newest.Row) {
					continue
				}
			}
			row := newest.Row
			if row == nil {
				if before == nil || before.Row == nil || x.kind == stmt.Update && x.tx.Rules.Of(rules.LockedRow) == rules.PassUncommitted {
					continue
				}
				row = before.Row
			}
			ok, err := match(row)
			if err != nil {
				return "", err
			}
			if ok && x.kind == stmt.Update && !own.gaps {
				// It may have judged the committed version and passed the row.
				if before == nil || before.Row == nil {
					ok = false
				} else if ok, err = match(before.Row); err != nil {
					return "", err
				}
			}
			if ok {
				return "changed a row", nil
			}
			continue
		}
		v := e.committed(c, x.tx)
		if v == nil || v.Row == nil || v.Txn == x.tx && own.kind != stmt.SelectForShare {
			// A row that the statement wrote is judged by what it changed.
			if !e.wroteOver(x, c) {
				continue
			}
		}
		for _, h := range e.of(o).predicates {
			if !slices.Contains(h.rows, c) {
				continue
			}
			switch {
			case h.undone: // see passedHeld
				continue
			case h.kind == stmt.SelectForUpdate && own.kind == stmt.SelectForShare && secondary:
				continue
			case h.kind == stmt.SelectForShare && (own.kind == stmt.SelectForShare || own.kind == stmt.SelectForUpdate):
				continue
			case h.kind == stmt.SelectForShare && !e.changedOver(x, c, h.columns):
				continue
			}
			if slices.Contains(x.p.Read, c) {
				return "returned a row to a locking read", nil
			}
		}
	}
	return "", nil
}

// passedHeld says how another transaction locked a row for itself on which the statement acted,
// or returns "": it returned the row FOR UPDATE, or changed it and took that back by ROLLBACK TO
// SAVEPOINT, which keeps the lock. It holds such a row until its end, so that a statement which
// has waited had to wait on. A share lock may be on an entry of an index instead.
// https://dev.mysql.com/doc/refman/en/savepoint.html
func (e *engine) passedHeld(x *running, own *predicateLock, o *versions.Txn) string {
	secondary := slices.ContainsFunc(own.table.Def.Keys, func(k solve.Key) bool { return own.table.Clustered == nil || !k.Primary })
	if own.kind == stmt.SelectForShare && secondary {
		return ""
	}
	for _, h := range e.of(o).predicates {
		held := h.kind == stmt.SelectForUpdate && slices.ContainsFunc(h.rows, func(c *versions.Chain) bool {
			return slices.Contains(x.p.Read, c) && e.writer(c, x.tx) != o && !e.hadBefore(x, c)
		})
		switch {
		case held && h.undone:
			return "changed a row, took that back by ROLLBACK TO SAVEPOINT, which keeps the lock,"
		case held:
			return "returned a row to a locking read"
		}
	}
	return ""
}

// hadBefore reports whether an earlier statement of the same transaction wrote the record or
// locked it: then the other's lock was gone by that time, and that statement was the first to pass.
func (e *engine) hadBefore(x *running, c *versions.Chain) bool {
	return slices.Contains(x.tx.Writes[:x.mark], c) ||
		slices.ContainsFunc(e.of(x.tx).predicates, func(l *predicateLock) bool { return slices.Contains(l.rows, c) })
}

// hadToWait corrects what a difference says was expected of a statement that did not
// wait although a row that it would act on is another open transaction's: what it
// finds without waiting, no rule promises.
func (e *engine) hadToWait(d *mvcc.Difference, x *running) {
	if d.Kind != "wrong-rows" && d.Kind != "wrong-count" {
		return
	}
	if o := e.overlooked(x); o != nil {
		d.Expected, d.Actual = fmt.Sprintf("waits for tx%d", o.Session), "returned at once: "+history.Describe(x.kind, &x.st.Result)
		d.Reason = fmt.Sprintf("tx%d had changed a row and had not ended, and tx%d's %s, which has to judge that row, did not wait", o.Session, x.st.Session, x.kind)
	}
}

// overlooked returns the open transaction of another session that wrote a row which a
// statement acts on without having waited, nil if there is none.
func (e *engine) overlooked(x *running) *versions.Txn {
	if x.waited || x.kind == stmt.Select {
		return nil
	}
	for _, c := range x.p.Read {
		if o := e.writer(c, x.tx); o != nil && o != x.tx && o.Session != x.st.Session {
			return o
		}
	}
	return nil
}

// unnamed reports whether nobody asks what a difference is called: the replay only
// says whether the history fits, and the name does not decide about what hadToWait
// puts in. Queries of several tables are answered again all the same, as that counts
// as work.
func (e *engine) unnamed(x *running) bool {
	s, ok := x.node.(*ast.SelectStmt)
	return ok && e.OnlyFits && stmt.SoleTable(s.From) != nil && !mvcc.HasSubquery(s) && e.overlooked(x) == nil
}

// wroteOver reports whether the statement wrote a version of a record.
func (e *engine) wroteOver(x *running, c *versions.Chain) bool {
	return slices.Contains(x.tx.Writes[x.mark:], c)
}

// changedOver reports whether the statement deleted a row or changed one of the
// columns.
func (e *engine) changedOver(x *running, c *versions.Chain, cols map[int]bool) bool {
	n := 0
	for _, w := range x.tx.Writes[x.mark:] {
		if w == c {
			n++
		}
	}
	if n == 0 || n >= len(c.Versions) {
		return false
	}
	before, after := c.Versions[len(c.Versions)-1-n].Row, c.Last().Row
	if before == nil {
		return false
	}
	return after == nil || mvcc.Changes(before, after, cols)
}

// predicateBarrier reports whether the statement changes the bag of rows that
// match a statement of another transaction which holds predicate locks.
func (e *engine) predicateBarrier(x *running, o *versions.Txn) (string, error) {
	if len(x.images) == 0 {
		return "", nil
	}
	for _, h := range e.of(o).predicates {
		if !h.gaps || h.table != x.table {
			continue
		}
		var left, came []string
		for _, im := range x.images {
			was, err := e.matchesPredicate(h, im.old)
			if err != nil {
				return "", err
			}
			is, err := e.matchesPredicate(h, im.new)
			if err != nil {
				return "", err
			}
			if was && !is {
				left = append(left, versions.FormatRow(im.old))
			}
			if is && !was {
				came = append(came, versions.FormatRow(im.new))
			}
		}
		slices.Sort(left)
		slices.Sort(came)
		if !slices.Equal(left, came) {
			return fmt.Sprintf("locked what matches its %s", h.kind), nil
		}
	}
	return "", nil
}

func (e *engine) matchesPredicate(h *predicateLock, row solve.Row) (bool, error) {
	if row == nil {
		return false, nil
	}
	truth, _, err := e.Solver.Where(h.where, h.table.Def, row, &innodbViews{e: e, view: versions.View{Tick: versions.Latest}})
	if err != nil {
		_, err = mvcc.SQLErrorOf(err)
		return false, err
	}
	return truth == sqlvalue.True, nil
}

// nameInnoDB refines a difference in rows: which wrong view yields the answer?
func (e *engine) nameInnoDB(d *mvcc.Difference, x *running) {
	if d.Kind != "wrong-rows" && d.Kind != "wrong-count" {
		return
	}
	for _, u := range e.RolledBack() {
		if e.WouldAnswer(x.node, mvcc.Lens{Store: e.Keeping(u), View: versions.View{Tick: x.st.Return, Own: x.tx}}, &x.st.Result) {
			d.Kind, d.Reason = "kept-rollback", fmt.Sprintf("tx%d's %s: it saw what a transaction had written that was rolled back", x.st.Session, x.kind)
			return
		}
	}
	s, ok := x.node.(*ast.SelectStmt)
	if !ok {
		for _, w := range e.Replay.CommittedTxns() {
			if e.WouldAnswer(x.node, mvcc.Lens{Store: &e.Store, View: versions.View{Tick: x.st.Return, Own: x.tx, WithoutTxn: w, ByKey: true}}, &x.st.Result) {
				d.Kind, d.Reason = "lost-commit", fmt.Sprintf("tx%d's %s: it did not see what a committed transaction had written", x.st.Session, x.kind)
				return
			}
		}
		return
	}
	answers := func(v versions.View) bool {
		v.ByKey = x.tx.Rules.Of(rules.KeyChange) == rules.DeleteInsert
		res, err := e.Solver.Select(s, &innodbViews{e: e, view: v})
		return err == nil && mvcc.SameRows(res.Rows, x.st.Result.Rows, res.TotalOrder)
	}
	type try struct {
		kind, reason string
		views        []versions.View
	}
	tries := []try{
		{"non-repeatable-read", "it saw what was committed after the transaction's snapshot", []versions.View{{Tick: x.start, Own: x.tx}, {Tick: versions.Latest, Own: x.tx}}},
		{"dirty-read", "it saw what another transaction had not committed", []versions.View{{Uncommitted: true, Own: x.tx}}},
		{"stale-read", "it saw an older state than the level allows", nil},
		{"lost-own-write", "it did not see the transaction's own writes", []versions.View{{Tick: max(x.tx.Snapshot, 1)}, {Tick: x.start}}},
	}
	// A transaction that has written nothing can have lost nothing: an older
	// state comes first.
	for t := x.start; t > 0; t-- {
		tries[2].views = append(tries[2].views, versions.View{Tick: t, Own: x.tx})
	}
	for _, t := range tries {
		if t.kind == "non-repeatable-read" && (x.kind != stmt.Select || x.tx.Rules.Of(rules.ConsistentRead) != rules.Snapshot) {
			continue
		}
		if slices.ContainsFunc(t.views, answers) {
			d.Kind, d.Reason = t.kind, fmt.Sprintf("tx%d's %s: %s", x.st.Session, x.kind, t.reason)
			return
		}
	}
}

// swallowsTimeout reports whether a write with IGNORE waited until its wait ended
// although no other session did anything meanwhile that could have ended it. Where
// IGNORE covers it, the time-out is then a warning, and the rows that it had not reached stay
// as they are.
// https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/inserting-loading-data/ignore
func (r *engine) swallowsTimeout(x *running) bool {
	n := len(x.st.Waits)
	if !r.Profile.Has(rules.IgnoresTimeout) || n == 0 || mvcc.ErrCode(x.st) != 0 || !stmt.Of(x.node).Ignore {
		return false
	}
	from := x.st.Waits[n-1].From
	for i := range r.History.Stmts {
		o := &r.History.Stmts[i]
		if o.Session == x.st.Session || o.Submit > x.st.Return || o.Return != 0 && o.Return < from {
			continue
		}
		if kind := mvcc.KindOf(r.Case.Steps[o.Line].Stmt); kind.Control() || kind == stmt.Other || !o.InTxn || mvcc.ErrCode(o) != 0 {
			return false
		}
	}
	return true
}
