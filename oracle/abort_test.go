package oracle

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestAbortNeedsACause: an honest history in which one statement says that it is
// the victim of a deadlock, while nobody waits, or that it waited too long, while
// it did not, is accused of just that.
func TestAbortNeedsACause(t *testing.T) {
	const file = "testdata/tidb-honest.jsonl"
	for _, code := range []uint16{1213, 1205} {
		records, err := LoadRecords(file)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for i := range records {
			h := records[i].History
			if records[i].Verdict.Outcome != OK || h.End != history.Complete || waits(h) {
				continue
			}
			at := firstInTransaction(h)
			if at < 0 {
				continue
			}
			tried++
			h.Stmts[at].Result = history.Result{Matched: -1, Changed: -1, Affected: -1, InTxn: true, Err: &history.Error{Code: code}}
			v, err := records[i].Judge("abort")
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != Violation || v.Kind != "unjustified-abort" || v.Stmt != at {
				t.Errorf("%s, record %d, statement %d says %d: judged %s %s at %d", file, i+1, at, code, v.Outcome, v.Kind, v.Stmt)
			}
		}
		if tried < 5 {
			t.Errorf("%s: %d histories without a wait", file, tried)
		}
	}
}

func waits(h *history.History) bool {
	for i := range h.Stmts {
		if len(h.Stmts[i].Waits) > 0 {
			return true
		}
	}
	return false
}

// firstInTransaction returns the first statement that affected or returned rows
// inside a transaction, -1 if there is none.
func firstInTransaction(h *history.History) int {
	for i := range h.Stmts {
		if s := &h.Stmts[i]; s.InTxn && s.Result.Err == nil && (s.Result.Affected > 0 || len(s.Result.Columns) > 0) {
			return i
		}
	}
	return -1
}
