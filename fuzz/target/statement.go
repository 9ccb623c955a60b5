package target

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// StatementText names the statement that differs, as people find it: its line
// among the steps, its session and its SQL.
func StatementText(c *corpus.Case, h *history.History, stmt int) string {
	step := StepNumber(h, stmt)
	if step == 0 {
		return "none; the final state, or the run as a whole"
	}
	l := c.Steps[step-1]
	return fmt.Sprintf("step %d, tx%d: %s", step, l.Session, corpus.SQL(l.Stmt, corpus.Text))
}

// StepNumber numbers a statement of a history as its case's file does, from 1; 0:
// there is none.
func StepNumber(h *history.History, stmt int) int {
	if h == nil || stmt < 0 || stmt >= len(h.Stmts) {
		return 0
	}
	return h.Stmts[stmt].Line + 1
}
