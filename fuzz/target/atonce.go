package target

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// answerAtOnce has PostgreSQL answer what its engine asks while that replays the history, a round trip for each
// statement and one replay for all, and judges the history with the answers. What is plain is not asked, unless the
// history then breaks a rule. What cannot be asked so stays open.
func (t *Target) answerAtOnce(ctx context.Context, r *Trial) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	o := &atOnce{t: t, ctx: ctx, r: r, by: t.plainly(r.Case)}
	defer o.close()
	o.judge()
	if o.disagreed == nil && r.Err == nil && r.Verdict.Fingerprint != "" && o.by.off() {
		maps.DeleteFunc(r.History.Answers, func(key string, _ *history.Answer) bool { return o.by.used[key] })
		o.judge()
	}
	if o.disagreed != nil {
		r.fails(fmt.Errorf("two ways to compute a statement: %w", o.disagreed))
	}
}

// atOnce answers what one history asks.
type atOnce struct {
	t   *Target
	ctx context.Context
	r   *Trial
	by  *plainly
	x   *harness.Scratch // nil until something is asked
	// failed ends the asking, disagreed is what package plainsql computes otherwise than the server.
	failed, disagreed error
}

func (o *atOnce) close() {
	if o.x != nil {
		o.x.Close()
	}
}

func (o *atOnce) judge() {
	o.r.Verdict, o.r.Err = check(func(c *corpus.Case, h *history.History) oracle.Verdict {
		oracle.Answered(c, h, o.answers)
		return oracle.Verdict{}
	}, o.r.Case, o.r.History)
	if o.r.Err == nil {
		JudgeByOracle(o.ctx, o.r)
	}
}

func (o *atOnce) answers(open map[string]history.Question) map[string]*history.Answer {
	if o.failed != nil || len(o.r.History.Answers)+len(open) > mostAnswers {
		return nil
	}
	out := make(map[string]*history.Answer, len(open))
	left := map[string]history.Question{}
	for key, q := range open {
		if a := o.by.answer(key, &q); a != nil {
			out[key] = a
		} else {
			left[key] = q
		}
	}
	if len(left) == 0 {
		return out
	}
	if o.x == nil {
		if o.x, o.failed = o.t.pool.Scratch(o.ctx, unfilled(o.r.Case), o.r.History.Levels); o.failed != nil {
			return out
		}
	}
	var said map[string]*history.Answer
	if said, o.failed = answered(o.ctx, o.x, left); o.failed != nil {
		return out
	}
	for key, a := range said {
		q := left[key]
		if err := o.by.saysAlike(&q, a); err != nil {
			o.disagreed = err
		}
		out[key] = a
	}
	return out
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
