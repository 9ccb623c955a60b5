package findings

import "github.com/txnfuzz/txnfuzz/oracle/history"

// sentIn counts the statements of a run that were to be prepared, by how they were sent: prepare, execute or, where the
// server cannot prepare them, text.
func sentIn(h *history.History) map[string]int {
	if h == nil {
		return nil
	}
	var out map[string]int
	for i := range h.Stmts {
		if how := h.Stmts[i].Sent; how != "" {
			if out == nil {
				out = map[string]int{}
			}
			out[how]++
		}
	}
	return out
}
