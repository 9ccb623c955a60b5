package target

import (
	"context"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Hold keeps the server from being replaced until what it returns is called.
func (t *Target) Hold() (release func()) {
	t.mu.RLock()
	return t.mu.RUnlock
}

// Live begins a case whose statements come one by one. The caller holds the server.
func (t *Target) Live(ctx context.Context, levels harness.Levels) (*harness.Live, error) {
	return t.pool.Live(ctx, levels)
}

// JudgeLive judges what was seen of a live case, and says in words why there is no
// verdict. The caller holds the server.
func (t *Target) JudgeLive(ctx context.Context, c *corpus.Case, h *history.History) (oracle.Verdict, error) {
	if t.options.Workers > 1 { // the live session has a worker of its own
		if err := askAlone(ctx, c, h, h.Levels, t.pool.RunUnread); err != nil {
			return oracle.Verdict{}, err
		}
	}
	r := Trial{Case: c, History: h}
	JudgeByOracle(ctx, &r)
	return explained(r.Verdict, c, h), r.Err
}
