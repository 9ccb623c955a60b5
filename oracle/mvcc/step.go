package mvcc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// Error codes that the rules speak of.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
const (
	errDup           = 1062
	errInternal      = 1105
	errLockTimeout   = 1205
	errDeadlock      = 1213
	errNoKey         = 1176
	errNotSupported  = 1235
	errAutoIncrement = 1467
	// errAutoRange is the same on MariaDB: HA_ERR_AUTOINC_ERANGE.
	// https://mariadb.com/docs/server/reference/data-types/auto_increment
	errAutoRange    = 167
	errInconsistent = 8133
	errNowait       = 3572
	errTiDBConflict = 9007
	errTiDBLevel    = 8048 // this isolation level is not supported
)

// step replays one statement.
func (r *Replay) step(i int) (*Difference, error) {
	st := &r.h.Stmts[i]
	node := r.c.Steps[st.Line].Stmt
	kind := KindOf(node)
	r.runs(i)
	r.Steps[i].Kind = kind
	if r.refusedByText(st) {
		return nil, nil
	}
	if err := r.unmodelled[i]; err != nil {
		return nil, err
	}
	switch {
	case kind == stmt.Other,
		kind == stmt.Raw,                      // what TiDB runs its parser reads, which is ours
		stmt.Of(node).Lock.Wait == stmt.Skips: // TiDB reads SKIP LOCKED and does nothing of it
		return nil, &Loss{Slug: "unsupported: a statement of unknown effect", Detail: solve.NodeWords(fmt.Sprintf("%T", node))}
	}
	s := r.session(st.Session)
	if st.Return == 0 {
		return r.neverReturned(i)
	}
	if loss := r.beforehand(s, kind, node); loss != nil {
		return nil, loss
	}
	if kind.Control() {
		return r.control(i, s, kind, node)
	}
	if s.missed(st) {
		return &Difference{Stmt: i, Kind: "lost-transaction", Expected: "inside a transaction", Actual: "outside",
			Reason: fmt.Sprintf("the server says that tx%d has no open transaction although nothing ended it", st.Session)}, nil
	}
	tx := s.txn
	if tx == nil {
		tx = r.begin(st.Session, st.Submit)
		if tx.auto = true; namesTables(node) {
			s.characterize(tx, nil)
			if s.manual {
				tx.auto, tx.implicit, s.txn = false, true, tx
			} else if errCode(st) != 0 {
				s.endsOddly(tx)
			}
		}
	}
	d, err := r.statement(i, tx, kind, node)
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = s.begun(tx, i, st)
	}
	at := r.effect(st)
	code := errCode(st)
	switch {
	case tx.auto && code == 0:
		r.commit(tx, at)
	case tx.auto:
		r.rollback(tx, at)
	case code == errDeadlock:
		r.rollback(tx, at)
		s.endsOddly(tx)
		s.txn = nil
	}
	return d, nil
}

// effect is when a statement took effect.
func (r *Replay) effect(st *history.Stmt) history.Tick {
	if at, ok := r.moved[st]; ok {
		return at
	}
	if len(st.Waits) > 0 && !r.releasedAtOnce(st) {
		return st.Return
	}
	return st.Submit
}

// releasedAtOnce reports whether the end of a transaction let go a statement that the
// server said waits for it, before it was itself noticed to be slow to return. It took
// effect then, and nothing was sent in between.
func (r *Replay) releasedAtOnce(st *history.Stmt) bool {
	if k := KindOf(r.c.Steps[st.Line].Stmt); k != stmt.Commit && k != stmt.Rollback {
		return false
	}
	if slices.ContainsFunc(st.Waits, func(w history.Wait) bool { return w.Kind != history.Silence }) {
		return false
	}
	return slices.ContainsFunc(r.h.Stmts, func(o history.Stmt) bool {
		return slices.ContainsFunc(o.Waits, func(w history.Wait) bool {
			return w.Kind == history.RowLock && st.Submit < w.Until && w.Until < st.Waits[0].From && slices.Contains(w.Holders, st.Session)
		})
	})
}

// runs notes which statement is replayed.
func (r *Replay) runs(i int) {
	r.store.stmt = i
	r.solver.AskFor(i)
}

func errCode(st *history.Stmt) uint16 {
	if st.Result.Err == nil {
		return 0
	}
	return st.Result.Err.Code
}

// control replays a statement that touches no table.
func (r *Replay) control(i int, s *session, kind stmt.Kind, node ast.StmtNode) (*Difference, error) {
	st := &r.h.Stmts[i]
	if st.Result.Err != nil {
		return r.controlError(i, s, kind, node)
	}
	if continues(node) {
		return nil, errContinues
	}
	if s.txn != nil && kind.Commits() && (len(s.txn.forgotten) > 0 || r.missesLock(s.txn, st.Submit, false)) {
		return &Difference{Stmt: i, Kind: "missing-error", Expected: fmt.Sprintf("error %d", errInternal), Actual: "ok",
			Reason: "the commit had to miss a lock"}, nil
	}
	switch kind {
	case stmt.Begin, stmt.BeginSnapshot:
		r.beginAnew(i, s, node)
	case stmt.Commit:
		if s.txn != nil {
			r.commit(s.txn, r.effect(st))
			s.txn = nil
		}
		s.settled()
	case stmt.Rollback:
		if s.txn != nil {
			r.rollback(s.txn, st.Submit)
			s.txn = nil
		}
		s.settled()
	case stmt.Savepoint:
		if s.txn != nil {
			name := stmt.Of(node).Savepoint
			s.txn.dropSavepoint(name)
			s.txn.savepoints = append(s.txn.savepoints, savepoint{strings.ToLower(name), len(s.txn.writes), s.txn.cache.clone(), len(s.txn.stmts) == 0 && s.txn.Snapshot == 0 && !s.txn.entered})
		}
	case stmt.RollbackTo:
		if s.txn == nil {
			break
		}
		if j := s.txn.savepoint(stmt.Of(node).Savepoint); j >= 0 {
			r.store.undo(s.txn, s.txn.savepoints[j].writes)
			s.txn.cache = s.txn.savepoints[j].cache
			s.txn.savepoints = s.txn.savepoints[:j+1]
		}
	case stmt.ReleaseSavepoint:
		if s.txn != nil {
			if j := s.txn.savepoint(stmt.Of(node).Savepoint); j >= 0 {
				s.txn.savepoints = s.txn.savepoints[:j]
			}
		}
	case stmt.SetLevel:
		l, _ := levelOfSet(node.(*ast.SetStmt))
		if s.txn != nil {
			s.next = l
		} else {
			s.level, s.next, s.once = l, 0, 0
		}
	case stmt.SetVariable:
		if loss := r.setVariables(s, st, node.(*ast.SetStmt), func(t *Txn) { r.commit(t, r.effect(st)) }); loss != nil {
			return nil, loss
		}
	}
	return nil, nil
}

// beginAnew replays a BEGIN, which commits the open transaction, if there is one.
func (r *Replay) beginAnew(i int, s *session, node ast.StmtNode) {
	st := &r.h.Stmts[i]
	at := st.Submit
	if s.txn != nil {
		s.endsOddly(s.txn)
		r.commit(s.txn, at)
		at++ // its snapshot sees the commit
	}
	s.takeNext()
	s.txn = r.begin(st.Session, at)
	s.characterize(s.txn, node)
	if stmt.KindOf(node) == stmt.BeginSnapshot {
		s.txn.Snapshot = at
	}
}

// retriedTooOften reports whether a statement says that it has met newer data too
// often, while another session could make it meet some.
func (r *Replay) retriedTooOften(st *history.Stmt) bool {
	return strings.Contains(st.Result.Err.Message, "pessimistic lock retry limit reached") && (len(st.Waits) > 0 || r.othersOpen(st.Session))
}

// LostLock reports whether an error of TiDB's own says that COMMIT misses a lock.
func LostLock(e *history.Error) bool {
	return e != nil && e.Code == errInternal && strings.Contains(e.Message, "pessimistic lock not found")
}

// controlError judges an error of a statement that touches no table.
func (r *Replay) controlError(i int, s *session, kind stmt.Kind, node ast.StmtNode) (*Difference, error) {
	st := &r.h.Stmts[i]
	e := st.Result.Err
	commits := s.txn != nil && kind.Commits()
	if e.Code == errInternal {
		if commits {
			known := LostLock(e) && (len(s.txn.forgotten) > 0 || r.missesLock(s.txn, st.Submit, true))
			r.rollback(s.txn, st.Submit)
			s.txn = nil
			if known {
				return nil, nil
			}
		}
		what := string(kind)
		if commits && kind != stmt.Commit {
			what += ", which commits the open transaction,"
		}
		return &Difference{Stmt: i, Kind: "internal-error", Expected: "no error", Actual: describeError(e),
			Reason: what + " failed with an error that no statement may give"}, nil
	}
	lateLocks := commits && s.txn.Rules.of(rules.LateLocks) == rules.LockedAtCommit && s.txn.failedUpdate
	if lateLocks && e.Code == errLockTimeout && len(st.Waits) > 0 {
		if kind == stmt.Commit {
			r.rollback(s.txn, st.Return)
			s.txn = nil
		} else {
			r.beginAnew(i, s, node)
		}
		return nil, nil
	}
	if commits && e.Code == errDeadlock {
		lateLocks = lateLocks && (len(st.Waits) > 0 || r.othersWaited(st))
		r.rollback(s.txn, st.Return)
		s.txn = nil
		if lateLocks {
			return nil, nil
		}
		return &Difference{Stmt: i, Kind: "unjustified-abort", Expected: "commit succeeds", Actual: describeError(e),
			Reason: "a pessimistic transaction took all its locks before, so its commit neither waits nor is part of a deadlock"}, nil
	}
	if commits && e.Code == errTiDBConflict {
		r.rollback(s.txn, st.Submit)
		s.txn = nil
		return &Difference{Stmt: i, Kind: "unjustified-abort", Expected: "commit succeeds", Actual: describeError(e),
			Reason: "a pessimistic transaction holds locks on all that it wrote, so its commit cannot conflict"}, nil
	}
	if kind == stmt.SetVariable && s.setRefused(r.c.Steps[st.Line].Stmt.(*ast.SetStmt), e.Code) {
		return nil, nil
	}
	if kind == stmt.SetVariable {
		return nil, &Loss{Slug: "unsupported: variable that the server refuses"}
	}
	if kind == stmt.SetLevel && e.Code == errTiDBLevel {
		// TiDB has no other levels; the session keeps the one it has:
		// https://docs.pingcap.com/tidb/stable/system-variables#tidb_skip_isolation_level_check
		l, _ := levelOfSet(r.c.Steps[st.Line].Stmt.(*ast.SetStmt))
		if l == corpus.ReadUncommitted || l == corpus.Serializable {
			return nil, nil
		}
	}
	if (kind == stmt.RollbackTo || kind == stmt.ReleaseSavepoint) && e.Code == 1305 {
		name := stmt.Of(r.c.Steps[st.Line].Stmt).Savepoint
		if s.txn == nil || s.txn.savepoint(name) < 0 {
			return nil, nil
		}
	}
	return &Difference{Stmt: i, Kind: "unexpected-error", Expected: "no error", Actual: describeError(e),
		Reason: fmt.Sprintf("%s has no reason to fail", kind)}, nil
}

func (t *Txn) savepoint(name string) int {
	return slices.IndexFunc(t.savepoints, func(s savepoint) bool { return s.name == strings.ToLower(name) })
}

func (t *Txn) dropSavepoint(name string) {
	if j := t.savepoint(name); j >= 0 {
		t.savepoints = slices.Delete(t.savepoints, j, j+1)
	}
}

// statement replays a statement that reads or writes rows.
func (r *Replay) statement(i int, tx *Txn, kind stmt.Kind, node ast.StmtNode) (*Difference, error) {
	st := &r.h.Stmts[i]
	if d := r.cause(i, tx); d != nil {
		return d, nil
	}
	switch errCode(st) {
	case errDeadlock, errLockTimeout, errNowait:
		// Its cause was judged; a statement that failed so left nothing behind.
		return nil, nil
	case errInternal:
		if tx.Rules.of(rules.RetryLimit) == rules.GivesUp && r.retriedTooOften(st) {
			return nil, nil
		}
	}
	if d := r.waitedAnyway(i); d != nil {
		return d, nil
	}
	before := len(tx.writes)
	r.inTheWay = nil
	p, view, err := r.predict(i, tx, kind, node)
	r.Steps[i].View = view
	if err != nil {
		return nil, err
	}
	r.Steps[i].Expected = p
	if r.views != nil {
		r.Steps[i].chosen = r.views.pos
	}
	if _, moved := r.moved[st]; moved {
		p.leaveOpen("when it took effect")
	}
	if p.Err != 0 {
		r.store.undo(tx, before)
	}
	if r.observed {
		r.observe(i, tx, st.Submit)
	}
	if errCode(st) == 0 && p.Err == 0 {
		if kind.Writes() {
			tx.wrote(r.effect(st))
		}
		if d, err := r.missingWait(i, tx, kind, node, before, p); d != nil || err != nil {
			return d, err
		}
	}
	if loss := r.conditionOrder(i, kind, node, view, p); loss != nil {
		return nil, loss
	}
	if err := textLoss(p, st); err != nil {
		return nil, err
	}
	if d := r.compare(i, kind, p); d != nil {
		r.name(d, i, tx, kind, node)
		return d, nil
	}
	return nil, nil
}

// predict computes a statement's answer and applies its effect.
func (r *Replay) predict(i int, tx *Txn, kind stmt.Kind, node ast.StmtNode) (*Prediction, View, error) {
	st := &r.h.Stmts[i]
	r.lookup = nil
	switch kind {
	case stmt.Select:
		view := r.readView(tx, st, node)
		if p, ok, err := r.uniqueLookup(tx, node.(*ast.SelectStmt), view); ok || err != nil {
			return p, view, err
		}
		p, err := r.read(i, tx, node.(*ast.SelectStmt), view, kind)
		return p, view, err
	case stmt.Insert:
		view := r.insertView(st, tx)
		p, err := r.insert(i, tx, node.(*ast.InsertStmt), view)
		return p, view, err
	case stmt.SelectForShare:
		// With NOWAIT it is taken, and promises a lock.
		if tx.Rules.of(rules.ShareLock) == rules.ShareRefused && stmt.Of(node).Lock.Wait != stmt.Fails {
			return &Prediction{Matched: -1, Changed: -1, Err: errNotSupported}, View{}, nil
		}
	}
	r.lookup = r.lockingLookup(tx, kind, node)
	view, err := r.currentView(st, tx, kind, node)
	if err != nil {
		return nil, view, err
	}
	cached, held := r.afterLookup(tx, st, view)
	node = r.restarted(tx, st, kind, node)
	var p *Prediction
	switch s := node.(type) {
	case *ast.SelectStmt:
		p, err = r.read(i, tx, s, view, kind)
		if err == nil && p.Err == 0 && locksWhatItReturns(s) {
			for _, c := range p.read {
				tx.locked = append(tx.locked, RowLock{c, kind == stmt.SelectForUpdate})
			}
		}
	case *ast.UpdateStmt:
		if writesSeveral(s) {
			p, err = r.several(i, tx, kind, s, view)
		} else {
			p, err = r.update(i, tx, s, view)
		}
	case *ast.DeleteStmt:
		if writesSeveral(s) {
			p, err = r.several(i, tx, kind, s, view)
		} else {
			p, err = r.delete(i, tx, s, view)
		}
	default:
		return nil, view, &Loss{Slug: "unsupported: a statement of unknown effect", Detail: string(kind)}
	}
	if p != nil {
		if kind == stmt.Update && p.Err != 0 {
			tx.failedUpdate = true
		}
		if tx.Rules.of(rules.AbsentKey) == rules.AbsentRemembered && p.Err == 0 && errCode(st) == 0 {
			r.keep(tx, kind, node, p, cached, held)
		}
	}
	return p, view, err
}

// readView returns what a consistent read sees.
func (r *Replay) readView(tx *Txn, st *history.Stmt, node ast.StmtNode) View {
	switch tx.Rules.of(rules.ConsistentRead) {
	case rules.Newest:
		return View{Uncommitted: true, Own: tx}
	case rules.Snapshot:
		if tx.Rules.of(rules.ReverseScan) == rules.NewestCommitted && scansBackwards(node) {
			return View{Tick: st.Submit, Own: tx}
		}
		if tx.Snapshot == 0 {
			tx.Snapshot = st.Submit
		}
		return View{Tick: tx.Snapshot, Own: tx}
	}
	return View{Tick: st.Submit, Own: tx}
}

// scansBackwards reports whether a query is answered by a descending scan:
// MAX, or ORDER BY … DESC.
func scansBackwards(n ast.StmtNode) bool {
	s, ok := n.(*ast.SelectStmt)
	if !ok {
		return false
	}
	if s.OrderBy != nil {
		for _, it := range s.OrderBy.Items {
			if it.Desc {
				return true
			}
		}
	}
	for _, f := range s.Fields.Fields {
		if a, ok := f.Expr.(*ast.AggregateFuncExpr); ok && strings.ToLower(a.F) == "max" {
			return true
		}
	}
	return false
}

var errContinues = &Loss{Slug: "unsupported: AND CHAIN or RELEASE"}

// continues reports whether the end of a transaction begins another one or ends the
// session.
func continues(node ast.StmtNode) bool {
	switch n := node.(type) {
	case *ast.CommitStmt:
		return n.CompletionType != ast.CompletionTypeDefault
	case *ast.RollbackStmt:
		return n.CompletionType != ast.CompletionTypeDefault
	}
	return false
}

// locksWhatItReturns reports whether the rows that a locking read returns are
// surely the rows that it locked: one table, no LIMIT, no grouping, no
// subquery, and no MIN or MAX, for which one entry of an index may do.
func locksWhatItReturns(s *ast.SelectStmt) bool {
	return stmt.SoleTable(s.From) != nil && s.Limit == nil && s.GroupBy == nil && !s.Distinct && !HasSubquery(s) && !picksExtreme(s)
}

func picksExtreme(s *ast.SelectStmt) bool {
	return corpus.Contains(s.Fields, func(n ast.Node) (found, skip bool) {
		a, ok := n.(*ast.AggregateFuncExpr)
		return ok && (strings.EqualFold(a.F, ast.AggFuncMin) || strings.EqualFold(a.F, ast.AggFuncMax)), false
	})
}

// sqlError returns the code of a server error that the solver predicts, or the
// loss that its refusal is.
func sqlError(err error) (uint16, error) {
	var e *solve.SQLError
	if errors.As(err, &e) {
		return e.Code, nil
	}
	return 0, lossOf("solver", err)
}
