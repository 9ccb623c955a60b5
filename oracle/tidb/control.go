package tidb

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// errLevel: this isolation level is not supported.
// https://docs.pingcap.com/tidb/stable/error-codes
const errLevel = 8048

// control replays a statement that touches no table.
func (r *engine) control(i int, s *mvcc.Session, kind stmt.Kind, node ast.StmtNode) (*mvcc.Difference, error) {
	st := &r.History.Stmts[i]
	if st.Result.Err != nil {
		return r.controlError(i, s, kind, node)
	}
	if s.Txn == nil || mvcc.Continues(node) {
		return r.Control(i, s, kind, node)
	}
	if kind.Commits() && (len(r.of(s.Txn).forgotten) > 0 || r.missesLock(s.Txn, st.Submit, false)) {
		return r.hadToMissLock(i, "ok"), nil
	}
	switch name := strings.ToLower(stmt.Of(node).Savepoint); kind {
	case stmt.Savepoint:
		t := r.of(s.Txn)
		if t.absentAt == nil {
			t.absentAt = make(map[string]*absentCache)
		}
		t.absentAt[name] = t.absent.clone()
	case stmt.RollbackTo:
		if t := r.of(s.Txn); s.Txn.Savepoint(name) >= 0 {
			t.absent = t.absentAt[name]
		}
	}
	return r.Control(i, s, kind, node)
}

// controlError judges an error of a statement that touches no table.
func (r *engine) controlError(i int, s *mvcc.Session, kind stmt.Kind, node ast.StmtNode) (*mvcc.Difference, error) {
	st := &r.History.Stmts[i]
	e := st.Result.Err
	switch commits := s.Txn != nil && kind.Commits(); {
	case commits && mvcc.LostLock(e):
		if len(r.of(s.Txn).forgotten) > 0 || r.missesLock(s.Txn, st.Submit, true) {
			r.Rollback(s.Txn, st.Submit)
			s.Txn = nil
			return nil, nil
		}
	case commits && e.Code == mvcc.ErrLockTimeout && len(st.Waits) > 0 && r.locksLate(s):
		if kind == stmt.Commit {
			r.Rollback(s.Txn, st.Return)
			s.Txn = nil
		} else {
			r.BeginAnew(i, s, node)
		}
		return nil, nil
	case commits && e.Code == mvcc.ErrDeadlock && r.locksLate(s):
		if len(st.Waits) > 0 || r.OthersWaited(st) {
			r.Rollback(s.Txn, st.Return)
			s.Txn = nil
			return nil, nil
		}
	case s.Txn != nil && !commits && e.Code == mvcc.ErrDeadlock && r.locksLate(s):
		if len(st.Waits) > 0 || r.OthersWaited(st) {
			r.Rollback(s.Txn, st.Return)
			s.Txn = nil
			return nil, nil
		}
	case s.Txn != nil && kind == stmt.Use && e.Code == mvcc.ErrLockTimeout && len(st.Waits) > 0 && r.locksLate(s):
		return nil, nil
	case commits && e.Code == mvcc.ErrWriteConflict:
		r.Rollback(s.Txn, st.Submit)
		s.Txn = nil
		return &mvcc.Difference{Stmt: i, Kind: "unjustified-abort", Expected: "commit succeeds", Actual: e.String(),
			Reason: "a pessimistic transaction holds locks on all that it wrote, so its commit cannot conflict"}, nil
	case kind == stmt.SetLevel && e.Code == errLevel:
		// TiDB has no other levels; the session keeps the one it has:
		// https://docs.pingcap.com/tidb/stable/system-variables#tidb_skip_isolation_level_check
		l, _ := mvcc.LevelOfSet(r.Case.Steps[st.Line].Stmt.(*ast.SetStmt))
		if l == corpus.ReadUncommitted || l == corpus.Serializable {
			return nil, nil
		}
	}
	return r.ControlError(i, s, kind, node)
}

// locksLate reports whether the open transaction takes locks only at its COMMIT, or behind another
// statement, as a failed UPDATE leaves it to do.
func (r *engine) locksLate(s *mvcc.Session) bool {
	return s.Txn.Rules.Of(rules.LateLocks) == rules.LockedAtCommit && r.of(s.Txn).failedUpdate
}
