package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// abort ends a statement that an error ended from outside: a deadlock or a
// lock time-out.
func (e *engine) abort(i int) *Difference {
	st := &e.h.Stmts[i]
	x := e.running[st.Session]
	if x == nil || x.i != i {
		return nil
	}
	e.Steps[i].chosen = e.choices.pos
	if errCode(st) == errDeadlock {
		if e.Steps[i].Expected == nil {
			e.Steps[i].Expected = e.cornered(x)
		}
		if e.Steps[i].Expected == nil {
			e.Steps[i].unproved = true
		}
	}
	if x.stop != nil {
		x.stop()
	}
	delete(e.running, st.Session)
	s := e.session(st.Session)
	d := e.cause(i, x.tx)
	if d == nil && errCode(st) == errDeadlock {
		d = e.uninvolved(x)
	}
	switch {
	case x.auto || errCode(st) == errDeadlock:
		e.rollbackInnoDB(s, x.tx)
		s.endsOddly(x.tx)
		s.txn = nil
		if e.takeLevel(s, true); x.auto {
			s.takeNext()
		}
		if !x.auto && x.tx.Rules.of(rules.AfterDeadlock) == rules.AnotherTransaction {
			s.txn = e.beginInnoDB(s, x.st.Session)
			s.txn.readOnly = x.tx.readOnly
			s.reopened = true
		}
	default:
		x.tx.gaveUp = true
		e.undoAmid(x.tx, x.mark)
	}
	return d
}

// LeftOpen is the kind of a difference: a session whose transaction was ended
// for it is in a transaction all the same, as the status of an answer says.
const LeftOpen = "transaction-left-open"

// reopened looks for a session that the server says to be in a transaction
// although a deadlock ended it and none was begun.
func (r *Replay) reopened() *Difference {
	ended, manual := map[int]bool{}, r.manualSessions()
	for i := range r.h.Stmts {
		st := &r.h.Stmts[i]
		kind := KindOf(r.c.Steps[st.Line].Stmt)
		switch code := errCode(st); {
		case manual[st.Session]: // its next statement begins a transaction
		case code == errDeadlock:
			ended[st.Session] = true
		case code == 0 && !kind.Control() && ended[st.Session]:
			if tx := r.rulesAt(r.h.Levels[st.Session]); st.Result.InTxn && tx.of(rules.AfterDeadlock) == rules.NoTransaction {
				return &Difference{Stmt: i, Kind: LeftOpen, Expected: "outside of a transaction", Actual: "inside of one",
					Reason: "the session's transaction was a deadlock's victim, and no BEGIN was sent since, yet the server says that it is in a transaction"}
			}
		case kind == stmt.Begin || kind == stmt.BeginSnapshot || code == 0 && (kind == stmt.Commit || kind == stmt.Rollback):
			delete(ended, st.Session)
		}
	}
	return nil
}

func (e *engine) beginInnoDB(s *session, n int) *Txn {
	s.reopened = false
	level := s.nextLevel()
	t := &Txn{Session: n, Level: level, Rules: e.rulesAt(level), Begin: e.clock}
	return t
}

func (e *engine) commitInnoDB(s *session, t *Txn) {
	t.Commit = e.now()
	t.Ended = t.Commit
	s.ended++
	if len(t.stmts) > 0 {
		e.units = append(e.units, t)
	}
}

func (e *engine) rollbackInnoDB(s *session, t *Txn) {
	e.withdraw(t)
	s.ended++
}

// withdraw takes back what a transaction did and lets go what it locked.
func (e *engine) withdraw(t *Txn) {
	e.undoAmid(t, 0)
	t.Ended = e.now()
}

// takeLevel lets a level take effect that was set inside a transaction which
// ended without COMMIT or ROLLBACK: an error ended it, or BEGIN.
func (e *engine) takeLevel(s *session, byError bool) {
	late := e.rulesAt(s.level).of(rules.LateLevel)
	if late == rules.NextTransaction || late == rules.AfterOwnEnd && !byError {
		s.takeNext()
	}
}

// takeNext lets a level take effect that was set inside a transaction. The end
// of a statement that is a transaction of its own does that in any case: the
// level that the rule of takeLevel left waiting is that of the next transaction
// only, not of the rest of the session.
func (s *session) takeNext() {
	if s.next != 0 {
		s.level, s.next = s.next, 0
	}
}

// controlInnoDB replays a statement that touches no table.
func (e *engine) controlInnoDB(i int, s *session, kind stmt.Kind, node ast.StmtNode) (*Difference, error) {
	st := &e.h.Stmts[i]
	if st.Result.Err != nil {
		return e.controlError(i, s, kind, node)
	}
	if continues(node) {
		return nil, errContinues
	}
	switch kind {
	case stmt.Begin, stmt.BeginSnapshot:
		begun := s.txn != nil
		if begun {
			s.endsOddly(s.txn)
			e.commitInnoDB(s, s.txn)
		}
		e.takeLevel(s, !begun)
		s.txn = e.beginInnoDB(s, st.Session)
		s.characterize(s.txn, node)
		s.txn.entered = stmt.KindOf(node) == stmt.BeginSnapshot
		if kind == stmt.BeginSnapshot && s.txn.Rules.of(rules.ConsistentRead) == rules.Snapshot || stmt.KindOf(node) == stmt.BeginSnapshot && s.txn.Level == corpus.Serializable && e.isolatesSnapshots(s.txn) {
			// What BEGIN has committed is older than the snapshot.
			s.txn.Snapshot = e.now()
		}
		return nil, nil
	case stmt.Commit:
		if s.txn != nil {
			e.commitInnoDB(s, s.txn)
			s.txn = nil
		}
		s.settled()
	case stmt.Rollback:
		if s.txn != nil {
			e.rollbackInnoDB(s, s.txn)
			s.txn = nil
		}
		s.settled()
	case stmt.RollbackTo:
		if s.txn == nil {
			break
		}
		if j := s.txn.savepoint(stmt.Of(node).Savepoint); j >= 0 {
			kept := s.txn.savepoints[:j+1]
			if kept[j].idle {
				// InnoDB was not in the transaction yet: all that it holds goes.
				e.withdraw(s.txn)
				old := s.txn
				s.txn = e.beginInnoDB(s, st.Session)
				s.txn.Level, s.txn.Rules = old.Level, old.Rules
				s.txn.implicit, s.txn.shown, s.txn.readOnly, s.txn.own = old.implicit, old.shown, old.readOnly, old.own
			} else {
				e.undoAmid(s.txn, kept[j].writes)
			}
			s.txn.savepoints = kept
			e.partial = true
		}
	case stmt.SetLevel, stmt.SetVariable:
		if s.reopened {
			// The transaction that follows has not begun on the server, as the answer shows.
			s.txn = nil
			defer func() {
				s.txn = e.beginInnoDB(s, st.Session)
				s.reopened = true
			}()
		}
		if kind == stmt.SetLevel {
			return e.control(i, s, kind, node)
		}
		if loss := e.setVariables(s, st, node.(*ast.SetStmt), func(t *Txn) { e.commitInnoDB(s, t) }); loss != nil {
			return nil, loss
		}
		return nil, nil
	default:
		return e.control(i, s, kind, node)
	}
	if kind != stmt.RollbackTo {
		s.takeNext()
	}
	return nil, nil
}
