package target

import (
	"context"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// Explain tells people why a case has no verdict, unless the context ends before
// that is found out.
func Explain(ctx context.Context, r *Trial) {
	if ctx.Err() != nil {
		return
	}
	done := make(chan oracle.Verdict, 1)
	v, c, h := r.Verdict, r.Case, r.History
	go func() {
		done <- explained(v, c, h)
	}()
	select {
	case r.Verdict = <-done:
	case <-ctx.Done():
	}
}

// explained says in words why there is no verdict, also of an ok that tests nothing.
func explained(v oracle.Verdict, c *corpus.Case, h *history.History) oracle.Verdict {
	if v.Outcome == "" {
		return v
	}
	v, stale := judging.Stale(&v, c, h)
	if !stale {
		judging.Explain(&v, c, h)
	}
	return v
}
