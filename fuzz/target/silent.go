package target

import (
	"context"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ReasonSilent is why there is no verdict on a case in which a statement neither answered nor was seen to wait for so
// long that others were sent beside it, and which shows nothing if it runs again: what came first is not known.
const ReasonSilent = "a statement that neither answered nor waited"

// silentRuns is how often such a case runs again.
const silentRuns = 3

// heardAgain looks once more at a violation in whose run a statement was silent, as where this machine had no time for
// the server.
func (t *Target) heardAgain(ctx context.Context, r *Trial) {
	v := &r.Verdict
	if v.Outcome != oracle.Violation || r.History == nil || r.History.Held() || !silent(r.History) {
		return
	}
	for range silentRuns {
		again := t.Run(ctx, r.Case, r.Levels)
		t.decide(ctx, &again)
		if ctx.Err() != nil || SameCause(v, &again.Verdict) {
			return
		}
	}
	*v = oracle.Verdict{
		Outcome: oracle.Unknown, Stmt: -1, Statements: v.Statements, Conflicting: v.Conflicting, Reason: ReasonSilent,
		Actual: fmt.Sprintf("%s where the rules want %s, beside such a statement; in %d more runs it does not show",
			v.Actual, v.Expected, silentRuns),
	}
}

// silent says that a statement neither answered nor was seen to wait for a while.
func silent(h *history.History) bool {
	return slices.ContainsFunc(h.Stmts, func(st history.Stmt) bool {
		return slices.ContainsFunc(st.Waits, func(w history.Wait) bool { return w.Kind == history.Silence })
	})
}
