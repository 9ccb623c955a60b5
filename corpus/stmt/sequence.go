package stmt

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// SequenceStmt makes a sequence of PostgreSQL, or is a SELECT of one of its functions alone.
// https://www.postgresql.org/docs/current/functions-sequence.html
type SequenceStmt struct {
	// KillStmt is empty: it lends the methods of a statement that no other package can write.
	ast.KillStmt
	// Function is nextval, currval or lastval, empty for CREATE SEQUENCE.
	Function string
	// Name is the sequence's, empty for lastval.
	Name string
	// Cache is how many values a session takes at a time, 0 for one; of CREATE SEQUENCE.
	Cache int
}

// Accept shows the node alone: there is nothing beneath it.
func (s *SequenceStmt) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(s)
	return v.Leave(n)
}

// Restore writes the statement as the text form of a case has it.
func (s *SequenceStmt) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(s.String())
	return nil
}

// String returns the statement as the text form of a case has it.
func (s *SequenceStmt) String() string {
	switch {
	case s.Function == "" && s.Cache > 0:
		return fmt.Sprintf("CREATE SEQUENCE %s CACHE %d", s.Name, s.Cache)
	case s.Function == "":
		return "CREATE SEQUENCE " + s.Name
	case s.Name == "":
		return "SELECT " + s.Function + "()"
	}
	return "SELECT " + s.Function + "('" + s.Name + "')"
}
