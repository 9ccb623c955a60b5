package target

import (
	"context"
	"errors"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// RuleByPromise holds a history against what its levels promise, with the server as the calculator:
// what was recorded of it in History.Solos is not asked again, what is asked is kept there. It costs
// the set-up of the case and a few milliseconds for each question.
func (t *Target) RuleByPromise(ctx context.Context, c *corpus.Case, h *history.History) (promise.Ruling, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var x *harness.Scratch
	defer func() {
		if x != nil {
			x.Close()
		}
	}()
	return promise.Judge(c, h, func(q *history.Solo) (*history.SoloAnswer, error) {
		key := q.Key()
		if a := h.Solos[key]; a != nil {
			return a, nil
		}
		if x == nil {
			var err error
			if x, err = t.pool.Scratch(ctx, c, h.Levels); err != nil {
				return nil, fmt.Errorf("make the tables once more: %w", err)
			}
		}
		a, err := x.Alone(ctx, q)
		if err != nil {
			return nil, err
		}
		if h.Solos == nil {
			h.Solos = map[string]*history.SoloAnswer{}
		}
		h.Solos[key] = a
		return a, nil
	})
}

// cannotLayOut says that an error of RuleByPromise is one of the case and not of the server.
func cannotLayOut(err error) bool {
	var refused *harness.RefusedError
	var init *harness.InitError
	return errors.As(err, &refused) || errors.As(err, &init)
}
