package stmt

import (
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// AdvisoryStmt is a SELECT of one of PostgreSQL's functions for advisory locks, alone.
// https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS
type AdvisoryStmt struct {
	// KillStmt is empty: it lends the methods of a statement that no other package can write.
	ast.KillStmt
	// Function is its name in lower case, such as pg_try_advisory_xact_lock_shared.
	Function string
	// Keys holds one number of 64 bits, or two of 32, which are never the same lock; none of pg_advisory_unlock_all.
	Keys []int64
}

// Accept shows the node alone: there is nothing beneath it.
func (s *AdvisoryStmt) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(s)
	return v.Leave(n)
}

// Restore writes the statement as the text form of a case has it.
func (s *AdvisoryStmt) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(s.String())
	return nil
}

// String returns the statement as the text form of a case has it.
func (s *AdvisoryStmt) String() string { return s.On(s.Keys...) }

// On returns the statement with other keys.
func (s *AdvisoryStmt) On(keys ...int64) string {
	words := make([]string, len(keys))
	for i, k := range keys {
		words[i] = fmt.Sprint(k)
	}
	return "SELECT " + s.Function + "(" + strings.Join(words, ", ") + ")"
}

// Tries reports whether it answers at once whether it has got the lock, Unlocks whether it gives back what the session
// holds, Shared whether the lock is one that several hold, and OfTransaction whether it ends with its transaction.
func (s *AdvisoryStmt) Tries() bool { return strings.HasPrefix(s.Function, "pg_try_") }

// Unlocks: see Tries.
func (s *AdvisoryStmt) Unlocks() bool { return strings.Contains(s.Function, "unlock") }

// Shared: see Tries.
func (s *AdvisoryStmt) Shared() bool { return strings.HasSuffix(s.Function, "_shared") }

// OfTransaction: see Tries.
func (s *AdvisoryStmt) OfTransaction() bool { return strings.Contains(s.Function, "_xact_") }
