package judging

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// StatementText names a statement of a history, as people find it: its line among the steps, its session and its SQL.
func StatementText(c *corpus.Case, h *history.History, at int) string {
	if h == nil || at < 0 || at >= len(h.Stmts) {
		return "none; the final state, or the run as a whole"
	}
	l := c.Steps[h.Stmts[at].Line]
	return fmt.Sprintf("step %d, tx%d: %s", h.Stmts[at].Line+1, l.Session, corpus.SQL(l.Stmt, corpus.Text))
}

// AloneOn is a case of one step of another, on its tables without their rows.
func AloneOn(c *corpus.Case, line int) *corpus.Case {
	one := Unfilled(c)
	one.Steps = []corpus.Line{c.Steps[line]}
	return one
}

// Unfilled is a case whose tables have no rows.
func Unfilled(c *corpus.Case) *corpus.Case {
	out := &corpus.Case{Steps: c.Steps}
	for _, l := range c.Init {
		if !fills(l.Stmt) {
			out.Init = append(out.Init, l)
		}
	}
	return out
}

// fills reports whether a statement of a set-up changes rows.
func fills(n ast.StmtNode) bool {
	_, loads := n.(*ast.LoadDataStmt)
	return loads || stmt.KindOf(n).Writes()
}
