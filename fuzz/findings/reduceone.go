package findings

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// Reduce makes a case as small as it can get while it shows the same on a target.
// A case whose header gives no level is reduced at the weakest level at which it
// shows a violation, or else a known deviation. If several known deviations explain
// the case together, those are kept that the smallest case can show.
//
// The result's case has the header of the original, without the lines that tell of
// other statements, and with what its own run showed. If an error comes with a
// result (Useful above 0), the case is smaller, but was not measured. experience may
// be nil.
func Reduce(ctx context.Context, t *target.Target, c *corpus.Case, strategy reduce.Strategy, seed uint64, experience *reduce.Experience) (result reduce.Result, err error) {
	start, ok := showing(ctx, t, c)
	if !ok {
		return reduce.Result{Case: c}, reduce.ErrNotReproduced
	}
	from := start.Case.Clone()
	from.SetLevels(start.Levels)
	fresh := t.Fresh()
	defer func() {
		if e := fresh.End(); e != nil && err == nil {
			err = fmt.Errorf("end the instance that the result was confirmed on: %w", e)
		}
	}()
	fresh.Prepare(ctx)
	count, _ := again(ctx, t.Judge, start)
	w := &target.Watch{Judge: t.Judge, Same: SameBug(start.Verdict, "")}
	result, err = reduce.Reduce(ctx, from, reduce.Options{
		Try: w.Try, Foresee: w.Foresee, Want: start.Verdict, Same: w.Same,
		Strategy: strategy, Seed: seed, Repeats: repeatsFor(count), Experience: experience,
	})
	if err != nil {
		if result.Useful > 0 {
			result.Case = withoutRecord(result.Case)
		}
		return result, err
	}
	small := target.Trial{Case: result.Case, Levels: target.LevelsFor(result.Case, corpus.RepeatableRead), Verdict: result.Verdict}
	on, err := fresh.Take(ctx)
	if err != nil {
		result.Case = withoutRecord(result.Case)
		return result, err
	}
	count, last := again(ctx, on.Judge, &small)
	fresh.GiveBack(on)
	last.Also = alsoAt(ctx, t.Judge, last, t.Levels())
	last.Defaults = defaultsOf(ctx, openForRuns, t.Name, last, count)
	input, _ := c.Get(keyInput)
	first, _ := c.Get(keyFirstSeen)
	shown := *last
	if corpus.ID(last.Case) != corpus.ID(c) {
		shown.Case = withoutRecord(last.Case)
	}
	result.Case = describe(Place{Target: t.Name, Server: t.Server()}, &shown, Origin{input, first}, rates{count, Unconfirmed})
	if source, ok := c.Get(KeySource); ok {
		result.Case.Set(KeySource, source)
	}
	return result, nil
}

// measuredKeys are the header keys whose values hold for the very statements of
// a case: what was seen of it, and what people noted that they expect.
var measuredKeys = []string{
	"verdict", "expected", "anomaly", "observe", keyKind, keyRules, keyStmt, keyActual, keyReason, KeyFingerprint,
	keyReproduced, keyInCampaign, keyConfirm, keyReduce, keyAlso, keyDefaults, KeyVersion, keySettings, KeyTarget,
	timeline.KeyVersions, timeline.KeyIntroduced, timeline.KeyFixed,
}

// withoutRecord returns a case without the header lines that tell of a larger one
// that it was made from.
func withoutRecord(c *corpus.Case) *corpus.Case {
	c = c.Clone()
	c.Header = slices.DeleteFunc(c.Header, func(f corpus.Field) bool {
		key, _, _ := strings.Cut(f.Key, " (")
		return slices.Contains(measuredKeys, key)
	})
	return c
}

// showing runs a case at its levels and returns the run to reduce by.
func showing(ctx context.Context, t *target.Target, c *corpus.Case) (*target.Trial, bool) {
	var known *target.Trial
	for _, r := range Replay(ctx, t, "", c, t.Levels()) {
		switch r.Verdict {
		case oracle.Violation:
			return &r.Trial, true
		case oracle.Known:
			if known == nil {
				known = &r.Trial
			}
		}
	}
	return known, known != nil
}
