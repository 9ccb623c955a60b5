package target

import (
	"context"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

// ReasonUnheld is the reason of an unknown verdict on a case whose statement cannot be held here: the
// server is not ours, or its program has no such place.
const ReasonUnheld = "not-held"

// CanHold returns a *harness.UnheldError where no statement can be held on the target, and else where those of some
// functions begin that the server's program has by name.
func (t *Target) CanHold(ctx context.Context, functions []string) ([]*corpus.Hold, error) {
	if harness.PromisedAcross(t.backend) != nil {
		return nil, &harness.UnheldError{Reason: "the sessions of a case are on different members of the cluster " + t.Name}
	}
	b, ok := t.backend.(harness.Holdable)
	if !ok {
		return nil, &harness.UnheldError{Reason: fmt.Sprintf(
			"%s is neither a MySQL, MariaDB or PostgreSQL that txnfuzz starts itself, on Linux on amd64, nor embedded", t.Name)}
	}
	h, err := b.Holder(ctx)
	if err != nil {
		return nil, err
	}
	var out []*corpus.Hold
	for _, f := range functions {
		if at, ok := h.Entry(f); ok {
			out = append(out, at)
		}
	}
	return out, h.Close()
}

// Trace records where the server goes in one step of a case, at most max instructions; nil where the
// step was never sent. Nothing is held, and nothing judged.
func (t *Target) Trace(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level, step, max int) (harness.Trail, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, trail, err := t.pool.RunTraced(ctx, c, harness.Levels{By: levels}, step, max)
	if err != nil {
		return nil, fmt.Errorf("record a statement: %w", err)
	}
	return trail, nil
}
