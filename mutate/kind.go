package mutate

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
)

// Kind is one of the kinds of statements that touch rows.
type Kind uint8

// The kinds of statements; OtherKind is everything else, transaction control
// among it.
const (
	OtherKind Kind = iota
	Select
	SelectForShare
	SelectForUpdate
	Update
	Delete
	Insert
	numKinds
)

var kindNames = [numKinds]string{"other", "SELECT", "SELECT FOR SHARE", "SELECT FOR UPDATE", "UPDATE", "DELETE", "INSERT"}

func (k Kind) String() string { return kindNames[k] }

// writes says that the kind changes rows.
func (k Kind) writes() bool { return k >= Update }

var lockKinds = map[ast.SelectLockType]Kind{
	ast.SelectLockNone:                Select,
	ast.SelectLockForShare:            SelectForShare,
	ast.SelectLockForShareNoWait:      SelectForShare,
	ast.SelectLockForShareSkipLocked:  SelectForShare,
	ast.SelectLockForUpdate:           SelectForUpdate,
	ast.SelectLockForUpdateNoWait:     SelectForUpdate,
	ast.SelectLockForUpdateWaitN:      SelectForUpdate,
	ast.SelectLockForUpdateSkipLocked: SelectForUpdate,
}

// KindOf tells the kind of a statement that names one table and no alias: only
// there does a predicate mean the same in another statement. Everything else
// is OtherKind, with "" for the table.
func KindOf(s ast.StmtNode) (Kind, string) {
	var refs *ast.TableRefsClause
	kind := OtherKind
	switch s := s.(type) {
	case *ast.SelectStmt:
		if s.GroupBy != nil || s.Having != nil || s.With != nil || s.SelectIntoOpt != nil {
			return OtherKind, ""
		}
		kind, refs = Select, s.From
		if s.LockInfo != nil {
			kind = lockKinds[s.LockInfo.LockType]
		}
	case *ast.UpdateStmt:
		if s.MultipleTable || s.With != nil {
			return OtherKind, ""
		}
		kind, refs = Update, s.TableRefs
	case *ast.DeleteStmt:
		if s.IsMultiTable || s.With != nil {
			return OtherKind, ""
		}
		kind, refs = Delete, s.TableRefs
	case *ast.InsertStmt:
		kind, refs = Insert, s.Table
	}
	name, ok := soleTable(refs)
	if !ok {
		return OtherKind, ""
	}
	return kind, name
}

// soleTable returns the table of a clause that names just one, unaliased.
func soleTable(refs *ast.TableRefsClause) (string, bool) {
	if refs == nil || refs.TableRefs == nil || refs.TableRefs.Right != nil {
		return "", false
	}
	src, ok := refs.TableRefs.Left.(*ast.TableSource)
	if !ok || src.AsName != (model.CIStr{}) {
		return "", false
	}
	t, ok := src.Source.(*ast.TableName)
	if !ok || t.Schema != (model.CIStr{}) {
		return "", false
	}
	return t.Name.O, true
}

// filter returns the place of a statement's predicate, nil for statements
// without a WHERE clause.
func filter(s ast.StmtNode) *ast.ExprNode {
	switch s := s.(type) {
	case *ast.SelectStmt:
		return &s.Where
	case *ast.UpdateStmt:
		return &s.Where
	case *ast.DeleteStmt:
		return &s.Where
	}
	return nil
}

// begins and ends tell transaction control.
func begins(s ast.StmtNode) bool {
	_, ok := s.(*ast.BeginStmt)
	return ok
}

func ends(s ast.StmtNode) bool {
	switch s := s.(type) {
	case *ast.CommitStmt:
		return true
	case *ast.RollbackStmt:
		return s.SavepointName == ""
	}
	return false
}
