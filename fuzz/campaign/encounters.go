package campaign

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
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
	"SELECT … LIMIT", "SELECT … LIMIT … FOR UPDATE",
}

// FormOf returns the form of a statement, "" for a plain one. An order without
// LIMIT is none in a write.
func FormOf(n ast.StmtNode) string {
	v := stmt.Of(n)
	switch v.Kind {
	case stmt.Savepoint, stmt.ReleaseSavepoint, stmt.RollbackTo:
		return string(v.Kind)
	case stmt.Insert:
		switch s := n.(*ast.InsertStmt); {
		case s.IsReplace:
			return "REPLACE"
		case len(s.OnDuplicate) > 0:
			return "INSERT … ON DUPLICATE KEY UPDATE"
		case s.IgnoreErr:
			return "INSERT IGNORE"
		}
	case stmt.Update, stmt.Delete:
		if v.Order != nil && v.Limit != nil {
			return string(v.Kind) + " … ORDER BY … LIMIT"
		}
	case stmt.Select, stmt.SelectForShare, stmt.SelectForUpdate:
		return formOfSelect(v)
	}
	return ""
}

var lockForms = map[stmt.Lock]string{
	{Mode: stmt.Exclusive, Wait: stmt.Fails}: "SELECT … FOR UPDATE NOWAIT",
	{Mode: stmt.Share, Wait: stmt.Fails}:     "SELECT … LOCK IN SHARE MODE NOWAIT",
	{Mode: stmt.Exclusive, Wait: stmt.Skips}: "SELECT … FOR UPDATE SKIP LOCKED",
	{Mode: stmt.Share, Wait: stmt.Skips}:     "SELECT … LOCK IN SHARE MODE SKIP LOCKED",
}

func formOfSelect(v stmt.View) string {
	locks := v.Lock.Mode != stmt.None
	switch form := lockForms[v.Lock]; {
	case form != "":
		return form
	case locks && v.From != nil && v.From.TableRefs.Right != nil:
		return "SELECT … JOIN … FOR UPDATE"
	case v.Order == nil && v.Limit == nil:
		return ""
	}
	form := "SELECT"
	if v.Order != nil {
		form += " … ORDER BY"
	}
	if v.Limit != nil {
		form += " … LIMIT"
	}
	if locks {
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
func (f *FormCounts) Add(r *target.Trial) {
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
func meetings(r *target.Trial, seen map[string]FormTally) {
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
var lockErrors = map[uint16]bool{1205: true, errDeadlock: true, 3572: true, errDeadlockDetected: true, 40001: true, 55903: true}

// guarded returns the range of the history's statements that a savepoint's
// statement is about: from a SAVEPOINT to the end of its transaction, from the
// SAVEPOINT of the name to what undoes or releases it. is says that it is one.
func guarded(r *target.Trial, i int) (from, to int, is bool) {
	at := func(j int) corpus.Line { return r.Case.Steps[r.History.Stmts[j].Line] }
	own := func(j int) bool { return at(j).Session == at(i).Session }
	of := stmt.Of(at(i).Stmt)
	switch {
	case of.Savepoint == "":
		return 0, 0, false
	case of.Kind == stmt.Savepoint:
		for to = i + 1; to < len(r.History.Stmts); to++ {
			if own(to) && endsTransaction(at(to).Stmt) {
				break
			}
		}
		return i + 1, to, true
	}
	for from = i - 1; from >= 0; from-- {
		if p := stmt.Of(at(from).Stmt); p.Kind == stmt.Savepoint && own(from) && strings.EqualFold(p.Savepoint, of.Savepoint) {
			return from + 1, i, true
		}
		if own(from) && endsTransaction(at(from).Stmt) {
			break
		}
	}
	return i, i, true
}

func endsTransaction(n ast.StmtNode) bool {
	kind := stmt.KindOf(n)
	return kind.Ends() || kind.Begins()
}
