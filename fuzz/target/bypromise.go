package target

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// forPromise holds the reasons of unknown verdicts, beside those of SQL, that are the oracle's own:
// it knows no model of what the case holds.
var forPromise = []string{"set-up of unknown effect", "schema", "solver", "key", "auto-increment exhausted",
	"order in which a condition is evaluated", "view", "value that cannot be read", "work", "text error predicted",
	oracle.ReasonDeclared, oracle.ReasonHeld}

// judgeByPromise lets the judge that knows no engine and no SQL judge what the rules cannot, for lack of a
// model. Where it cannot tell either, the verdict stays as it is.
func (t *Target) judgeByPromise(ctx context.Context, r *Trial) {
	v := &r.Verdict
	if r.History == nil || r.Err != nil || v.Outcome != oracle.Unknown || t.solver == BySolver ||
		!strings.HasPrefix(v.Reason, unsupportedSlug) && !slices.Contains(forPromise, v.Reason) && t.server.DBMS != history.PostgreSQL {
		return
	}
	t.mu.RLock()
	seen := t.revived
	t.mu.RUnlock()
	g, err := t.RuleByPromise(ctx, r.Case, r.History)
	var lost *harness.LostError
	switch {
	case err == nil:
		r.Verdict = oracle.ByPromise(r.Case, r.History, v, &g)
	case errors.As(err, &lost): // a statement may take the server down alone, too
		r.Err = err
		r.Verdict, r.Dead = t.judgeLost(ctx, r, seen)
	case !cannotLayOut(err) && ctx.Err() == nil:
		r.fails(fmt.Errorf("judge by promise: %w", err))
	}
}
