package stmt

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// SessionStmt ends a session of the case or what it is doing, or begins it anew. No server
// reads it: whoever runs the case knows which connection the session has.
type SessionStmt struct {
	// KillStmt is empty: it lends the methods of a statement that no other package can write.
	ast.KillStmt
	// Does is one of KillQuery, Kill, Disconnect and Connect.
	Does Kind
	// Target is the session that is killed; 0 of the others, which are about the session
	// whose line they are.
	Target int
}

// Accept shows the node alone: there is nothing beneath it.
func (s *SessionStmt) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(s)
	return v.Leave(n)
}

// Restore writes the statement as the text form of a case has it.
func (s *SessionStmt) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(s.String())
	return nil
}

// String returns the statement as the text form of a case has it.
func (s *SessionStmt) String() string {
	switch s.Does {
	case KillQuery, Kill:
		return fmt.Sprintf("%s tx%d", s.Does, s.Target)
	case Disconnect:
		return "disconnect"
	}
	return "connect"
}
