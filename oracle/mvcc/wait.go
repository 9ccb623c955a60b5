package mvcc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// cause judges errors that only concurrency can justify: each needs a wait.
func (r *Replay) cause(i int, tx *Txn) *Difference {
	st := &r.h.Stmts[i]
	var why string
	switch errCode(st) {
	case errDeadlock:
		if len(st.Waits) > 0 || r.othersWaited(st) {
			return nil
		}
		why = "no session waited for a lock, so there was no deadlock"
	case errLockTimeout, errNowait:
		switch refuses := r.refusesToWait(st); {
		case r.waitedInSkipping(i) != nil:
			return r.waitedInSkipping(i)
		case refuses && errCode(st) == errLockTimeout && r.h.Server.DBMS != history.MariaDB && waitedForRow(st):
			return r.waitedAnyway(i)
		case errCode(st) == errLockTimeout && len(st.Waits) > 0, refuses && (r.othersHold(st) || r.othersWaited(st)):
			return nil
		case refuses:
			why = "no other transaction was open that could hold the lock"
		case errCode(st) == errNowait:
			why = "it was not told to fail where it would wait"
		default:
			why = "it was not seen to wait for a lock"
		}
	case errTiDBConflict:
		if tx.Begin == st.Submit {
			return nil
		}
		why = "a pessimistic transaction waits for locks, it does not find write conflicts"
	default:
		return nil
	}
	return &Difference{Stmt: i, Kind: "unjustified-abort", Expected: "no error", Actual: describeError(st.Result.Err), Reason: why}
}

// swallowsTimeout reports whether a write with IGNORE waited until its wait ended
// although no other session did anything meanwhile that could have ended it. On
// MariaDB the time-out is then a warning, and the rows that it had not reached stay
// as they are.
// https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/inserting-loading-data/ignore
func (r *Replay) swallowsTimeout(x *running) bool {
	n := len(x.st.Waits)
	if r.h.Server.DBMS != history.MariaDB || n == 0 || errCode(x.st) != 0 || !stmt.Of(x.node).Ignore {
		return false
	}
	from := x.st.Waits[n-1].From
	for i := range r.h.Stmts {
		o := &r.h.Stmts[i]
		if o.Session == x.st.Session || o.Submit > x.st.Return || o.Return != 0 && o.Return < from {
			continue
		}
		if kind := KindOf(r.c.Steps[o.Line].Stmt); kind.Control() || kind == stmt.Other || !o.InTxn || errCode(o) != 0 {
			return false
		}
	}
	return true
}

// waitedAnyway judges a NOWAIT or SKIP LOCKED that answered: it must not have waited for
// a row. A subquery's locks are waited for all the same.
func (r *Replay) waitedAnyway(i int) *Difference {
	if d := r.waitedInSkipping(i); d != nil {
		return d
	}
	st := &r.h.Stmts[i]
	node := r.c.Steps[st.Line].Stmt
	if !r.refusesToWait(st) || !waitedForRow(st) || errCode(st) == errNowait || HasSubquery(node) {
		return nil
	}
	code := errNowait
	if r.h.Server.DBMS == history.MariaDB {
		code = errLockTimeout
	}
	return &Difference{Stmt: i, Kind: "missing-error", Expected: fmt.Sprintf("error %d at once", code), Actual: "waited, then " + Describe(node, &st.Result),
		Reason: "with NOWAIT it must fail instead of waiting, and it waited for a row"}
}

func waitedForRow(st *history.Stmt) bool {
	return slices.ContainsFunc(st.Waits, func(w history.Wait) bool { return w.Kind == history.RowLock })
}

// othersHold reports whether another session is in a transaction and has locked or
// changed something of a table that the statement names.
func (r *Replay) othersHold(st *history.Stmt) bool {
	own := &tableFinder{}
	r.c.Steps[st.Line].Stmt.Accept(own)
	for i := range r.h.Stmts {
		o := &r.h.Stmts[i]
		s := r.sessions[o.Session]
		kind := KindOf(r.c.Steps[o.Line].Stmt)
		if o.Session == st.Session || s == nil || s.txn == nil || kind.Control() || kind == stmt.Select && r.h.Levels[o.Session] != corpus.Serializable {
			continue
		}
		other := &tableFinder{}
		r.c.Steps[o.Line].Stmt.Accept(other)
		if slices.ContainsFunc(other.names, func(n string) bool {
			return slices.ContainsFunc(own.names, func(m string) bool { return strings.EqualFold(n, m) })
		}) {
			return true
		}
	}
	return false
}

// othersWaited reports whether another session had a wait outstanding while
// the statement ran.
func (r *Replay) othersWaited(st *history.Stmt) bool {
	for j := range r.h.Stmts {
		o := &r.h.Stmts[j]
		if o.Session == st.Session {
			continue
		}
		for _, w := range o.Waits {
			if w.From < st.Return && (w.Until == 0 || w.Until > st.Submit) {
				return true
			}
		}
	}
	return false
}

func (r *Replay) othersOpen(session int) bool {
	for n, s := range r.sessions {
		if n != session && s.txn != nil {
			return true
		}
	}
	return false
}

// leftOpen reports whether a statement waits, itself or by others, for a session that
// sends nothing any more and whose transaction may hold locks. Where the server does
// not say who stands in the way, that may be any other session.
func (r *Replay) leftOpen(i int) bool {
	seen := map[int]bool{}
	var open func(i int) bool
	open = func(i int) bool {
		st := &r.h.Stmts[i]
		if seen[st.Session] || r.Steps[i].Kind.Control() {
			return false
		}
		seen[st.Session] = true
		var holders []int
		if n := len(st.Waits); n > 0 {
			holders = st.Waits[n-1].Holders
		}
		for n, s := range r.sessions {
			if n == st.Session || len(holders) > 0 && !slices.Contains(holders, n) {
				continue
			}
			at := slices.IndexFunc(r.h.Stmts, func(o history.Stmt) bool { return o.Session == n && o.Return == 0 })
			if at >= 0 && open(at) || at < 0 && s.txn != nil && r.mayHoldLocks(n) {
				return true
			}
		}
		return false
	}
	return open(i)
}

// mayHoldLocks reports whether a session has run anything but plain SELECTs.
func (r *Replay) mayHoldLocks(session int) bool {
	for i := range r.h.Stmts {
		if st := &r.h.Stmts[i]; st.Session == session {
			if k := KindOf(r.c.Steps[st.Line].Stmt); !k.Control() && (k != stmt.Select || slices.Contains(Levels(r.c, r.h), corpus.Serializable)) {
				return true
			}
		}
	}
	return false
}

// neverReturned judges a statement that got no answer. It may wait for a transaction
// whose session sends nothing any more, which the case has left open.
func (r *Replay) neverReturned(i int) (*Difference, error) {
	st := &r.h.Stmts[i]
	if r.h.End != history.Stuck {
		return nil, nil
	}
	for j := range r.h.Stmts {
		if o := &r.h.Stmts[j]; o.Return == 0 && slices.ContainsFunc(o.Waits, func(w history.Wait) bool { return w.Kind == history.Silence }) {
			// Nobody knows whether it waited or was only slow; nor, then, whether
			// others waited for it.
			return nil, &Loss{Slug: "silence"}
		}
	}
	if r.leftOpen(i) {
		return nil, nil
	}
	d := &Difference{Stmt: i, Expected: "an answer", Actual: "none"}
	if r.othersOpen(st.Session) {
		d.Kind, d.Reason = "undetected-deadlock", fmt.Sprintf("tx%d waited until nothing was left that could release it; the server broke no cycle", st.Session)
	} else {
		d.Kind, d.Reason = "lost-wakeup", fmt.Sprintf("tx%d still waited although no other transaction was open", st.Session)
	}
	return d, nil
}

// missingWait reports a statement that returned although another transaction
// surely held a lock that the statement surely needed. It claims only what
// cannot be doubted; servers may lock more.
func (r *Replay) missingWait(i int, tx *Txn, kind stmt.Kind, node ast.StmtNode, mark int, p *Prediction) (*Difference, error) {
	st := &r.h.Stmts[i]
	where, table, ok := needsLocks(kind, node)
	if !ok || kind == stmt.SelectForUpdate && tx.auto && tx.Rules.of(rules.AutocommitLock) == rules.AutocommitPasses {
		return nil, nil
	}
	t := r.table(table)
	if t == nil {
		return nil, nil
	}
	for _, o := range r.openTxns(tx) {
		if r.endSubmitted(o, st.Return) || r.missesLock(o, st.Return, false) {
			continue
		}
		chain, what, err := r.collision(t, tx, o, kind, where, r.Steps[i].View, mark)
		if err != nil {
			return nil, err
		}
		if chain == nil {
			continue
		}
		return &Difference{Stmt: i, Kind: "missing-wait",
			Expected: fmt.Sprintf("waits for tx%d", o.Session), Actual: "returned at once: " + describe(kind, &st.Result),
			Reason: fmt.Sprintf("tx%d %s and had not ended, yet tx%d's %s, which needs a lock on that row, did not wait", o.Session, what, st.Session, kind)}, nil
	}
	return nil, nil
}

// endSubmitted reports whether the transaction's COMMIT, ROLLBACK or next BEGIN,
// or a statement that a deadlock made end it, was submitted before the tick,
// though it may not have been answered yet.
func (r *Replay) endSubmitted(o *Txn, before history.Tick) bool {
	for i := range r.h.Stmts {
		st := &r.h.Stmts[i]
		if st.Session != o.Session || st.Submit <= o.Begin || st.Submit >= before {
			continue
		}
		switch KindOf(r.c.Steps[st.Line].Stmt) {
		case stmt.Commit, stmt.Rollback, stmt.Begin, stmt.BeginSnapshot, stmt.SetVariable:
			return true
		}
		if errCode(st) == errDeadlock {
			return true
		}
	}
	return false
}

// openTxns returns the open transactions of other sessions, by session number.
func (r *Replay) openTxns(own *Txn) []*Txn {
	var out []*Txn
	for n := 1; n <= len(r.sessions)+64 && len(out) < len(r.sessions); n++ {
		if s := r.sessions[n]; s != nil && s.txn != nil && s.txn != own {
			out = append(out, s.txn)
		}
	}
	return out
}

// needsLocks returns the filter and table of a statement that must lock every
// row which it matches; ok is false where that is not certain.
func needsLocks(kind stmt.Kind, node ast.StmtNode) (where ast.ExprNode, table string, ok bool) {
	v := stmt.Of(node)
	if v.Kind != stmt.Insert && !locksAllItMeets(v, kind, node) {
		return nil, "", false
	}
	name := v.Table()
	if name == nil {
		return nil, "", false
	}
	return v.Where, name.Name.O, true
}

// collision returns a row of t that o surely holds locked and that the
// statement surely needs, with what o did to it.
func (r *Replay) collision(t *Table, tx, o *Txn, kind stmt.Kind, where ast.ExprNode, view View, mark int) (*Chain, string, error) {
	if kind == stmt.Insert {
		return r.keyCollision(t, tx, o, mark)
	}
	exclusive := kind != stmt.SelectForShare
	views := &stored{&r.store, view}
	for _, c := range t.Chains {
		what := o.holds(c, exclusive)
		if what == "" {
			continue
		}
		ver := view.Seen(c)
		if ver == nil || ver.Txn == o || tx.forgot(&r.store, t, c, ver.Row) || o.forgot(&r.store, t, c, ver.Row) || r.lookup != nil && r.takesForAbsent(r.lookup, r.lookup.filter.key, c, ver.Row, view) {
			continue
		}
		truth, _, err := r.solver.Where(where, t.Def, ver.Row, views)
		if err != nil {
			if _, err := sqlError(err); err != nil {
				return nil, "", err
			}
			continue
		}
		if truth == sqlvalue.True {
			return c, what, nil
		}
	}
	return nil, "", nil
}

// holds says how a transaction came to hold a lock on a row that stands
// against the wanted one, or returns "".
func (t *Txn) holds(c *Chain, exclusive bool) string {
	for i := range c.Versions {
		ver := &c.Versions[i]
		if ver.Txn != t {
			continue
		}
		if ver.Row == nil {
			return "deleted a row"
		}
		if i > 0 && c.Versions[i-1].Row != nil && equalRows(c.Versions[i-1].Row, ver.Row) {
			// An UPDATE that changed nothing: not surely locked.
			continue
		}
		return "wrote a row"
	}
	for _, l := range t.locked {
		if l.Chain == c && (l.Exclusive || exclusive) {
			return "locked a row by a locking read"
		}
	}
	return ""
}

func equalRows(a, b []sqlvalue.Value) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// keyCollision finds a row that the statement inserted although another open
// transaction wrote the same tuple of a unique key.
func (r *Replay) keyCollision(t *Table, tx, o *Txn, mark int) (*Chain, string, error) {
	for _, c := range tx.writes[mark:] {
		row := c.last().Row
		if row == nil || r.store.tableOf(c) != t {
			continue
		}
		for ki := range t.Def.Keys {
			k := &t.Def.Keys[ki]
			if !k.Unique && !k.Primary {
				continue
			}
			tuple, null := r.store.keyOf(t.Def, k, row)
			if null {
				continue
			}
			for _, other := range o.writes {
				if r.store.tableOf(other) != t {
					continue
				}
				for vi := range other.Versions {
					ver := &other.Versions[vi]
					if ver.Txn != o || ver.Row == nil {
						continue
					}
					if k == t.Clustered && (tx.forgot(&r.store, t, other, row) || o.forgot(&r.store, t, other, row)) {
						continue
					}
					if tu, null := r.store.keyOf(t.Def, k, ver.Row); !null && tu == tuple {
						return other, "wrote the same tuple of a unique key", nil
					}
				}
			}
		}
	}
	return nil, "", nil
}
