package target

import (
	"context"
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// answerAtOnce has PostgreSQL answer what its engine asks while that replays the history, a round trip for each
// statement and one replay for all, and judges the history with the answers. What cannot be asked so stays open.
func (t *Target) answerAtOnce(ctx context.Context, r *Trial) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var x *harness.Scratch
	defer func() {
		if x != nil {
			x.Close()
		}
	}()
	failed := false
	server := func(open map[string]history.Question) map[string]*history.Answer {
		if failed || len(r.History.Answers)+len(open) > mostAnswers {
			return nil
		}
		var err error
		if x == nil {
			x, err = t.pool.Scratch(ctx, unfilled(r.Case), r.History.Levels)
		}
		var out map[string]*history.Answer
		if err == nil {
			out, err = answered(ctx, x, open)
		}
		failed = err != nil
		return out
	}
	v, err := check(func(c *corpus.Case, h *history.History) oracle.Verdict {
		oracle.Answered(c, h, server)
		return oracle.Verdict{}
	}, r.Case, r.History)
	if r.Verdict, r.Err = v, err; err == nil {
		JudgeByOracle(ctx, r)
	}
}

// answered asks questions together.
func answered(
	ctx context.Context, x *harness.Scratch, open map[string]history.Question,
) (map[string]*history.Answer, error) {
	keys := slices.Sorted(maps.Keys(open))
	questions := make([]history.Question, len(keys))
	for i, k := range keys {
		questions[i] = open[k]
	}
	got, err := x.Answers(ctx, questions)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*history.Answer, len(keys))
	for i, k := range keys {
		out[k] = got[i]
	}
	return out, nil
}
