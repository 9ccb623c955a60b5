package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// session is a session in a world.
type session struct {
	// txn is the transaction that BEGIN opened, nil for none; failed, that an error has
	// aborted it.
	txn        *versions.Txn
	failed     bool
	savepoints []savepoint
	locks      versions.Locks
	// sets is the level of the transactions behind this one if it commits, 0 for that of now.
	sets corpus.Level
	// notifies says that the transaction has listened or notified, and so may not be prepared.
	notifies bool
}

// savepoint is how much its transaction had written and locked. Two may have one name: then
// the newer hides the older.
type savepoint struct {
	name          string
	writes, locks int
	// sets is that of its session then.
	sets corpus.Level
}

func (w *world) session(n int) *session {
	s := w.sessions[n]
	if s == nil {
		s = &session{}
		w.sessions[n] = s
	}
	return s
}

// open opens a transaction.
func (w *world) open(st *history.Stmt) (*versions.Txn, error) {
	t := w.Begin(st.Session, st.Submit)
	if t.Level != corpus.ReadCommitted && t.Level != corpus.ReadUncommitted {
		return nil, &mvcc.Loss{Slug: "unsupported: " + t.Level.String()}
	}
	return t, nil
}

// abort undoes what an error ends: the innermost subtransaction, of which there is one for
// each savepoint, and without any the transaction. The locks of what is undone are free at
// once, those from before the savepoint are not.
func (w *world) abort(s *session, tx *versions.Txn, at history.Tick) {
	if n := len(s.savepoints); n > 0 {
		w.undoTo(s, s.savepoints[n-1])
	} else {
		w.Rollback(tx, at)
		s.locks = nil
	}
	s.failed = s.txn != nil
}

func (w *world) undoTo(s *session, p savepoint) {
	w.Store.Undo(s.txn, p.writes)
	s.locks = s.locks[:p.locks]
}

// leave forgets a transaction that has ended.
func (s *session) leave() { *s = session{} }

// control replays a statement that touches no table.
func (w *world) control(i int, kind stmt.Kind, node ast.StmtNode) (*mvcc.Difference, error) {
	st := &w.History.Stmts[i]
	s := w.session(st.Session)
	chains := mvcc.Continues(node)
	if chains && stateOf(&st.Result) == syntaxError { // before 12
		return nil, mvcc.ErrContinues
	}
	if _, modes := node.(*stmt.ModesStmt); modes {
		return nil, &mvcc.Loss{Slug: "unsupported: modes of a transaction"}
	}
	if b, ok := node.(*ast.BeginStmt); ok && (b.ReadOnly || kind != stmt.Begin) {
		return nil, &mvcc.Loss{Slug: "unsupported: READ ONLY or WITH CONSISTENT SNAPSHOT"}
	}
	name := strings.ToLower(stmt.Of(node).Savepoint)
	// Of savepoints with one name the newest counts.
	at := len(s.savepoints) - 1
	for at >= 0 && s.savepoints[at].name != name {
		at--
	}
	want := ""
	switch kind {
	case stmt.Begin:
		if s.failed {
			want = inFailedTxn
		} else if s.txn == nil { // else PostgreSQL warns and goes on in the open one
			var err error
			if s.txn, err = w.open(st); err != nil {
				return nil, err
			}
		}
	case stmt.Commit, stmt.Rollback:
		was := s.txn
		if s.txn != nil && kind == stmt.Commit && !s.failed {
			w.Commit(s.txn, w.effect(i))
			w.setsLevel(st.Session, s.sets)
		} else if s.txn != nil && s.txn.Ended == 0 {
			w.Rollback(s.txn, w.effect(i))
		}
		s.leave()
		if chains && was == nil {
			want = noTransaction
		} else if chains { // the next one has the characteristics of the last
			s.txn = w.Begin(st.Session, w.effect(i))
			s.txn.Level, s.txn.Rules = was.Level, was.Rules
		}
	case stmt.Savepoint, stmt.ReleaseSavepoint, stmt.RollbackTo:
		switch {
		case s.txn == nil:
			want = noTransaction
		case s.failed && kind != stmt.RollbackTo:
			want = inFailedTxn
		case kind == stmt.Savepoint:
			s.savepoints = append(s.savepoints, savepoint{name, len(s.txn.Writes), len(s.locks), s.sets})
		case at < 0:
			want = noSavepoint
		case kind == stmt.ReleaseSavepoint:
			s.savepoints = s.savepoints[:at]
		default:
			w.undoTo(s, s.savepoints[at])
			s.sets = s.savepoints[at].sets
			s.savepoints, s.failed = s.savepoints[:at+1], false
		}
	case stmt.Advisory, stmt.Listen, stmt.Unlisten, stmt.Notify, stmt.Sequence:
		return w.besideRows(i, s), nil
	case stmt.Prepare, stmt.CommitPrepared, stmt.RollbackPrepared:
		var err error
		if want, err = w.preparing(i, s, node); err != nil {
			return nil, err
		}
	case stmt.SetLevel:
		// It is of the transactions to come, and goes with one that does not commit.
		// https://www.postgresql.org/docs/current/sql-set-transaction.html
		level, ok := corpus.LevelOfValue(node.(*ast.SetStmt).Variables[0].Value)
		switch {
		case !ok:
			return nil, &mvcc.Loss{Slug: "unsupported: a statement of unknown effect", Detail: string(kind)}
		case s.failed:
			want = inFailedTxn
		case s.txn != nil:
			s.sets = level
		default:
			w.setsLevel(st.Session, level)
		}
	default:
		return nil, &mvcc.Loss{Slug: "unsupported: a statement of unknown effect", Detail: string(kind)}
	}
	if want != "" && s.txn != nil && !s.failed {
		w.abort(s, s.txn, w.effect(i))
	}
	return w.compareError(i, want), nil
}

// setsLevel gives the transactions to come of a session a level, 0 for the one that they have.
func (w *world) setsLevel(session int, level corpus.Level) {
	if level != 0 {
		w.Session(session).Level = level
	}
}

// compareError compares an answer's SQLSTATE with the only one that is allowed, "" for none.
func (w *world) compareError(i int, want string) *mvcc.Difference {
	st := &w.History.Stmts[i]
	got := stateOf(&st.Result)
	d := &mvcc.Difference{Stmt: i, Expected: "no error", Actual: history.Describe(w.Steps[i].Kind, &st.Result)}
	if want != "" {
		d.Expected = "SQLSTATE " + want
	}
	switch {
	case got == want:
		return nil
	case got == "":
		d.Kind, d.Reason = "missing-error", fmt.Sprintf("the %s had to fail", w.Steps[i].Kind)
	case want == "":
		d.Kind, d.Reason = "unexpected-error", fmt.Sprintf("nothing that the %s meets makes it fail", w.Steps[i].Kind)
	default:
		d.Kind, d.Reason = "wrong-error", fmt.Sprintf("the %s had to fail in another way", w.Steps[i].Kind)
	}
	return d
}

// compareStatus holds what the server says of the session's transaction against the rules.
func (w *world) compareStatus(i int) *mvcc.Difference {
	st := &w.History.Stmts[i]
	s := w.session(st.Session)
	words := map[bool]string{true: "inside a transaction", false: "outside, or in one that failed"}
	open := s.txn != nil && !s.failed
	if st.Result.InTxn == open {
		return nil
	}
	d := &mvcc.Difference{Stmt: i, Kind: "lost-transaction", Expected: words[open], Actual: words[st.Result.InTxn],
		Reason: "behind the statement the server says otherwise of the session's transaction"}
	if !open {
		d.Kind = mvcc.LeftOpen
	}
	return d
}

// deadlocked reports whether a statement can have waited in a cycle: one of the sessions that
// it waited for last ran a statement, too, while the deadlock was found. Whom that waited for
// is not asked of it, for a wait that the deadlock ends may be over before anybody sees it.
func (w *world) deadlocked(victim *history.Stmt) bool {
	if len(victim.Waits) == 0 {
		return false
	}
	var found history.Tick // the last submission before it
	for i := range w.History.Stmts {
		if at := w.History.Stmts[i].Submit; at < victim.Return {
			found = max(found, at)
		}
	}
	holders := victim.Waits[len(victim.Waits)-1].Holders
	return slices.ContainsFunc(w.History.Stmts, func(o history.Stmt) bool {
		return slices.Contains(holders, o.Session) && o.Submit < victim.Return && o.Return > found && waits(mvcc.KindOf(w.Case.Steps[o.Line].Stmt))
	})
}

// waits reports whether a statement of a kind may wait for somebody.
func waits(k stmt.Kind) bool { return !k.Control() || k == stmt.Advisory }

// besideRows replays what becomes of a transaction by a statement that is about no rows. Its own judge judges its answer.
func (w *world) besideRows(i int, s *session) *mvcc.Difference {
	st := &w.History.Stmts[i]
	s.notifies = s.notifies || s.txn != nil && w.Steps[i].Kind.OfNotifications()
	want := ""
	switch state := stateOf(&st.Result); {
	case s.failed:
		want = inFailedTxn
	case state == deadlockDetected, state == queryCanceled && st.Interrupted:
		want = state
	case w.Steps[i].Kind == stmt.Sequence && (state == notInState || strings.HasPrefix(state, ofText)):
		want = state
	}
	if want != "" && s.txn != nil && !s.failed {
		w.abort(s, s.txn, w.effect(i))
	}
	return w.compareError(i, want)
}
