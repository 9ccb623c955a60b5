package findings

import (
	"context"
	"errors"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// considerCombined looks at a run that only several known deviations together explain.
// It counts for each of them that is a finding already. If one is not, the run is
// saved as a finding of its own until the deviations are separated.
func (k *Keeper) considerCombined(ctx context.Context, r *target.Trial, from Origin) (f *Finding, first bool, err error) {
	if f := k.count(k.idOf(r, &r.Verdict)); f != nil {
		return f, false, nil
	}
	known, open := k.causes(r)
	for _, id := range known {
		f = k.count(id)
	}
	if len(open) == 0 {
		return f, false, nil
	}
	if f, first = k.claim(r, ""); !first {
		return f, false, nil
	}
	if err := k.keep(ctx, f, r, from); err != nil {
		return f, true, err
	}
	return k.stands(f), true, nil
}

// causes splits the deviations of a run into the identities of those that are
// findings, and the indexes of those that are none yet and not to be ignored.
func (k *Keeper) causes(r *target.Trial) (known []string, open []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, cause := range r.Verdict.Causes() {
		single := judging.OneOf(&r.Verdict, i)
		switch id := k.idOf(r, &single); {
		case k.Baseline.covers(cause):
		case k.byID[id] != nil:
			known = append(known, id)
		default:
			open = append(open, i)
		}
	}
	return known, open
}

// separated separates the deviations of a confirmed run from each other. Each
// becomes a finding of its own, and the run is none any more; what cannot be
// separated stays one as it is.
func (k *Keeper) separated(ctx context.Context, j job) error {
	_, open := k.causes(j.r)
	for _, i := range open {
		rule := j.r.Verdict.Rules[i]
		apart, err := k.separate(ctx, j.r, rule)
		if err != nil && ctx.Err() == nil {
			k.Logf("separate %s: %v", rule, err)
		}
		if apart == nil {
			continue
		}
		f, first := k.claim(apart, "")
		if !first {
			continue
		}
		k.set(func() { f.Seen = j.f.Seen })
		if err := k.keep(ctx, f, apart, j.from); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	if _, open := k.causes(j.r); len(open) > 0 {
		return k.reduced(ctx, j)
	}
	return k.dissolve(j.f)
}

// dissolve takes back a finding that others stand for.
func (k *Keeper) dissolve(f *Finding) error {
	k.Forget(f)
	if !f.Saved {
		return nil
	}
	return k.Store.remove(f.ID)
}

// stands returns a finding, or after it was dissolved the last one of those that
// stand for it.
func (k *Keeper) stands(f *Finding) *Finding {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID[f.ID] == nil && len(k.order) > 0 {
		return k.order[len(k.order)-1]
	}
	return f
}

// idOf is the identity of the finding that a verdict belongs to.
func (k *Keeper) idOf(r *target.Trial, v *oracle.Verdict) string {
	return findingID(k.At.Server, levelOf(r), v)
}

// count counts a run in a finding, nil if there is none of that identity.
func (k *Keeper) count(id string) *Finding {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.byID[id]
	if f != nil {
		f.Seen++
	}
	return f
}

// separate deletes from a case until one deviation alone explains what it shows.
// It returns nil where that is not reached.
func (k *Keeper) separate(ctx context.Context, r *target.Trial, rule string) (*target.Trial, error) {
	if k.ReduceFor <= 0 {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, k.ReduceFor)
	defer cancel()
	start := r.Case.Clone()
	start.SetLevels(r.Levels)
	judge, err := k.candidates(ctx)
	if err != nil {
		return nil, err
	}
	var found *target.Trial
	w := &target.Watch{Same: SameBug(r.Verdict, rule), Judge: func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) target.Trial {
		t := judge(ctx, c, levels)
		if found == nil && t.Verdict.Outcome == oracle.Known && slices.Equal(t.Verdict.Rules, []string{rule}) {
			found = &t
			found.Case = c.Clone() // its trees are the reducer's
			cancel()
		}
		return t
	}}
	_, err = reduce.Reduce(limited, start, reduce.Options{
		Want: r.Verdict, Seed: 1, Same: w.Same, Try: w.Try, Foresee: w.Foresee,
	})
	if errors.Is(err, reduce.ErrNotReproduced) || limited.Err() != nil {
		err = nil
	}
	return found, err
}

// calm is the judge that waits while a crash is looked into.
func (k *Keeper) calm() target.JudgeFunc {
	return func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) target.Trial {
		k.quiet.RLock()
		defer k.quiet.RUnlock()
		return k.Judge(ctx, c, levels)
	}
}
