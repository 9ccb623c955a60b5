package fuzz

import (
	"context"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// Reduce makes a case as small as it can get while it shows the same on the
// target. A case whose header gives no level is reduced at the weakest level
// at which it shows a violation, or else a known deviation. The result's case
// has the header of the original, with what its own run showed.
func (t *Target) Reduce(ctx context.Context, c *corpus.Case, strategy reduce.Strategy, seed uint64) (reduce.Result, error) {
	start, ok := t.showing(ctx, c)
	if !ok {
		return reduce.Result{Case: c}, reduce.ErrNotReproduced
	}
	from := start.Case.Clone()
	from.SetLevels(start.Levels)
	count, _ := confirm(ctx, t.Judge, start)
	result, err := reduce.Reduce(ctx, from, reduce.Options{
		Try: try(t.Judge), Want: start.Verdict, Strategy: strategy, Seed: seed, Repeats: repeatsFor(count),
	})
	if err != nil {
		return result, err
	}
	small := Trial{Case: result.Case, Levels: LevelsFor(result.Case, corpus.RepeatableRead), Verdict: start.Verdict}
	count, last := confirm(ctx, t.Judge, &small)
	input, _ := c.Get(keyInput)
	first, _ := c.Get(keyFirstSeen)
	result.Case = describe(place{t.Name, t.server}, last, origin{input, first}, reproducedText(count))
	return result, nil
}

// showing runs a case at its levels and returns the run to reduce by.
func (t *Target) showing(ctx context.Context, c *corpus.Case) (*Trial, bool) {
	var known *Trial
	for _, r := range t.Replay(ctx, "", c, t.Levels()) {
		switch r.Verdict {
		case oracle.Violation:
			return &r.run, true
		case oracle.Known:
			if known == nil {
				known = &r.run
			}
		}
	}
	return known, known != nil
}
