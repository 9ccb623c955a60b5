package postgres

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// preparing replays a statement of two-phase commit and returns the SQLSTATE that it must fail with, "" for none.
// A prepared transaction keeps its locks and its writes, as a session of its own with a number that no session of a
// case has: who waits for it waits for no session, and its own session goes on.
// https://www.postgresql.org/docs/current/sql-prepare-transaction.html
func (w *world) preparing(i int, s *session, node ast.StmtNode) (want string, err error) {
	p := node.(*stmt.PreparedStmt)
	at, known := w.prepared[p.Name]
	if p.Does == stmt.Prepare {
		state := stateOf(&w.History.Stmts[i].Result)
		if state == notSupported && s.notifies && s.txn != nil && !s.failed {
			w.Rollback(s.txn, w.effect(i))
			s.leave()
			return state, nil
		}
		if state != "" && state != duplicateObject {
			return "", &mvcc.Loss{Slug: "unsupported: a PREPARE TRANSACTION that fails", Detail: state}
		}
		switch {
		case s.txn == nil: // it warns
		case s.failed || known:
			if s.txn.Ended == 0 {
				w.Rollback(s.txn, w.effect(i))
			}
			if !s.failed {
				want = duplicateObject
			}
		default:
			at = corpus.MaxSession + 1 + i
			w.prepared[p.Name], w.sessions[at] = at, &session{txn: s.txn, locks: s.locks}
		}
		s.leave()
		return want, nil
	}
	switch {
	case s.failed:
		return inFailedTxn, nil
	case s.txn != nil:
		return activeTransaction, nil
	case !known:
		return undefinedObject, nil
	case p.Does == stmt.CommitPrepared:
		w.Commit(w.sessions[at].txn, w.effect(i))
	default:
		w.Rollback(w.sessions[at].txn, w.effect(i))
	}
	delete(w.prepared, p.Name)
	delete(w.sessions, at)
	return "", nil
}

// transactionOf names the transaction of a session, for people.
func transactionOf(session int) string {
	if session > corpus.MaxSession {
		return "a prepared transaction"
	}
	return fmt.Sprintf("tx%d's transaction", session)
}
