package fuzz

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// StatementForms names the forms of statements beside the plain ones, in the
// order of the table that tells how often each is made and judged.
var StatementForms = []string{
	"SAVEPOINT", "ROLLBACK TO", "RELEASE SAVEPOINT",
	"REPLACE", "INSERT IGNORE", "INSERT … ON DUPLICATE KEY UPDATE",
	"SELECT … FOR UPDATE NOWAIT", "SELECT … LOCK IN SHARE MODE NOWAIT",
	"SELECT … FOR UPDATE SKIP LOCKED", "SELECT … LOCK IN SHARE MODE SKIP LOCKED",
	"SELECT … ORDER BY", "SELECT … ORDER BY … LIMIT", "SELECT … ORDER BY … FOR UPDATE", "SELECT … ORDER BY … LIMIT … FOR UPDATE",
	"UPDATE … ORDER BY … LIMIT", "DELETE … ORDER BY … LIMIT",
	"SELECT … JOIN … FOR UPDATE",
}

// FormOf returns the form of a statement, "" for a plain one. An order without
// LIMIT is none in a write.
func FormOf(n ast.StmtNode) string {
	switch s := n.(type) {
	case *ast.SavepointStmt:
		return "SAVEPOINT"
	case *ast.ReleaseSavepointStmt:
		return "RELEASE SAVEPOINT"
	case *ast.RollbackStmt:
		if s.SavepointName != "" {
			return "ROLLBACK TO"
		}
	case *ast.InsertStmt:
		switch {
		case s.IsReplace:
			return "REPLACE"
		case len(s.OnDuplicate) > 0:
			return "INSERT … ON DUPLICATE KEY UPDATE"
		case s.IgnoreErr:
			return "INSERT IGNORE"
		}
	case *ast.UpdateStmt:
		if s.Order != nil && s.Limit != nil {
			return "UPDATE … ORDER BY … LIMIT"
		}
	case *ast.DeleteStmt:
		if s.Order != nil && s.Limit != nil {
			return "DELETE … ORDER BY … LIMIT"
		}
	case *ast.SelectStmt:
		return formOfSelect(s)
	}
	return ""
}

func formOfSelect(s *ast.SelectStmt) string {
	lock := ast.SelectLockNone
	if s.LockInfo != nil {
		lock = s.LockInfo.LockType
	}
	switch {
	case lock == ast.SelectLockForUpdateNoWait:
		return "SELECT … FOR UPDATE NOWAIT"
	case lock == ast.SelectLockForShareNoWait:
		return "SELECT … LOCK IN SHARE MODE NOWAIT"
	case lock == ast.SelectLockForUpdateSkipLocked:
		return "SELECT … FOR UPDATE SKIP LOCKED"
	case lock == ast.SelectLockForShareSkipLocked:
		return "SELECT … LOCK IN SHARE MODE SKIP LOCKED"
	case lock != ast.SelectLockNone && s.From != nil && s.From.TableRefs.Right != nil:
		return "SELECT … JOIN … FOR UPDATE"
	case s.OrderBy == nil:
		return ""
	}
	form := "SELECT … ORDER BY"
	if s.Limit != nil {
		form += " … LIMIT"
	}
	if lock != ast.SelectLockNone {
		form += " … FOR UPDATE"
	}
	return form
}

// FormTally counts cases that have a statement of a form.
type FormTally struct {
	Generated int `json:"generated"`
	// Met counts those in which such a statement met one of another open
	// transaction: they touched the same rows or predicates and one of them writes,
	// or it waited, or its error says that it met a lock. A SAVEPOINT counts if a
	// statement after it meets one; ROLLBACK TO and RELEASE count if a statement
	// between the savepoint and them does.
	Met int `json:"met"`
	// Judged counts those of Met in which the answer of such a statement was
	// compared with one single prediction; of a savepoint, which has no answer,
	// those with a verdict.
	Judged int `json:"judged"`
	// Unknown counts those of Generated that have no verdict.
	Unknown int `json:"unknown"`
}

// FormCounts is what a campaign made of statement forms, by form.
type FormCounts struct {
	Cases int                  `json:"cases"`
	Forms map[string]FormTally `json:"forms"`
}

// Add counts a judged case; one that did not run counts as made and unknown.
func (f *FormCounts) Add(r *Trial) {
	f.Cases++
	if f.Forms == nil {
		f.Forms = map[string]FormTally{}
	}
	seen := map[string]FormTally{}
	for _, l := range r.Case.Steps {
		if form := FormOf(l.Stmt); form != "" {
			seen[form] = FormTally{Generated: 1}
		}
	}
	if len(seen) == 0 {
		return
	}
	if r.History != nil {
		meetings(r, seen)
	}
	for form, one := range seen {
		sum := f.Forms[form]
		sum.Generated++
		sum.Met += one.Met
		sum.Judged += one.Judged
		if r.Verdict.Outcome == oracle.Unknown {
			sum.Unknown++
		}
		f.Forms[form] = sum
	}
}

// meetings fills in what the statements of each form met.
func meetings(r *Trial, seen map[string]FormTally) {
	met := oracle.Encounters(r.Case, r.History, &r.Verdict)
	for i := range met {
		s := &r.History.Stmts[i]
		met[i].Met = met[i].Met || len(s.Waits) > 0 || s.Result.Err != nil && lockErrors[s.Result.Err.Code]
	}
	for i := range met {
		s := &r.History.Stmts[i]
		form := FormOf(r.Case.Steps[s.Line].Stmt)
		if form == "" {
			continue
		}
		m := met[i]
		if from, to, is := guarded(r, i); is {
			m = oracle.Encounter{Judged: r.Verdict.Outcome != oracle.Unknown}
			for j := from; j < to; j++ {
				m.Met = m.Met || r.History.Stmts[j].Session == s.Session && met[j].Met
			}
		}
		if m.Met {
			one := seen[form]
			one.Met = 1
			if m.Judged {
				one.Judged = 1
			}
			seen[form] = one
		}
	}
}

// lockErrors are those that say that a statement met a lock.
var lockErrors = map[uint16]bool{1205: true, errDeadlock: true, 3572: true}

// guarded returns the range of the history's statements that a savepoint's
// statement is about: from a SAVEPOINT to the end of its transaction, from the
// SAVEPOINT of the name to what undoes or releases it. is says that it is one.
func guarded(r *Trial, i int) (from, to int, is bool) {
	at := func(j int) corpus.Line { return r.Case.Steps[r.History.Stmts[j].Line] }
	own := func(j int) bool { return at(j).Session == at(i).Session }
	var name string
	switch s := at(i).Stmt.(type) {
	case *ast.SavepointStmt:
		for to = i + 1; to < len(r.History.Stmts); to++ {
			if own(to) && endsTransaction(at(to).Stmt) {
				break
			}
		}
		return i + 1, to, true
	case *ast.ReleaseSavepointStmt:
		name = s.Name
	case *ast.RollbackStmt:
		name = s.SavepointName
	}
	if name == "" {
		return 0, 0, false
	}
	for from = i - 1; from >= 0; from-- {
		if p, ok := at(from).Stmt.(*ast.SavepointStmt); ok && own(from) && strings.EqualFold(p.Name, name) {
			return from + 1, i, true
		}
		if own(from) && endsTransaction(at(from).Stmt) {
			break
		}
	}
	return i, i, true
}

func endsTransaction(n ast.StmtNode) bool {
	switch s := n.(type) {
	case *ast.CommitStmt, *ast.BeginStmt:
		return true
	case *ast.RollbackStmt:
		return s.SavepointName == ""
	}
	return false
}
