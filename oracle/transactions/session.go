package transactions

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Session is what is known of a session between two statements. The zero value is one outside of any transaction.
type Session struct {
	// InTxn says that a transaction is open, Failed that an error has aborted it, or what is behind its last savepoint.
	InTxn, Failed bool
	savepoints    []string
}

// Depth counts the savepoints of the open transaction.
func (s *Session) Depth() int { return len(s.savepoints) }

// Effect is what a statement does to transactions.
type Effect struct {
	What What
	// Depth is how many savepoints are left. Of GoesBack: what was done behind so many is undone, of Merges: what was
	// done behind more is done behind so many.
	Depth int
	// Session is the one that Leaves.
	Session int
}

// What is the kind of an effect.
type What uint8

const (
	// Nothing: it may read, write or lock, and the transaction goes on.
	Nothing What = iota
	// Begins a transaction, or stays in the one that is open.
	Begins
	// Ends the transaction of its session, as a COMMIT, ROLLBACK or PREPARE TRANSACTION that fails does, too.
	Ends
	// Saves: it sets a savepoint.
	Saves
	// GoesBack to a savepoint; or it has failed, so that the transaction is aborted behind the last one.
	GoesBack
	// Merges what is behind a savepoint with what is before, as RELEASE does.
	Merges
	// Leaves: a session ends, its own or another.
	Leaves
)

// Follow has a session take a statement, with its answer.
func (s *Session) Follow(n ast.StmtNode, st *history.Stmt) Effect {
	failed := st.Result.Err != nil
	kind := stmt.KindOf(n)
	switch {
	case kind.OfSession():
		return s.ofSession(n.(*stmt.SessionStmt), st)
	case kind.Ends():
		chains := s.InTxn && !failed && st.Result.InTxn
		*s = Session{InTxn: chains} // AND CHAIN
		return Effect{What: Ends}
	case failed:
		return s.abort()
	case kind.Begins():
		s.InTxn = true
		return Effect{What: Begins}
	case kind == stmt.Savepoint:
		s.savepoints = append(s.savepoints, nameOf(n))
		return Effect{What: Saves, Depth: s.Depth()}
	case kind == stmt.RollbackTo:
		if at := s.savepoint(n); at >= 0 {
			s.savepoints, s.Failed = s.savepoints[:at+1], false
			return Effect{What: GoesBack, Depth: at + 1}
		}
	case kind == stmt.ReleaseSavepoint:
		if at := s.savepoint(n); at >= 0 {
			s.savepoints = s.savepoints[:at]
			return Effect{What: Merges, Depth: at}
		}
	}
	return Effect{}
}

// ofSession follows a statement about sessions. A KILL of the own session is told no answer, and a KILL QUERY of it fails
// itself. One of a session that is gone is not sent.
func (s *Session) ofSession(n *stmt.SessionStmt, st *history.Stmt) Effect {
	failed := st.Result.Err != nil
	switch {
	case n.Does == stmt.Disconnect && !failed:
		return Effect{What: Leaves, Session: st.Session}
	case n.Does == stmt.Kill && (!failed || n.Target == st.Session):
		return Effect{What: Leaves, Session: n.Target}
	case failed && st.Result.Err.Code == history.ErrNoSession:
	case failed:
		return s.abort()
	}
	return Effect{}
}

// abort has an error abort the transaction, or what is behind the last savepoint.
func (s *Session) abort() Effect {
	if !s.InTxn || s.Failed {
		return Effect{}
	}
	s.Failed = true
	return Effect{What: GoesBack, Depth: s.Depth()}
}

func nameOf(n ast.StmtNode) string { return strings.ToLower(stmt.Of(n).Savepoint) }

// savepoint is the place of the newest savepoint that a statement names, -1 if there is none.
func (s *Session) savepoint(n ast.StmtNode) int {
	for k := len(s.savepoints) - 1; k >= 0; k-- {
		if s.savepoints[k] == nameOf(n) {
			return k
		}
	}
	return -1
}
