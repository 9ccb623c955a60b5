package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Kind is what a statement is. REPLACE is a kind of INSERT.
type Kind string

// The kinds of statements. Raw is one that the parser does not read, and Other any that
// no other name is for: definitions of tables, a UNION.
const (
	Begin            Kind = "BEGIN"
	BeginSnapshot    Kind = "BEGIN SNAPSHOT"
	Commit           Kind = "COMMIT"
	Rollback         Kind = "ROLLBACK"
	Savepoint        Kind = "SAVEPOINT"
	RollbackTo       Kind = "ROLLBACK TO"
	ReleaseSavepoint Kind = "RELEASE SAVEPOINT"
	Select           Kind = "SELECT"
	SelectForShare   Kind = "SELECT FOR SHARE"
	SelectForUpdate  Kind = "SELECT FOR UPDATE"
	Update           Kind = "UPDATE"
	Delete           Kind = "DELETE"
	Insert           Kind = "INSERT"
	SetLevel         Kind = "SET TRANSACTION"
	SetVariable      Kind = "SET"
	Use              Kind = "USE"
	Analyze          Kind = "ANALYZE TABLE"
	Raw              Kind = "raw statement"
	KillQuery        Kind = "KILL QUERY"
	Kill             Kind = "KILL"
	Disconnect       Kind = "DISCONNECT"
	Connect          Kind = "CONNECT"
	Prepare          Kind = "PREPARE TRANSACTION"
	CommitPrepared   Kind = "COMMIT PREPARED"
	RollbackPrepared Kind = "ROLLBACK PREPARED"
	Advisory         Kind = "advisory lock"
	Listen           Kind = "LISTEN"
	Unlisten         Kind = "UNLISTEN"
	Notify           Kind = "NOTIFY"
	Sequence         Kind = "sequence"
	SetModes         Kind = "SET TRANSACTION of the open one"
	SetConstraints   Kind = "SET CONSTRAINTS"
	Other            Kind = "OTHER"
)

// KindOf returns the kind of a statement.
func KindOf(n ast.Node) Kind {
	switch s := n.(type) {
	case *ast.SelectStmt:
		return kindOfRead[LockOf(s).Mode]
	case *ast.UpdateStmt:
		return Update
	case *ast.DeleteStmt:
		return Delete
	case *ast.InsertStmt:
		return Insert
	case *ast.BeginStmt:
		if strings.HasPrefix(s.OriginalText(), SnapshotText) {
			return BeginSnapshot
		}
		return Begin
	case *ast.CommitStmt:
		return Commit
	case *ast.RollbackStmt:
		if s.SavepointName != "" {
			return RollbackTo
		}
		return Rollback
	case *ast.SavepointStmt:
		return Savepoint
	case *ast.ReleaseSavepointStmt:
		return ReleaseSavepoint
	case *ast.SetStmt:
		if setsLevel(s) {
			return SetLevel
		}
		return SetVariable
	case *ast.UseStmt:
		return Use
	case *ast.AnalyzeTableStmt:
		return Analyze
	case *RawStmt:
		return Raw
	case *SessionStmt:
		return s.Does
	case *PreparedStmt:
		return s.Does
	case *AdvisoryStmt:
		return Advisory
	case *NotifyStmt:
		return s.Does
	case *SequenceStmt:
		if s.Function != "" {
			return Sequence
		}
	case *ModesStmt:
		if s.Begins() {
			return Begin
		}
		return SetModes
	case *ConstraintsStmt:
		return SetConstraints
	}
	return Other
}

// SnapshotText is the text that a tree of START TRANSACTION WITH CONSISTENT SNAPSHOT
// carries, first: the parser makes the same tree of it as of BEGIN.
const SnapshotText = "START TRANSACTION WITH CONSISTENT SNAPSHOT"

// setsLevel recognises SET SESSION TRANSACTION ISOLATION LEVEL.
func setsLevel(s *ast.SetStmt) bool {
	if len(s.Variables) != 1 {
		return false
	}
	v := s.Variables[0]
	_, literal := v.Value.(ast.ValueExpr)
	return literal && !v.IsGlobal && (v.Name == "tx_isolation" || v.Name == "transaction_isolation")
}

// Begins reports whether a statement of this kind begins a transaction.
func (k Kind) Begins() bool { return k == Begin || k == BeginSnapshot }

// Commits reports whether a statement of this kind commits an open transaction
// (https://dev.mysql.com/doc/refman/en/implicit-commit.html; TiDB goes on in it behind ANALYZE
// TABLE, which is therefore not judged there).
func (k Kind) Commits() bool { return k == Commit || k == Analyze || k.Begins() }

// Ends reports whether no transaction is open behind a statement of this kind.
func (k Kind) Ends() bool { return k == Commit || k == Rollback || k == Analyze || k == Prepare }

// Reads reports whether a statement of this kind is a SELECT, locking or not.
func (k Kind) Reads() bool { return k == Select || k.LocksRead() }

// LocksRead reports whether a statement of this kind is a SELECT that names a lock.
func (k Kind) LocksRead() bool { return k == SelectForShare || k == SelectForUpdate }

// Writes reports whether a statement of this kind changes rows.
func (k Kind) Writes() bool { return k == Update || k == Delete || k == Insert }

// Control reports whether a statement of this kind reads and writes no rows.
func (k Kind) Control() bool {
	switch k {
	case Begin, BeginSnapshot, Commit, Rollback, Savepoint, RollbackTo, ReleaseSavepoint, SetLevel, SetVariable, Use, Analyze,
		SetModes, SetConstraints:
		return true
	}
	return k.OfSession() || k.OfPrepared() || k.BesideRows()
}

// BesideRows reports whether a statement of this kind is about something of PostgreSQL's that is no row and has a judge
// of its own: an advisory lock, a notification or a sequence.
func (k Kind) BesideRows() bool { return k == Advisory || k.OfNotifications() || k == Sequence }

// OfNotifications reports whether a statement of this kind is a NotifyStmt.
func (k Kind) OfNotifications() bool { return k == Listen || k == Unlisten || k == Notify }

// TakesSnapshot reports whether a statement beside rows is a query, whose transaction has a snapshot from then on.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ
func TakesSnapshot(n ast.Node) bool {
	if s, ok := n.(*NotifyStmt); ok {
		return s.Called
	}
	return KindOf(n).BesideRows()
}

// OfSession reports whether a statement of this kind is about a session, its own or another.
func (k Kind) OfSession() bool {
	return k == KillQuery || k == Kill || k == Disconnect || k == Connect
}

// TouchesRows reports whether a statement of this kind is known to read or write rows.
func (k Kind) TouchesRows() bool { return !k.Control() && k != Other }
