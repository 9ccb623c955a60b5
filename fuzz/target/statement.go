package target

import "github.com/txnfuzz/txnfuzz/oracle/history"

// StepNumber numbers a statement of a history as its case's file does, from 1; 0:
// there is none.
func StepNumber(h *history.History, stmt int) int {
	if h == nil || stmt < 0 || stmt >= len(h.Stmts) {
		return 0
	}
	return h.Stmts[stmt].Line + 1
}
