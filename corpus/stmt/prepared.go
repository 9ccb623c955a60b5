package stmt

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// PreparedStmt is one of PostgreSQL's statements of two-phase commit: it prepares the transaction of its session, or
// ends one that is prepared, whoever has done that.
// https://www.postgresql.org/docs/current/two-phase.html
type PreparedStmt struct {
	// KillStmt is empty: it lends the methods of a statement that no other package can write.
	ast.KillStmt
	// Does is one of Prepare, CommitPrepared and RollbackPrepared.
	Does Kind
	// Name is the transaction's in the case. No server sees it: names are one for all databases of a server, so
	// whoever runs the case sends another one for it.
	Name string
}

// Accept shows the node alone: there is nothing beneath it.
func (s *PreparedStmt) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(s)
	return v.Leave(n)
}

// Restore writes the statement as the text form of a case has it.
func (s *PreparedStmt) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(s.String())
	return nil
}

// String returns the statement as the text form of a case has it.
func (s *PreparedStmt) String() string { return s.Named(s.Name) }

// Named returns the statement with another name, which holds no quote.
func (s *PreparedStmt) Named(name string) string { return string(s.Does) + " '" + name + "'" }

// OfPrepared reports whether a statement of this kind prepares a transaction or ends a prepared one.
func (k Kind) OfPrepared() bool { return k == Prepare || k == CommitPrepared || k == RollbackPrepared }
