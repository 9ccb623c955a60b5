package fuzz

import (
	"context"
	"errors"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// considerJoint looks at a run that several known deviations explain only
// together. It counts for each of them. One that is not a finding yet is
// separated from the others and becomes one; what cannot be separated from
// anything new is a finding as it is.
func (k *Keeper) considerJoint(ctx context.Context, r *Trial, from origin) (f *Finding, first bool, err error) {
	k.mu.Lock()
	joint := k.byID[k.idOf(r, &r.Verdict)]
	k.mu.Unlock()
	if joint != nil {
		f, first = k.claim(r, "")
		return f, first, nil
	}
	var tried bool
	for i, cause := range r.Verdict.Causes() {
		single := oracle.Verdict{Outcome: oracle.Known, Kind: r.Verdict.Kind, Rules: r.Verdict.Rules[i : i+1], Fingerprint: cause, Stmt: r.Verdict.Stmt}
		if k.baseline.covers(cause) {
			continue
		}
		if known := k.count(k.idOf(r, &single)); known != nil {
			f = known
			continue
		}
		tried = true
		alone, err := k.separate(ctx, r, single.Rules[0])
		if err != nil {
			k.logf("separate %s: %v", single.Rules[0], err)
		}
		if alone == nil {
			continue
		}
		found, isFirst, err := k.Consider(ctx, alone, from)
		if err != nil {
			return found, isFirst, err
		}
		if found != nil {
			f, first = found, first || isFirst
		}
	}
	if f != nil || !tried || ctx.Err() != nil {
		return f, first, nil
	}
	f, first = k.claim(r, "")
	if !first {
		return f, false, nil
	}
	return f, true, k.keep(ctx, f, r, from, k.calm())
}

// idOf is the identity of the finding that a verdict belongs to.
func (k *Keeper) idOf(r *Trial, v *oracle.Verdict) string {
	return findingID(k.at.server, levelOf(r), v)
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
func (k *Keeper) separate(ctx context.Context, r *Trial, rule string) (*Trial, error) {
	if k.reduceFor <= 0 {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, k.reduceFor)
	defer cancel()
	start := r.Case.Clone()
	start.SetLevels(r.Levels)
	var found *Trial
	judge := k.calm()
	w := &watch{same: SameBug(r.Verdict, rule), judge: func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
		t := judge(ctx, c, levels)
		if found == nil && t.Verdict.Outcome == oracle.Known && slices.Equal(t.Verdict.Rules, []string{rule}) {
			found = &t
			found.Case = c.Clone() // its trees are the reducer's
			cancel()
		}
		return t
	}}
	_, err := reduce.Reduce(limited, start, reduce.Options{
		Want: r.Verdict, Seed: 1, Same: w.same, Try: w.try, Foresee: w.foresee,
	})
	if errors.Is(err, reduce.ErrNotReproduced) || limited.Err() != nil {
		err = nil
	}
	return found, err
}

// calm is the judge that waits while a crash is looked into.
func (k *Keeper) calm() judgeFunc {
	return func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
		k.quiet.RLock()
		defer k.quiet.RUnlock()
		return k.judge(ctx, c, levels)
	}
}
