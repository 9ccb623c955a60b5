package target

import (
	"context"
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// answerAtOnce has PostgreSQL answer what its engine asks while that replays the history: a round trip for each
// statement, and one replay for all. What cannot be asked so stays open.
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
	oracle.Answered(r.Case, r.History, func(open map[string]history.Question) map[string]*history.Answer {
		if failed || len(r.History.Answers)+len(open) > mostAnswers {
			return nil
		}
		keys := slices.Sorted(maps.Keys(open))
		questions := make([]history.Question, len(keys))
		for i, k := range keys {
			questions[i] = open[k]
		}
		var err error
		if x == nil {
			x, err = t.pool.Scratch(ctx, unfilled(r.Case), r.History.Levels)
		}
		var got []*history.Answer
		if err == nil {
			got, err = x.Answers(ctx, questions)
		}
		if err != nil {
			failed = true
			return nil
		}
		out := map[string]*history.Answer{}
		for i, k := range keys {
			out[k] = got[i]
		}
		return out
	})
}
