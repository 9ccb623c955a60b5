package mvcc

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// Kind is a statement's kind as the rules distinguish it.
type Kind string

// The kinds of statements.
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
	Other            Kind = "OTHER"
)

// KindOf returns the kind of a statement.
func KindOf(n ast.StmtNode) Kind {
	switch s := n.(type) {
	case *ast.BeginStmt:
		if s.CausalConsistencyOnly || s.AsOf != nil {
			return Other
		}
		if s.Mode != "" && s.Mode != ast.Pessimistic {
			return Other
		}
		if corpus.ConsistentSnapshot(s) {
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
	case *ast.SelectStmt:
		if s.LockInfo == nil {
			return Select
		}
		switch s.LockInfo.LockType {
		case ast.SelectLockNone:
			return Select
		case ast.SelectLockForShare, ast.SelectLockForShareNoWait, ast.SelectLockForShareSkipLocked:
			return SelectForShare
		case ast.SelectLockForUpdate, ast.SelectLockForUpdateNoWait, ast.SelectLockForUpdateSkipLocked:
			return SelectForUpdate
		}
		return Other
	case *ast.UpdateStmt:
		return Update
	case *ast.DeleteStmt:
		return Delete
	case *ast.InsertStmt:
		return Insert
	case *ast.SetStmt:
		if _, ok := levelOfSet(s); ok {
			return SetLevel
		}
		if _, ok := changesOf(s); ok {
			return SetVariable
		}
	case *ast.UseStmt:
		return Use
	}
	return Other
}

// levelOfSet recognises SET SESSION TRANSACTION ISOLATION LEVEL.
func levelOfSet(s *ast.SetStmt) (corpus.Level, bool) {
	if len(s.Variables) != 1 {
		return 0, false
	}
	v := s.Variables[0]
	if v.Name != "tx_isolation" && v.Name != "transaction_isolation" || v.IsGlobal {
		return 0, false
	}
	lit, ok := v.Value.(ast.ValueExpr)
	if !ok {
		return 0, false
	}
	text := []byte(lit.GetString())
	for i := range text {
		if text[i] == '-' {
			text[i] = ' '
		}
	}
	l, err := corpus.ParseLevel(string(text))
	return l, err == nil
}

// isWrite reports whether a statement of this kind changes rows.
func (k Kind) isWrite() bool { return k == Update || k == Delete || k == Insert }

// commits reports whether a statement of this kind commits an open transaction.
func (k Kind) commits() bool { return k == Commit || k == Begin || k == BeginSnapshot }

// isControl reports whether a statement of this kind touches no table.
func (k Kind) isControl() bool {
	switch k {
	case Begin, BeginSnapshot, Commit, Rollback, Savepoint, RollbackTo, ReleaseSavepoint, SetLevel, SetVariable, Use:
		return true
	}
	return false
}

// Judgeable reports whether the answer to a statement of this kind has rows,
// counts or an error that a rule predicts.
func (k Kind) Judgeable() bool { return !k.isControl() && k != Other }
