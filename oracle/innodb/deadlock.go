package innodb

import (
	"iter"
	"maps"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// InnoDB picks a deadlock's victim by the number of its locks and row changes,
// which no history tells, so that the victim is read off. Its error counts as
// predicted where the cycle is proved: then nothing but the abort of a member
// could go on. An edge of the cycle comes from a lock that is surely held, from
// the server's list of holders, or from a wait that was seen while one other
// transaction only was open.
// https://dev.mysql.com/doc/refman/en/innodb-deadlock-detection.html

// expectVictims notes the deadlocks' victims of a phase whose cycle is proved,
// before anything is released.
func (e *engine) expectVictims(items []item) {
	for _, it := range items {
		st := &e.History.Stmts[it.stmt]
		if x := e.running[st.Session]; it.abort && mvcc.ErrCode(st) == mvcc.ErrDeadlock && x != nil && x.i == it.stmt {
			e.Steps[it.stmt].Expected = e.cornered(x)
		}
	}
}

// cornered returns the prediction for a deadlock's victim: its error, if the
// cycle that it was on is proved, else nil.
func (e *engine) cornered(x *running) *mvcc.Prediction {
	if e.loose {
		return nil
	}
	on := map[*versions.Txn]bool{}
	var leads func(u *running) bool
	leads = func(u *running) bool {
		if u == nil || on[u.tx] {
			return false
		}
		on[u.tx] = true
		return slices.ContainsFunc(e.waitsFor(u, x.st.Return), func(o *versions.Txn) bool {
			return o == x.tx || leads(e.running[o.Session])
		})
	}
	if !leads(x) {
		return nil
	}
	return &mvcc.Prediction{Matched: -1, Changed: -1, Err: mvcc.ErrDeadlock}
}

// uninvolved reports an abort by a deadlock that the statement cannot have been
// part of: when it was sent its transaction held no lock, and from then on
// nothing else happened that could have made another session wait for it.
func (e *engine) uninvolved(x *running) *mvcc.Difference {
	if len(x.st.Waits) > 0 || len(x.tx.Writes) > 0 || x.e.of(x.tx).gaveUp {
		return nil
	}
	for _, i := range x.tx.Stmts {
		if e.Steps[i].Kind != stmt.Select || x.tx.Rules.Of(rules.ConsistentRead) == rules.SharedLock {
			return nil
		}
	}
	for i := range e.History.Stmts {
		o := &e.History.Stmts[i]
		if waitAt(o, x.st.Submit) >= 0 && e.entersIndex(e.Case.Steps[o.Line].Stmt) {
			// The gap locks of a statement are granted beside an insert that waits for
			// its gap, and make it wait for them, too.
			// https://dev.mysql.com/doc/refman/en/innodb-locking.html#innodb-gap-locks
			return nil
		}
		if during := func(t history.Tick) bool { return t > x.st.Submit && t < x.st.Return }; during(o.Submit) || during(o.Return) ||
			slices.ContainsFunc(o.Waits, func(w history.Wait) bool { return during(w.From) || during(w.Until) }) {
			return nil
		}
	}
	return &mvcc.Difference{Stmt: x.i, Kind: "unjustified-abort", Expected: "no error", Actual: x.st.Result.Err.String(),
		Reason: "its transaction held no lock before, so that nobody waited for it and it was on no cycle"}
}

// entersIndex reports whether a statement makes new entries in an index.
func (e *engine) entersIndex(n ast.StmtNode) bool {
	u, ok := n.(*ast.UpdateStmt)
	if !ok {
		return mvcc.KindOf(n) == stmt.Insert
	}
	name := stmt.SoleTable(u.TableRefs)
	if name == nil {
		return true
	}
	t := e.Table(name.Name.O)
	return slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return assigns(u, t, &k) })
}

// waitAt returns which of a statement's waits, for a row lock, went on at a moment; -1
// if none.
func waitAt(st *history.Stmt, at history.Tick) int {
	return slices.IndexFunc(st.Waits, func(w history.Wait) bool {
		return w.Kind == history.RowLock && w.From < at && (w.Until == 0 || w.Until >= at)
	})
}

// waitsFor returns transactions for which a statement surely waited at a moment.
func (e *engine) waitsFor(u *running, at history.Tick) []*versions.Txn {
	out := slices.Clone(e.needs[u.i])
	if u.holder != nil && u.sure {
		out = append(out, u.holder)
	}
	k := waitAt(u.st, at)
	if k < 0 {
		return out
	}
	others := e.OpenTxns(u.tx)
	for _, x := range e.running {
		if x.auto && x != u {
			others = append(others, x.tx)
		}
	}
	for _, o := range others {
		if len(others) == 1 || slices.Contains(u.st.Waits[k].Holders, o.Session) {
			out = append(out, o)
		}
	}
	return out
}

// probe returns the transactions that hold a lock which the statement surely
// needs, as if it were sent now. The statement must not have begun; the world
// stays as it is.
func (x *running) probe() ([]*versions.Txn, error) {
	e, try := x.e, *x
	world, steps, tx, kept, mark := *e, slices.Clone(e.Steps), *x.tx, *e.of(x.tx), len(x.tx.Writes)
	nextRow, undone, stmt, failed, touched := e.Store.NextRow, len(e.Store.Undone), e.Store.Stmt, e.Store.Err, e.Touched
	e.choices = &mvcc.Choices{}
	e.locks, e.uncertainLocks, e.pending = slices.Clone(e.locks), slices.Clone(e.uncertainLocks), maps.Clone(e.pending)
	e.counters = maps.Clone(e.counters)
	defer func() {
		try.stop()
		e.undo(x.tx, mark)
		*x.tx, *e.of(x.tx) = tx, kept
		*e = world
		e.Steps, e.Touched = steps, touched
		e.Store.NextRow, e.Store.Undone, e.Store.Stmt, e.Store.Err = nextRow, e.Store.Undone[:undone], stmt, failed
	}()
	e.Runs(x.i)
	try.due = true
	try.next, try.stop = iter.Pull(try.body)
	if try.next(); try.holder != nil {
		if try.sure {
			return []*versions.Txn{try.holder}, nil
		}
		return nil, nil
	}
	if try.err != nil || try.p == nil || try.p.Err != 0 {
		return nil, nil
	}
	var out []*versions.Txn
	own := try.claims()
	for _, o := range e.OpenTxns(x.tx) {
		what, err := e.barrier(&try, own, o)
		if err != nil {
			return nil, err
		}
		if what != "" || try.behind(e.running[o.Session], world.locks) {
			out = append(out, o)
		}
	}
	return out, nil
}

// behind reports whether a statement that ran to its end for a trial has to
// queue for a row behind another one, which waits for it: even if it holds a
// share lock there, it gets no exclusive one before the other has had its turn.
// held are the locks as they were before the trial.
// https://dev.mysql.com/doc/refman/en/innodb-deadlock-example.html
func (x *running) behind(o *running, held versions.Locks) bool {
	switch {
	case o == nil || o.at == nil || !o.sure || o.wants != versions.Exclusive && x.kind == stmt.SelectForShare:
		return false
	case held.Held(versions.Lock{Txn: x.tx, Row: o.at, Mode: versions.Exclusive}) || slices.Contains(x.tx.Writes[:x.mark], o.at):
		return false
	}
	return slices.Contains(x.p.Read, o.at) && x.byRow() && o.byRow()
}

// byRow reports whether the statement reaches the rows of its one table by the
// clustered index, whatever its plan.
func (x *running) byRow() bool {
	of := stmt.Of(x.node)
	name := stmt.SoleTable(of.From)
	return name != nil && x.onlyPath(x.e.Table(name.Name.O), of.Where)
}

// needsLock reports whether a scan has to have the lock on an entry that
// another transaction holds: it can get there by one path only, or the row is
// what the statement looks for.
func (x *running) needsLock(a *access, n *entry, holder *versions.Txn, mode versions.Mode, views solve.Views) bool {
	if n == nil || a.late != nil || x.mayStop {
		// An index merge may meet the row in another of its parts, and a LIMIT may end the
		// scan in front of it.
		return false
	}
	if x.e.loose {
		return x.mustLock(a, n, views)
	}
	if x.e.plans[x.i] != nil || x.onlyPath(a.t, a.where) {
		return true
	}
	if x.e.writer(n.c, x.tx) == holder {
		return x.mustLock(a, n, views)
	}
	held := x.e.locks.Held(versions.Lock{Txn: holder, Row: n.c, Mode: versions.Exclusive})
	if ver := n.c.Last(); held && mode == versions.Exclusive && ver.Row != nil {
		ok, err := x.matches(a, ver, views)
		return ok && err == nil
	}
	return false
}
