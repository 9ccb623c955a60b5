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
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Error codes that the rules speak of.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
const (
	ErrDup           = 1062
	ErrInternal      = 1105
	ErrLockTimeout   = 1205
	ErrDeadlock      = 1213
	ErrNoKey         = 1176
	ErrNotSupported  = 1235
	ErrAutoIncrement = 1467
	// ErrAutoRange is the same on MariaDB: HA_ERR_AUTOINC_ERANGE.
	// https://mariadb.com/docs/server/reference/data-types/auto_increment
	ErrAutoRange    = 167
	ErrInconsistent = 8133
	// ErrSchemaChanged is TiDB's of a transaction beside which a table was altered.
	ErrSchemaChanged = 8028
	ErrNowait        = 3572
	errNoSavepoint   = 1305
	// ErrWriteConflict is TiDB's: https://docs.pingcap.com/tidb/stable/error-codes
	ErrWriteConflict = 9007
)

// Effect is when a statement took effect.
func (r *Replay) Effect(st *history.Stmt) history.Tick {
	if at, ok := r.Moved[st]; ok {
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
	if k := KindOf(r.Case.Steps[st.Line].Stmt); k != stmt.Commit && k != stmt.Rollback {
		return false
	}
	if slices.ContainsFunc(st.Waits, func(w history.Wait) bool { return w.Kind != history.Silence }) {
		return false
	}
	return slices.ContainsFunc(r.History.Stmts, func(o history.Stmt) bool {
		return slices.ContainsFunc(o.Waits, func(w history.Wait) bool {
			return w.Kind == history.RowLock && st.Submit < w.Until && w.Until < st.Waits[0].From && slices.Contains(w.Holders, st.Session)
		})
	})
}

// Runs notes which statement is replayed.
func (r *Replay) Runs(i int) {
	r.Store.Stmt = i
	r.Solver.AskFor(i)
}

func ErrCode(st *history.Stmt) uint16 {
	if st.Result.Err == nil {
		return 0
	}
	return st.Result.Err.Means()
}

// Control replays a statement that touches no table.
func (r *Replay) Control(i int, s *Session, kind stmt.Kind, node ast.StmtNode) (*Difference, error) {
	st := &r.History.Stmts[i]
	if st.Result.Err != nil {
		return r.ControlError(i, s, kind, node)
	}
	if Continues(node) {
		return nil, ErrContinues
	}
	switch kind {
	case stmt.Begin, stmt.BeginSnapshot:
		r.BeginAnew(i, s, node)
	case stmt.Commit:
		if s.Txn != nil {
			r.Commit(s.Txn, r.Effect(st))
			s.Txn = nil
		}
		s.Settled()
	case stmt.Rollback:
		if s.Txn != nil {
			r.Rollback(s.Txn, st.Submit)
			s.Txn = nil
		}
		s.Settled()
	case stmt.Savepoint:
		if s.Txn != nil {
			name := stmt.Of(node).Savepoint
			s.Txn.DropSavepoint(name)
			s.Txn.Savepoints = append(s.Txn.Savepoints, versions.Savepoint{Name: strings.ToLower(name), Writes: len(s.Txn.Writes)})
		}
	case stmt.RollbackTo:
		if s.Txn == nil {
			break
		}
		if j := s.Txn.Savepoint(stmt.Of(node).Savepoint); j >= 0 {
			r.Store.Undo(s.Txn, s.Txn.Savepoints[j].Writes)
			s.Txn.Savepoints = s.Txn.Savepoints[:j+1]
		}
	case stmt.ReleaseSavepoint:
		if s.Txn != nil {
			if j := s.Txn.Savepoint(stmt.Of(node).Savepoint); j >= 0 {
				s.Txn.Savepoints = s.Txn.Savepoints[:j]
			}
		}
	case stmt.SetLevel:
		l, _ := LevelOfSet(node.(*ast.SetStmt))
		if s.Txn != nil {
			s.next = l
		} else {
			s.Level, s.next, s.once = l, 0, 0
		}
	case stmt.SetVariable:
		if loss := r.SetVariables(s, st, node.(*ast.SetStmt), func(t *versions.Txn) { r.Commit(t, r.Effect(st)) }); loss != nil {
			return nil, loss
		}
	}
	return nil, nil
}

// BeginAnew replays a BEGIN, which commits the open transaction, if there is one.
func (r *Replay) BeginAnew(i int, s *Session, node ast.StmtNode) {
	st := &r.History.Stmts[i]
	at := st.Submit
	if s.Txn != nil {
		s.EndsOddly(s.Txn)
		r.Commit(s.Txn, at)
		at++ // its snapshot sees the commit
	}
	s.TakeNext()
	s.Txn = r.Begin(st.Session, at)
	s.Characterize(s.Txn, node)
	if stmt.KindOf(node) == stmt.BeginSnapshot {
		s.Txn.Snapshot = at
	}
}

// LostLock reports whether an error of TiDB's own says that COMMIT misses a lock.
func LostLock(e *history.Error) bool {
	return e != nil && e.Code == ErrInternal && strings.Contains(e.Message, "pessimistic lock not found")
}

// RetriedTooOften reports whether an error of TiDB's own says that a statement has started again too often.
func RetriedTooOften(e *history.Error) bool {
	return e != nil && strings.Contains(e.Message, "pessimistic lock retry limit reached")
}

// ControlError judges an error of a statement that touches no table.
func (r *Replay) ControlError(i int, s *Session, kind stmt.Kind, node ast.StmtNode) (*Difference, error) {
	st := &r.History.Stmts[i]
	e := st.Result.Err
	commits := s.Txn != nil && kind.Commits()
	switch {
	case e.Code == ErrInternal:
		if commits {
			r.Rollback(s.Txn, st.Submit)
			s.Txn = nil
		}
		what := string(kind)
		if commits && kind != stmt.Commit {
			what += ", which commits the open transaction,"
		}
		return &Difference{Stmt: i, Kind: "internal-error", Expected: "no error", Actual: e.String(),
			Reason: what + " failed with an error that no statement may give"}, nil
	case commits && e.Code == ErrDeadlock:
		r.Rollback(s.Txn, st.Return)
		s.Txn = nil
		return &Difference{Stmt: i, Kind: "unjustified-abort", Expected: "commit succeeds", Actual: e.String(),
			Reason: "a pessimistic transaction took all its locks before, so its commit neither waits nor is part of a deadlock"}, nil
	case kind == stmt.SetVariable && s.setRefused(r.Case.Steps[st.Line].Stmt.(*ast.SetStmt), e.Code):
		return nil, nil
	case kind == stmt.SetVariable:
		return nil, &Loss{Slug: "unsupported: variable that the server refuses"}
	case (kind == stmt.RollbackTo || kind == stmt.ReleaseSavepoint) && e.Code == errNoSavepoint:
		name := stmt.Of(r.Case.Steps[st.Line].Stmt).Savepoint
		if s.Txn == nil || s.Txn.Savepoint(name) < 0 {
			return nil, nil
		}
	}
	return &Difference{Stmt: i, Kind: "unexpected-error", Expected: "no error", Actual: e.String(),
		Reason: fmt.Sprintf("%s has no reason to fail", kind)}, nil
}

var ErrContinues = &Loss{Slug: "unsupported: AND CHAIN or RELEASE"}

// Continues reports whether the end of a transaction begins another one or ends the
// session.
func Continues(node ast.StmtNode) bool {
	switch n := node.(type) {
	case *ast.CommitStmt:
		return n.CompletionType != ast.CompletionTypeDefault
	case *ast.RollbackStmt:
		return n.CompletionType != ast.CompletionTypeDefault
	}
	return false
}

// ErrIgnored is the loss of an UPDATE that is to leave out rows with a key that is there.
var ErrIgnored = &Loss{Slug: "unsupported: UPDATE IGNORE of a duplicate"}

// LocksWhatItReturns reports whether the rows that a locking read returns are
// surely the rows that it locked: one table, no LIMIT, no grouping, no
// subquery, and no MIN or MAX, for which one entry of an index may do.
func LocksWhatItReturns(s *ast.SelectStmt) bool {
	return stmt.SoleTable(s.From) != nil && s.Limit == nil && s.GroupBy == nil && !s.Distinct && !HasSubquery(s) && !picksMinOrMax(s)
}

// PlainRows reports whether a query returns one row for each that it finds.
func PlainRows(s *ast.SelectStmt) bool {
	return s.GroupBy == nil && s.Having == nil && !s.Distinct && !Aggregates(s)
}

func picksMinOrMax(s *ast.SelectStmt) bool {
	return corpus.Contains(s.Fields, func(n ast.Node) (found, skip bool) {
		a, ok := n.(*ast.AggregateFuncExpr)
		return ok && (strings.EqualFold(a.F, ast.AggFuncMin) || strings.EqualFold(a.F, ast.AggFuncMax)), false
	})
}

// SQLErrorOf returns the code of a server error that the solver predicts, or the
// loss that its refusal is.
func SQLErrorOf(err error) (uint16, error) {
	var e *solve.SQLError
	if errors.As(err, &e) {
		return e.Code, nil
	}
	return 0, LossOf("solver", err)
}
