package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// ConstraintsStmt says when PostgreSQL checks DEFERRABLE constraints in the open transaction: behind each statement, or
// when it commits. What was deferred until then is checked at once.
// https://www.postgresql.org/docs/current/sql-set-constraints.html
type ConstraintsStmt struct {
	// KillStmt is empty: it lends the methods of a statement that no other package can write.
	ast.KillStmt
	// Names holds the names of constraints in lower case; none stand for all.
	Names []string
	// Deferred says that they are checked when the transaction commits.
	Deferred bool
}

// Accept shows the node alone: there is nothing beneath it.
func (s *ConstraintsStmt) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(s)
	return v.Leave(n)
}

// Restore writes the statement as the text form of a case has it.
func (s *ConstraintsStmt) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(s.String())
	return nil
}

// String returns the statement as the text form of a case has it.
func (s *ConstraintsStmt) String() string {
	what, when := "ALL", "IMMEDIATE"
	if len(s.Names) > 0 {
		what = strings.Join(s.Names, ", ")
	}
	if s.Deferred {
		when = "DEFERRED"
	}
	return "SET CONSTRAINTS " + what + " " + when
}
