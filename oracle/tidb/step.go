package tidb

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// definesBeside says that another session had sent a statement that makes, alters or drops a table before a
// statement was answered.
func (r *engine) definesBeside(st *history.Stmt) bool {
	return slices.ContainsFunc(r.History.Stmts, func(o history.Stmt) bool {
		_, defines := r.Case.Steps[o.Line].Stmt.(ast.DDLNode)
		return defines && o.Session != st.Session && o.Submit < st.Return
	})
}

// step replays one statement.
func (r *engine) step(i int) (*mvcc.Difference, error) {
	st := &r.History.Stmts[i]
	node := r.Case.Steps[st.Line].Stmt
	kind := r.kindOf(st)
	r.Runs(i)
	r.Steps[i].Kind = kind
	if r.RefusesText(st) {
		return nil, nil
	}
	if err := r.Unmodelled[i]; err != nil {
		return nil, err
	}
	switch {
	case kind == stmt.Other,
		kind == stmt.Analyze,                  // it was seen not to commit, of which the manual says nothing
		kind == stmt.Raw,                      // what TiDB runs its parser reads, which is ours
		stmt.Of(node).Lock.Wait == stmt.Skips: // TiDB reads SKIP LOCKED and does nothing of it
		return nil, &mvcc.Loss{Slug: "unsupported: a statement of unknown effect", Detail: solve.NodeWords(fmt.Sprintf("%T", node))}
	}
	s := r.Session(st.Session)
	if st.Return == 0 {
		return r.NeverReturned(i)
	}
	if mvcc.ErrCode(st) == mvcc.ErrSchemaChanged && r.definesBeside(st) {
		return nil, &mvcc.Loss{Slug: "unsupported: a statement of unknown effect", Detail: "a table is altered beside it"}
	}
	if loss := r.Beforehand(s, kind, node); loss != nil {
		return nil, loss
	}
	if kind.Control() {
		return r.control(i, s, kind, node)
	}
	if s.Missed(st) {
		return &mvcc.Difference{Stmt: i, Kind: "lost-transaction", Expected: "inside a transaction", Actual: "outside",
			Reason: fmt.Sprintf("the server says that tx%d has no open transaction although nothing ended it", st.Session)}, nil
	}
	tx := s.Txn
	if tx == nil {
		tx = r.Begin(st.Session, st.Submit)
		if tx.Auto = true; mvcc.NamesTables(node) {
			s.Characterize(tx, nil)
			if s.Manual {
				tx.Auto, tx.Implicit, s.Txn = false, true, tx
			} else if mvcc.ErrCode(st) != 0 {
				s.EndsOddly(tx)
			}
		}
	}
	d, err := r.statement(i, tx, kind, node)
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = s.Begun(tx, i, st)
	}
	at := r.Effect(st)
	code := mvcc.ErrCode(st)
	switch {
	case tx.Auto && code == 0:
		r.Commit(tx, at)
	case tx.Auto:
		r.Rollback(tx, at)
	case code == mvcc.ErrDeadlock:
		r.Rollback(tx, at)
		s.EndsOddly(tx)
		s.Txn = nil
	}
	return d, nil
}

// retriedTooOften reports whether a statement says that it has met newer data too
// often, while another session could make it meet some.
func (r *engine) retriedTooOften(st *history.Stmt) bool {
	return mvcc.RetriedTooOften(st.Result.Err) && (len(st.Waits) > 0 || r.OthersOpen(st.Session))
}

// statement replays a statement that reads or writes rows.
func (r *engine) statement(i int, tx *versions.Txn, kind stmt.Kind, node ast.StmtNode) (*mvcc.Difference, error) {
	st := &r.History.Stmts[i]
	r.Steps[i].Level = tx.Level
	if d := r.Cause(i, tx); d != nil {
		return d, nil
	}
	switch mvcc.ErrCode(st) {
	case mvcc.ErrDeadlock, mvcc.ErrLockTimeout, mvcc.ErrNowait:
		// Its cause was judged; a statement that failed so left nothing behind but, an UPDATE, what is
		// to be locked yet.
		if kind == stmt.Update {
			r.of(tx).failedUpdate = true
		}
		return nil, nil
	case mvcc.ErrInternal:
		if tx.Rules.Of(rules.RetryLimit) == rules.GivesUp && r.retriedTooOften(st) {
			return nil, nil
		}
	}
	if d := r.WaitedAnyway(i); d != nil {
		return d, nil
	}
	before := len(tx.Writes)
	r.InTheWay = nil
	p, view, err := r.predict(i, tx, kind, node)
	r.Steps[i].View = view
	if err != nil {
		return nil, err
	}
	r.Steps[i].Expected = p
	if r.views != nil {
		r.Steps[i].Chosen = r.views.Pos
	}
	if _, moved := r.Moved[st]; moved {
		p.LeaveOpen("when it took effect")
	}
	if tx.Auto && len(r.of(tx).forgotten) > 0 {
		return r.commitsAlone(i, tx, before)
	}
	if p.Err != 0 {
		r.Store.Undo(tx, before)
	}
	if r.KeepsLooks {
		r.Observe(i, tx, st.Submit)
	}
	if mvcc.ErrCode(st) == 0 && p.Err == 0 {
		if kind.Writes() {
			r.of(tx).wrote(r.Effect(st))
		}
		if d, err := r.missingWait(i, tx, kind, node, before, p); d != nil || err != nil {
			return d, err
		}
	}
	if loss := r.conditionOrder(i, kind, node, view, p); loss != nil {
		return nil, loss
	}
	if err := mvcc.TextLoss(p, st); err != nil {
		return nil, err
	}
	if d := r.Compare(i, kind, p); d != nil {
		r.name(d, i, tx, kind, node)
		return d, nil
	}
	return nil, nil
}

// commitsAlone judges the answer of a write that is a transaction of its own, whose commit misses a lock.
func (r *engine) commitsAlone(i int, tx *versions.Txn, before int) (*mvcc.Difference, error) {
	r.Store.Undo(tx, before)
	if st := &r.History.Stmts[i]; !mvcc.LostLock(st.Result.Err) {
		return r.hadToMissLock(i, history.Describe(r.Steps[i].Kind, &st.Result)), nil
	}
	return nil, nil
}

// hadToMissLock is the difference of a commit that succeeded where it had to miss a lock.
func (r *engine) hadToMissLock(i int, actual string) *mvcc.Difference {
	return &mvcc.Difference{Stmt: i, Kind: "missing-error", Expected: fmt.Sprintf("error %d", mvcc.ErrInternal), Actual: actual,
		Reason: "the commit had to miss a lock"}
}

// predict computes a statement's answer and applies its effect.
func (r *engine) predict(i int, tx *versions.Txn, kind stmt.Kind, node ast.StmtNode) (*mvcc.Prediction, versions.View, error) {
	st := &r.History.Stmts[i]
	r.lookup = nil
	switch kind {
	case stmt.Select:
		view := r.readView(tx, st, node)
		if p, ok, err := r.uniqueLookup(tx, node.(*ast.SelectStmt), view); ok || err != nil {
			return p, view, err
		}
		p, err := r.read(i, tx, node.(*ast.SelectStmt), view, kind)
		if err == nil {
			err = r.minBesideMax(tx, node.(*ast.SelectStmt), view, p)
		}
		return p, view, err
	case stmt.Insert:
		view := r.insertView(st, tx)
		p, err := r.insert(i, tx, node.(*ast.InsertStmt), view)
		return p, view, err
	case stmt.SelectForShare:
		if tx.Rules.Of(rules.ShareLock) == rules.ShareRefused {
			return &mvcc.Prediction{Matched: -1, Changed: -1, Err: mvcc.ErrNotSupported}, versions.View{}, nil
		}
	}
	if s, ok := node.(*ast.SelectStmt); ok && mvcc.DerivedOnly(s) && tx.Rules.Of(rules.LockedDerived) != rules.DerivedNewest {
		view := r.readView(tx, st, node)
		p, err := r.read(i, tx, s, view, stmt.Select)
		return p, view, err
	}
	r.lookup = r.lockingLookup(tx, kind, node)
	view, err := r.currentView(st, tx, kind, node)
	if err != nil {
		return nil, view, err
	}
	cached, held := r.afterLookup(tx, st, view)
	node = r.withRestartedConstants(tx, st, kind, node)
	var p *mvcc.Prediction
	switch s := node.(type) {
	case *ast.SelectStmt:
		p, err = r.lockingRead(i, tx, s, view, kind)
		if err == nil && p.Err == 0 && mvcc.LocksWhatItReturns(s) {
			for _, c := range p.Read {
				r.rowLocks.Take(versions.Lock{Txn: tx, Row: c, Mode: modeOf(kind)})
			}
		}
	case *ast.UpdateStmt:
		if mvcc.WritesSeveral(s) {
			p, err = r.several(i, tx, kind, s, view)
		} else {
			p, err = r.update(i, tx, s, view)
		}
	case *ast.DeleteStmt:
		if mvcc.WritesSeveral(s) {
			p, err = r.several(i, tx, kind, s, view)
		} else {
			p, err = r.delete(i, tx, s, view)
		}
	default:
		return nil, view, &mvcc.Loss{Slug: "unsupported: a statement of unknown effect", Detail: string(kind)}
	}
	if p != nil {
		if kind == stmt.Update && p.Err != 0 {
			r.of(tx).failedUpdate = true
		}
		if tx.Rules.Of(rules.AbsentKey) == rules.AbsentRemembered && p.Err == 0 && mvcc.ErrCode(st) == 0 {
			r.keep(tx, kind, node, p, cached, held)
		}
	}
	return p, view, err
}

// readView returns what a consistent read sees.
func (r *engine) readView(tx *versions.Txn, st *history.Stmt, node ast.StmtNode) versions.View {
	switch tx.Rules.Of(rules.ConsistentRead) {
	case rules.Newest:
		return versions.View{Uncommitted: true, Own: tx}
	case rules.Snapshot:
		if r.readsNewestUnlocked(tx, node) || tx.Rules.Of(rules.ReverseScan) == rules.NewestCommitted && scansBackwards(node) && !r.looksUpOneKey(node) {
			return versions.View{Tick: st.Submit, Own: tx}
		}
		if tx.Snapshot == 0 {
			tx.Snapshot = st.Submit
		}
		return versions.View{Tick: tx.Snapshot, Own: tx}
	}
	return versions.View{Tick: st.Submit, Own: tx}
}
