package fuzz

import (
	"context"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/foresight"
)

// watch runs the candidates of one reduction and remembers the last one that
// showed the bug, so that variants of it can be foreseen.
type watch struct {
	judge judgeFunc
	same  func(oracle.Verdict) bool
	seer  *foresight.Seer
	// blind says that what is looked for is nothing that the oracle could foresee.
	blind bool
}

// try judges a case as reduce.Options wants it.
func (w *watch) try(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
	return try(func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
		r := w.judge(ctx, c, levels)
		if r.History != nil && !w.blind && w.same(r.Verdict) {
			w.seer = foresight.New(c, r.History, &r.Verdict)
		}
		return r
	})(ctx, c)
}

func (w *watch) foresee(c *corpus.Case) foresight.Guess {
	if w.seer == nil {
		return foresight.Open
	}
	return w.seer.Guess(c, LevelsFor(c, corpus.RepeatableRead))
}

// Watch returns Try and Foresee of reduce.Options for one reduction that keeps
// what same reports.
func (t *Target) Watch(same func(oracle.Verdict) bool) (func(context.Context, *corpus.Case) (oracle.Verdict, error), func(*corpus.Case) foresight.Guess) {
	w := &watch{judge: t.Judge, same: same}
	return w.try, w.foresee
}
