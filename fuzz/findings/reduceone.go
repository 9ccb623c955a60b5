package findings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// Reducing says how a case is reduced.
type Reducing struct {
	Strategy reduce.Strategy
	Seed     uint64
	// Experience may be nil.
	Experience *reduce.Experience
	// KeepsTopology leaves a target of several servers as it is.
	KeepsTopology bool
	// Logf receives lines for people; nil: nowhere.
	Logf func(format string, args ...any)

	_ struct{}
}

// Reduce makes a case as small as it can get while it shows the same on a target. Where that is several servers which
// txnfuzz starts, it takes the simplest topology first that shows the case, too, of which the result's header tells.
// A case whose header gives no level is reduced at the weakest level at which it
// shows a violation, or else a known deviation. If several known deviations explain
// the case together, those are kept that the smallest case can show.
//
// The result's case has the header of the original, without the lines that tell of
// other statements, and with what its own run showed. If an error comes with a
// result (Useful above 0), the case is smaller, but was not measured.
func Reduce(ctx context.Context, t *target.Target, c *corpus.Case, how Reducing) (result reduce.Result, err error) {
	start, ok := showing(ctx, t, c)
	if !ok {
		return reduce.Result{Case: c}, reduce.ErrNotReproduced
	}
	from := start.Case.Clone()
	from.SetLevels(start.Levels)
	home := &ground{at: Place{Target: t.Name, Server: t.Server()}, judge: t.Judge, fresh: t.Fresh(), levels: t.Levels()}
	defer func() {
		if e := home.fresh.End(); e != nil && err == nil {
			err = fmt.Errorf("end the instance that the result was confirmed on: %w", e)
		}
	}()
	if !target.OfSeveral(t.Name) { // else a simpler one may do
		home.fresh.Prepare(ctx)
	}
	count, _ := again(ctx, t.Judge, start)
	if !how.KeepsTopology {
		if how.Logf == nil {
			how.Logf = func(string, ...any) {}
		}
		s := newShrinking(openGround, t.Name, start, count, how.Logf)
		if on := s.simplest(ctx, t.Name, from); on != nil {
			result, shows, err := reduceOn(ctx, on, start, from, c, count, how)
			if e := on.leave(); e != nil && err == nil {
				err = e
			}
			if shows || err != nil && !errors.Is(err, reduce.ErrNotReproduced) {
				return result, err
			}
			how.Logf("%s does not show there as surely as on %s, which stays", start.Verdict.Fingerprint, t.Name)
		}
	}
	result, _, err = reduceOn(ctx, home, start, from, c, count, how)
	return result, err
}

// reduceOn reduces a case, which is the run start of c as it was given, on a ground. shows says that the result shows
// there in at least half as many of ten runs as start did.
func reduceOn(
	ctx context.Context, on *ground, start *target.Trial, from, c *corpus.Case, count Rate, how Reducing,
) (result reduce.Result, shows bool, err error) {
	on.fresh.Prepare(ctx)
	w := &target.Watch{Judge: on.judge, Same: SameBug(start.Verdict, "")}
	result, err = reduce.Reduce(ctx, from, reduce.Options{
		Try: w.Try, Foresee: w.Foresee, Want: start.Verdict, Same: w.Same,
		Strategy: how.Strategy, Seed: how.Seed, Repeats: repeatsFor(count), Experience: how.Experience,
	})
	if err != nil {
		if result.Useful > 0 {
			result.Case = withoutRecord(result.Case)
		}
		return result, false, err
	}
	small := target.Trial{Case: result.Case, Levels: target.LevelsFor(result.Case, corpus.RepeatableRead), Verdict: result.Verdict}
	instance, err := on.fresh.Take(ctx)
	if err != nil {
		result.Case = withoutRecord(result.Case)
		return result, false, err
	}
	again, last := again(ctx, instance.Judge, &small)
	on.fresh.GiveBack(instance)
	last.Also = alsoAt(ctx, on.judge, last, on.levels)
	last.Defaults = defaultsOf(ctx, openForRuns, on.at.Target, last, again)
	input, _ := c.Get(keyInput)
	first, _ := c.Get(keyFirstSeen)
	shown := *last
	if corpus.ID(last.Case) != corpus.ID(c) {
		shown.Case = withoutRecord(last.Case)
	}
	result.Case = describe(on.at, &shown, Origin{input, first}, rates{again, Unconfirmed})
	if source, ok := c.Get(KeySource); ok {
		result.Case.Set(KeySource, source)
	}
	return result, 2*again >= count, nil
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
