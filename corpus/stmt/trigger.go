package stmt

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// TriggerStmt makes a trigger. The parser does not read it; only a set-up holds one.
type TriggerStmt struct {
	// DropTableStmt is empty: it lends the methods, which no other package can write, of a
	// statement that defines something.
	ast.DropTableStmt
	// SQL is the statement on one line, without comments.
	SQL string
}

// Accept shows the node alone: there is nothing beneath it.
func (s *TriggerStmt) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(s)
	return v.Leave(n)
}

// Restore writes the statement as it is.
func (s *TriggerStmt) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(s.SQL)
	return nil
}

// Words are those of RawStmt.
func (s *TriggerStmt) Words() []string { return (&RawStmt{SQL: s.SQL}).Words() }
