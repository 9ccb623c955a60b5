package innodb

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// abort ends a statement that an error ended from outside: a deadlock or a
// lock time-out.
func (e *engine) abort(i int) *mvcc.Difference {
	st := &e.History.Stmts[i]
	x := e.running[st.Session]
	if x == nil || x.i != i {
		return nil
	}
	e.Steps[i].Chosen = e.choices.Pos
	if mvcc.ErrCode(st) == mvcc.ErrDeadlock {
		if e.Steps[i].Expected == nil {
			e.Steps[i].Expected = e.cornered(x)
		}
		if e.Steps[i].Expected == nil {
			e.Steps[i].Unproved = true
		}
	}
	if x.stop != nil {
		x.stop()
	}
	delete(e.running, st.Session)
	s := e.Session(st.Session)
	d := e.Cause(i, x.tx)
	if d == nil && mvcc.ErrCode(st) == mvcc.ErrDeadlock {
		d = e.uninvolved(x)
	}
	switch {
	case x.auto || mvcc.ErrCode(st) == mvcc.ErrDeadlock:
		e.rollbackInnoDB(s, x.tx)
		s.EndsOddly(x.tx)
		s.Txn = nil
		if e.takeLevel(s, true); x.auto {
			s.TakeNext()
		}
		if !x.auto && x.tx.Rules.Of(rules.AfterDeadlock) == rules.AnotherTransaction {
			s.Txn = e.beginInnoDB(s, x.st.Session)
			s.Txn.ReadOnly = x.tx.ReadOnly
			s.Reopened = true
		}
	default:
		e.of(x.tx).gaveUp = true
		e.undoGradually(x.tx, x.mark)
	}
	return d
}

// reopened looks for a session that the server says to be in a transaction
// although a deadlock ended it and none was begun.
func (r *paths) reopened() *mvcc.Difference {
	ended, manual := map[int]bool{}, r.manualSessions()
	for i := range r.History.Stmts {
		st := &r.History.Stmts[i]
		kind := mvcc.KindOf(r.Case.Steps[st.Line].Stmt)
		switch code := mvcc.ErrCode(st); {
		case manual[st.Session]: // its next statement begins a transaction
		case code == mvcc.ErrDeadlock:
			ended[st.Session] = true
		case code == 0 && !kind.Control() && ended[st.Session]:
			if tx := r.RulesAt(r.History.Levels[st.Session]); st.Result.InTxn && tx.Of(rules.AfterDeadlock) == rules.NoTransaction {
				return &mvcc.Difference{Stmt: i, Kind: mvcc.LeftOpen, Expected: "outside of a transaction", Actual: "inside of one",
					Reason: "the session's transaction was a deadlock's victim, and no BEGIN was sent since, yet the server says that it is in a transaction"}
			}
		case kind == stmt.Begin || kind == stmt.BeginSnapshot || code == 0 && (kind == stmt.Commit || kind == stmt.Rollback):
			delete(ended, st.Session)
		}
	}
	return nil
}

func (e *engine) beginInnoDB(s *mvcc.Session, n int) *versions.Txn {
	s.Reopened = false
	level := s.NextLevel()
	t := &versions.Txn{Session: n, Level: level, Rules: e.RulesAt(level), Begin: e.clock}
	return t
}

func (e *engine) commitInnoDB(s *mvcc.Session, t *versions.Txn) {
	t.Commit = e.now()
	t.Ended = t.Commit
	s.Ended++
	if len(t.Stmts) > 0 {
		e.units = append(e.units, t)
		e.missed = e.missed || e.of(t).missed
	}
}

func (e *engine) rollbackInnoDB(s *mvcc.Session, t *versions.Txn) {
	e.withdraw(t)
	s.Ended++
}

// withdraw takes back what a transaction did and lets go what it locked.
func (e *engine) withdraw(t *versions.Txn) {
	e.undoGradually(t, 0)
	t.Ended = e.now()
}

// takeLevel lets a level take effect that was set inside a transaction which
// ended without COMMIT or ROLLBACK: an error ended it, or BEGIN.
func (e *engine) takeLevel(s *mvcc.Session, byError bool) {
	late := e.RulesAt(s.Level).Of(rules.LateLevel)
	if late == rules.NextTransaction || late == rules.AfterOwnEnd && !byError {
		s.TakeNext()
	}
}

// controlInnoDB replays a statement that touches no table.
func (e *engine) controlInnoDB(i int, s *mvcc.Session, kind stmt.Kind, node ast.StmtNode) (*mvcc.Difference, error) {
	st := &e.History.Stmts[i]
	if st.Result.Err != nil {
		return e.ControlError(i, s, kind, node)
	}
	if mvcc.Continues(node) {
		return nil, mvcc.ErrContinues
	}
	switch kind {
	case stmt.Begin, stmt.BeginSnapshot:
		begun := s.Txn != nil
		if begun {
			s.EndsOddly(s.Txn)
			e.commitInnoDB(s, s.Txn)
		}
		e.takeLevel(s, !begun)
		s.Txn = e.beginInnoDB(s, st.Session)
		s.Characterize(s.Txn, node)
		e.of(s.Txn).entered = stmt.KindOf(node) == stmt.BeginSnapshot
		if kind == stmt.BeginSnapshot && s.Txn.Rules.Of(rules.ConsistentRead) == rules.Snapshot || stmt.KindOf(node) == stmt.BeginSnapshot && s.Txn.Level == corpus.Serializable && e.isolatesSnapshots(s.Txn) {
			// What BEGIN has committed is older than the snapshot.
			s.Txn.Snapshot = e.now()
		}
		return nil, nil
	case stmt.Commit, stmt.Analyze:
		if s.Txn != nil {
			e.commitInnoDB(s, s.Txn)
			s.Txn = nil
		}
		s.Settled()
	case stmt.Rollback:
		if s.Txn != nil {
			e.rollbackInnoDB(s, s.Txn)
			s.Txn = nil
		}
		s.Settled()
	case stmt.Savepoint:
		d, err := e.Control(i, s, kind, node)
		if s.Txn != nil && err == nil {
			t, idle := e.of(s.Txn), len(s.Txn.Stmts) == 0 && s.Txn.Snapshot == 0
			if t.idleAt == nil {
				t.idleAt = make(map[string]bool)
			}
			t.idleAt[strings.ToLower(stmt.Of(node).Savepoint)] = idle && !t.entered
		}
		return d, err
	case stmt.RollbackTo:
		if s.Txn == nil {
			break
		}
		if j := s.Txn.Savepoint(stmt.Of(node).Savepoint); j >= 0 {
			kept := s.Txn.Savepoints[:j+1]
			idleAt := e.of(s.Txn).idleAt
			if idleAt[kept[j].Name] && s.Txn.Rules.Of(rules.IdleSavepoint) == rules.RenewsTransaction {
				// InnoDB was not in the transaction yet: all that it holds goes.
				e.withdraw(s.Txn)
				old := s.Txn
				s.Txn = e.beginInnoDB(s, st.Session)
				s.Txn.Level, s.Txn.Rules = old.Level, old.Rules
				e.of(s.Txn).idleAt = idleAt
				s.Txn.Implicit, s.Txn.Shown, s.Txn.ReadOnly, s.Txn.OwnLevel = old.Implicit, old.Shown, old.ReadOnly, old.OwnLevel
			} else {
				e.keepLocksOf(s.Txn, kept[j].Writes)
				e.undoGradually(s.Txn, kept[j].Writes)
			}
			s.Txn.Savepoints = kept
			e.partial = true
		}
	case stmt.SetLevel, stmt.SetVariable:
		if s.Reopened {
			// The transaction that follows has not begun on the server, as the answer shows.
			s.Txn = nil
			defer func() {
				s.Txn = e.beginInnoDB(s, st.Session)
				s.Reopened = true
			}()
		}
		if kind == stmt.SetLevel {
			return e.Control(i, s, kind, node)
		}
		if loss := e.SetVariables(s, st, node.(*ast.SetStmt), func(t *versions.Txn) { e.commitInnoDB(s, t) }); loss != nil {
			return nil, loss
		}
		return nil, nil
	default:
		return e.Control(i, s, kind, node)
	}
	if kind != stmt.RollbackTo {
		s.Reopened = false
		s.TakeNext()
	}
	return nil, nil
}

// errReadOnly: a statement that writes, or locks for writing, in a transaction that
// is READ ONLY. The server looks before it looks for columns.
// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html#error_er_cant_execute_in_read_only_transaction
const errReadOnly = 1792

// refusal is the answer to a statement that a READ ONLY transaction does not take,
// nil if it takes it.
func refusal(t *versions.Txn, kind stmt.Kind) *mvcc.Prediction {
	if !t.ReadOnly || !kind.Writes() && kind != stmt.SelectForUpdate {
		return nil
	}
	return &mvcc.Prediction{Matched: -1, Changed: -1, Err: errReadOnly}
}

// manualSessions returns the sessions that set autocommit.
func (r *paths) manualSessions() map[int]bool {
	out := map[int]bool{}
	for i := range r.History.Stmts {
		if s, ok := r.Case.Steps[r.History.Stmts[i].Line].Stmt.(*ast.SetStmt); ok && slices.ContainsFunc(s.Variables, func(v *ast.VariableAssignment) bool { return v.Name == "autocommit" }) {
			out[r.History.Stmts[i].Session] = true
		}
	}
	return out
}
