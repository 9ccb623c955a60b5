package innodb

import (
	"maps"
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

// othersNow returns the open transactions of other sessions, and what they may have locked
// of a table, if it is not nil. One that ended while the statement ran counts as open.
func (x *running) othersNow(t *versions.Table) []other {
	e := x.e
	open := e.OpenTxns(x.tx)
	for _, n := range e.sessionNumbers() {
		if w := e.running[n]; w.auto && w != x {
			open = append(open, w.tx)
		}
	}
	out := make([]other, 0, len(open))
	for _, tx := range open {
		o := other{tx: tx}
		for _, i := range e.stmtsOf(tx) {
			if t != nil {
				if at, some := x.reachOf(t, tx, i); some {
					o.reached = append(o.reached, at)
				}
			}
		}
		out = append(out, o)
	}
	for j := range e.History.Stmts {
		st := &e.History.Stmts[j]
		if st.Session == x.st.Session || !x.runsMeanwhile(st) {
			continue
		}
		k := slices.IndexFunc(out, func(o other) bool { return o.tx.Session == st.Session })
		if k < 0 {
			k = len(out)
			out = append(out, other{tx: &versions.Txn{Session: st.Session, Level: e.History.Levels[st.Session]}})
		}
		out[k].moving = true
	}
	return out
}

// stmtsOf returns the statements of an open transaction that were sent so far.
func (e *engine) stmtsOf(tx *versions.Txn) []int {
	var out []int
	for j := range e.History.Stmts {
		if e.History.Stmts[j].Session == tx.Session && e.started[j] >= tx.Begin && e.started[j] > 0 {
			out = append(out, j)
		}
	}
	return out
}

// runsMeanwhile reports whether a statement of another session may have done something while
// this one ran: it did not wait all the time, up to what was sent next.
func (x *running) runsMeanwhile(st *history.Stmt) bool {
	own := x.st
	if st.Submit > own.Submit && (own.Return != 0 && st.Submit > own.Return) || st.Return != 0 && st.Return < own.Submit {
		return false
	}
	var next history.Tick
	for j := range x.e.History.Stmts {
		if at := x.e.History.Stmts[j].Submit; at > own.Submit && (next == 0 || at < next) {
			next = at
		}
	}
	beyond := func(t history.Tick) bool { return t == 0 || next != 0 && t > next }
	return !beyond(st.Return) || !slices.ContainsFunc(st.Waits, func(w history.Wait) bool { return w.From < own.Submit && beyond(w.Until) })
}

// standingOf says what is known of a record of the statement's only table, others being who
// may have locked it.
func (x *running) standingOf(t *versions.Table, c *versions.Chain, others []other) standing {
	if x.waited {
		return isUnsure // nor is it known when the row was met
	}
	if onlyClustered(t) && len(c.Versions) > 0 && c.Last().Txn == x.tx {
		return isFree // its own lock on the record is the only one that there can be
	}
	at := isFree
	for i := range others {
		switch o := &others[i]; {
		case !o.moving && x.surelyHeld(t, c, o.tx):
			return isTaken
		case o.moving || x.mayBeHeld(t, c, o):
			at = isUnsure
		}
	}
	return at
}

// onlyClustered reports whether a table has no other index than the clustered one, so
// that all who lock a row meet at its record.
func onlyClustered(t *versions.Table) bool {
	for i := range t.Def.Keys {
		if &t.Def.Keys[i] != t.Clustered {
			return false
		}
	}
	return true
}

// surelyHeld reports whether another transaction surely holds a lock on a record that
// stands against the one that the statement wants: on the clustered record, which all
// come to but a share lock that the entry of another index is enough for.
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (x *running) surelyHeld(t *versions.Table, c *versions.Chain, o *versions.Txn) bool {
	e := x.e
	share, need := x.kind == stmt.SelectForShare, columnsOf(t.Def, x.node.(*ast.SelectStmt))
	aside := share && heldByIndexes(t, need)
	if e.writer(c, x.tx) == o {
		if w := e.running[o.Session]; w != nil && c.Last().Seq > w.seq {
			return false // how far a statement has come that waits is not certain
		}
		newest, before := c.Last(), e.committed(c, x.tx)
		if before == nil || before.Row == nil || newest.Row == nil {
			return true
		}
		return !versions.EqualRows(before.Row, newest.Row) && (!aside || mvcc.Changes(before.Row, newest.Row, need))
	}
	return slices.ContainsFunc(e.of(o).predicates, func(h *predicateLock) bool {
		switch {
		case !slices.Contains(h.rows, c), aside:
			return false
		case h.kind == stmt.SelectForShare:
			return !share && !heldByIndexes(t, h.columns)
		}
		return h.kind == stmt.SelectForUpdate
	})
}

// heldByIndexes reports whether secondary indexes hold all of the columns, one of them or
// several that are merged; nil stands for every column. Then a share lock on their entries
// may do.
// https://dev.mysql.com/doc/refman/en/index-merge-optimization.html#index-merge-intersection
func heldByIndexes(t *versions.Table, need map[int]bool) bool {
	held, some := map[int]bool{}, false
	for i := range t.Def.Keys {
		if k := &t.Def.Keys[i]; k != t.Clustered {
			some = true
			maps.Copy(held, entryColumns(t, k))
		}
	}
	for c := range t.Def.Columns {
		if (need == nil || need[c]) && !held[c] {
			return false
		}
	}
	return some
}

// mayBeHeld reports whether another transaction may hold a lock on a record, or on an
// entry of it in any index, that stands against the one that the statement wants.
func (x *running) mayBeHeld(t *versions.Table, c *versions.Chain, o *other) bool {
	e := x.e
	mode := x.mode()
	if e.writer(c, x.tx) == o.tx || e.locks.Blocked(o.tx, c, mode) || e.uncertainLocks.Blocked(o.tx, c, mode) {
		return true
	}
	return slices.ContainsFunc(o.reached, func(r reach) bool { return r.all || x.everTrue(t, c, r.parts) })
}

// reachOf says what a statement of another transaction may have locked of a table, so that
// it stands against the lock that this one wants; some is false for nothing. At REPEATABLE
// READ and above it keeps the locks of all that it passes, below only those of what
// matches, but also of what lies behind a range, or what an index condition left out.
// https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html
func (x *running) reachOf(t *versions.Table, tx *versions.Txn, i int) (at reach, some bool) {
	e := x.e
	st := &e.History.Stmts[i]
	node := e.Case.Steps[st.Line].Stmt
	kind := mvcc.KindOf(node)
	every := reach{all: true}
	switch {
	case kind.Control(), !e.names(node, t), mvcc.RefusedAlone(st, node):
		return reach{}, false
	case mvcc.HasSubquery(node):
		return every, true
	case kind == stmt.Select && (tx.Auto || tx.Rules.Of(rules.ConsistentRead) != rules.SharedLock):
		return reach{}, false
	case (kind == stmt.Select || kind == stmt.SelectForShare) && x.kind == stmt.SelectForShare:
		return reach{}, false // share locks do not exclude each other
	case st.Return == 0 || mvcc.ErrCode(st) != 0 || e.running[st.Session] != nil && e.running[st.Session].i == i:
		return every, true
	}
	if ins, ok := node.(*ast.InsertStmt); ok {
		// It locks the rows that are in its way; its own are no question.
		return every, ins.Select != nil || ins.IsReplace || ins.IgnoreErr || len(ins.OnDuplicate) > 0 || len(st.Waits) > 0 || !onlyClustered(t)
	}
	of := stmt.Of(node)
	where := of.Where
	u, ok := node.(*ast.UpdateStmt)
	if stmt.SoleTable(of.From) == nil || ok && assignsUnique(u, t) {
		return every, true
	}
	if key := lookedUpBy(t, where, kind); key != nil {
		return reach{parts: key}, true
	}
	switch {
	case tx.Level >= corpus.RepeatableRead, where == nil, len(st.Waits) > 0, !onlyClustered(t),
		t.Clustered != nil && mvcc.ColumnsIn(t.Def, where)[t.Clustered.Columns[0]]:
		return every, true
	}
	return reach{parts: mvcc.Conjuncts(where, nil)}, true
}

// names reports whether a statement names a table.
func (e *engine) names(node ast.StmtNode, t *versions.Table) bool {
	f := &mvcc.TableFinder{}
	node.Accept(f)
	return slices.ContainsFunc(f.Names, func(n string) bool { return e.Table(n) == t })
}

// lookedUpBy returns the parts of a condition that fix all columns of a unique key of
// integers, nil if none do: then no record is met but that of this key. A write may still
// go by another index than a secondary one.
// https://dev.mysql.com/doc/refman/en/explain-output.html#jointype_const
func lookedUpBy(t *versions.Table, where ast.ExprNode, kind stmt.Kind) []ast.ExprNode {
	parts := mvcc.Conjuncts(where, nil)
keys:
	for i := range t.Def.Keys {
		k := &t.Def.Keys[i]
		if !k.Unique && !k.Primary || kind.Writes() && k != t.Clustered {
			continue
		}
		var fixed []ast.ExprNode
		for _, col := range k.Columns {
			at := slices.IndexFunc(parts, func(p ast.ExprNode) bool { return equalsInteger(t, p, col) })
			if at < 0 {
				continue keys
			}
			fixed = append(fixed, parts[at])
		}
		return fixed
	}
	return nil
}

// equalsInteger reports whether a condition says that a column of integers is a literal
// one.
func equalsInteger(t *versions.Table, p ast.ExprNode, col int) bool {
	if t.Def.Columns[col].Type.Class != solve.IntClass {
		return false
	}
	b, ok := p.(*ast.BinaryOperationExpr)
	if !ok || !pins(p, t, col, false) {
		return false
	}
	_, left := mvcc.SmallLiteral(b.L)
	_, right := mvcc.SmallLiteral(b.R)
	return left || right
}

// everTrue reports whether conditions hold together for any version of a record, those
// that were taken back included, or fail for one.
func (x *running) everTrue(t *versions.Table, c *versions.Chain, parts []ast.ExprNode) bool {
	holds := func(row solve.Row) bool {
		return row != nil && !slices.ContainsFunc(parts, func(p ast.ExprNode) bool {
			truth, _, err := x.e.Solver.Where(p, t.Def, row, x.views(nil, nil))
			return err == nil && truth != sqlvalue.True
		})
	}
	return slices.ContainsFunc(c.Versions, func(v versions.Version) bool { return holds(v.Row) }) ||
		slices.ContainsFunc(x.e.Store.Undone, func(u versions.Undone) bool { return u.Chain == c && holds(u.Version.Row) })
}
