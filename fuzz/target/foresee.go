package target

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/foresight"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// Watch runs the candidates of one reduction and remembers the last one that
// showed the bug, so that variants of it can be foreseen.
type Watch struct {
	// Judge runs a candidate, Same says whether its verdict shows the bug.
	Judge JudgeFunc
	Same  func(oracle.Verdict) bool
	seer  *foresight.Seer
	// Blind says that what is looked for is nothing that the oracle could foresee.
	Blind bool
}

// Try judges a case as reduce.Options wants it.
func (w *Watch) Try(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
	return try(func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
		r := w.Judge(ctx, c, levels)
		if r.History != nil && !w.Blind && !r.History.Held() && w.Same(r.Verdict) {
			w.seer = foresight.New(c, r.History, &r.Verdict)
		}
		return r
	})(ctx, c)
}

// Foresee tells of a candidate what the last run that showed the bug tells of it.
func (w *Watch) Foresee(c *corpus.Case) foresight.Guess {
	if w.seer == nil {
		return foresight.Open
	}
	return w.seer.Guess(c, LevelsFor(c, corpus.RepeatableRead))
}

// Watch returns Try and Foresee of reduce.Options for one reduction that keeps
// what same reports.
func (t *Target) Watch(same func(oracle.Verdict) bool) (func(context.Context, *corpus.Case) (oracle.Verdict, error), func(*corpus.Case) foresight.Guess) {
	w := &Watch{Judge: t.Judge, Same: same}
	return w.Try, w.Foresee
}

// JudgeFunc runs a case and judges it, as Target.Judge does.
type JudgeFunc func(context.Context, *corpus.Case, map[int]corpus.Level) Trial

// try judges a case at the levels of its own header, as reduce.Options wants
// it: candidates that cannot be run are rejected, a broken harness ends it.
func try(judge JudgeFunc) func(context.Context, *corpus.Case) (oracle.Verdict, error) {
	return func(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
		r := judge(ctx, c, LevelsFor(c, corpus.RepeatableRead))
		if r.Dead != nil {
			return r.Verdict, r.Dead
		}
		if r.Verdict.Outcome == oracle.Unknown {
			switch r.Verdict.Reason {
			case ReasonInit, ReasonLevel, ReasonRefused:
				return r.Verdict, fmt.Errorf("%w: %w", reduce.ErrRejected, r.Err)
			case ReasonHarness:
				return r.Verdict, r.Err
			}
		}
		return r.Verdict, nil
	}
}

// ExperienceFile is where what reductions learn is kept between runs, for each
// family of servers by itself: what pays differs between them.
func (t *Target) ExperienceFile() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	dir = filepath.Join(dir, "txnfuzz")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	return filepath.Join(dir, "reduction-"+string(t.server.DBMS)+".json"), nil
}

// Try judges a case at the levels of its header, as reduce.Options wants it.
func (t *Target) Try(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
	return try(t.Judge)(ctx, c)
}
