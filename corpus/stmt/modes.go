package stmt

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// ModesStmt begins a transaction of PostgreSQL with modes, or sets those of the open one, in words that MySQL does not
// have or that mean something else there.
// https://www.postgresql.org/docs/current/sql-set-transaction.html
type ModesStmt struct {
	// KillStmt is empty: it lends the methods of a statement that no other package can write.
	ast.KillStmt
	// Head is BEGIN, START TRANSACTION or SET TRANSACTION.
	Head string
	// Modes holds them in capitals, such as ISOLATION LEVEL SERIALIZABLE, in the order in which they are set.
	Modes []string
}

// The modes but those of isolation levels, which begin with LevelMode.
const (
	LevelMode     = "ISOLATION LEVEL "
	ReadOnly      = "READ ONLY"
	ReadWrite     = "READ WRITE"
	Deferrable    = "DEFERRABLE"
	NotDeferrable = "NOT DEFERRABLE"
)

// setTransaction is the Head of what sets the modes of the open transaction.
const setTransaction = "SET TRANSACTION"

// Accept shows the node alone: there is nothing beneath it.
func (s *ModesStmt) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(s)
	return v.Leave(n)
}

// Restore writes the statement as the text form of a case has it.
func (s *ModesStmt) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(s.String())
	return nil
}

// String returns the statement as the text form of a case has it.
func (s *ModesStmt) String() string { return s.Head + " " + strings.Join(s.Modes, ", ") }

// Begins reports whether it begins a transaction.
func (s *ModesStmt) Begins() bool { return s.Head != setTransaction }

// Has reports whether one of the modes is this one.
func (s *ModesStmt) Has(mode string) bool { return slices.Contains(s.Modes, mode) }

// Level returns the isolation level that is set last, as SQL spells it; "" for none.
func (s *ModesStmt) Level() (level string) {
	for _, m := range s.Modes {
		if l, ok := strings.CutPrefix(m, LevelMode); ok {
			level = l
		}
	}
	return level
}
