package findings

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// reduction makes one confirmed finding smaller: first its topology, since a case takes less time on fewer servers,
// then the case.
type reduction struct {
	k          *Keeper
	r          *target.Trial
	start      *corpus.Case
	reproduced Rate
	shrinking  *shrinking // nil: the target is one server, or is not to change
	// grounds are simpler topologies that show the finding, the simplest last.
	grounds []*ground
	// kept and tried count topologies before the case was reduced.
	kept, tried int
}

func (k *Keeper) reduce(ctx context.Context, r *target.Trial, reproduced Rate) (out smaller, err error) {
	if k.ReduceFor <= 0 {
		return smaller{}, nil
	}
	limited, cancel := context.WithTimeout(ctx, k.ReduceFor)
	defer cancel()
	d := &reduction{k: k, r: r, start: r.Case.Clone(), reproduced: reproduced}
	d.start.SetLevels(r.Levels)
	if k.Shrinks && k.At.Against == nil {
		d.shrinking = newShrinking(k.open, k.At.Target, r, reproduced, k.Logf)
	}
	d.shrink(limited, d.start)
	if len(d.grounds) > 0 {
		d.kept, d.tried = len(d.shrinking.kept), len(d.shrinking.tried)
		out, err = d.attempt(ctx, limited)
		if out.trial != nil || ctx.Err() != nil {
			return out, errors.Join(err, d.leave())
		}
		k.Logf("%s does not show surely on %s: it is reduced on %s", r.Verdict.Fingerprint, d.name(), k.At.Target)
		if err = d.leave(); err != nil {
			return out, err
		}
		d.kept, d.tried = 0, 0
	}
	out, err = d.attempt(ctx, limited)
	return out, errors.Join(err, d.leave())
}

// leave ends the simpler topologies.
func (d *reduction) leave() error {
	var errs []error
	for _, g := range d.grounds {
		errs = append(errs, g.leave())
	}
	d.grounds = nil
	return errors.Join(errs...)
}

// name is the simplest topology so far.
func (d *reduction) name() string {
	if g := d.last(); g != nil {
		return g.at.Target
	}
	return d.k.At.Target
}

// last is the simplest topology, nil for that of the Keeper.
func (d *reduction) last() *ground {
	if n := len(d.grounds); n > 0 {
		return d.grounds[n-1]
	}
	return nil
}

// shrink looks for a simpler topology that shows a case. It leaves half of the time to the case.
func (d *reduction) shrink(limited context.Context, c *corpus.Case) {
	limited, cancel := context.WithTimeout(limited, d.k.ReduceFor/2)
	defer cancel()
	if g := d.shrinking.simplest(limited, d.name(), c); g != nil {
		d.grounds = append(d.grounds, g)
	}
}

// attempt reduces the case on the simplest topology, and confirms what is left. out has no trial if it comes to
// nothing.
func (d *reduction) attempt(ctx, limited context.Context) (out smaller, err error) {
	home := len(d.grounds) == 0
	res, err := d.reduceCase(ctx, limited)
	out.cut = limited.Err() != nil && !res.Minimal
	if errors.Is(err, reduce.ErrNotReproduced) || limited.Err() != nil {
		err = nil // what was kept before the end counts
	}
	if err != nil && res.Useful == 0 || ctx.Err() != nil {
		return out, err
	}
	d.shrink(limited, res.Case) // which may have fewer sessions
	places := d.grounds[:len(d.grounds):len(d.grounds)]
	if home && sizeOn(res.Case, "").less(sizeOn(d.start, "")) {
		places = append([]*ground{nil}, places...)
	}
	// What counts is a run of the reduced case, not what the reduction remembers of it.
	small := &target.Trial{Case: res.Case, Levels: target.LevelsFor(res.Case, 0), Verdict: d.r.Verdict}
	for _, on := range slices.Backward(places) {
		fresh := d.k.Fresh
		if on != nil {
			fresh = on.fresh
		}
		rates, last, e := d.k.confirmOn(ctx, fresh, small)
		if e != nil || ctx.Err() != nil {
			return out, errors.Join(err, e)
		}
		if 2*rates.Reproduced >= d.reproduced && rates.Reproduced >= max(d.k.Least, 1) {
			out.trial, out.rates = last, rates
			if on != nil {
				out.at = &on.at
			}
			d.describe(ctx, limited, &res, on, &out)
			return out, err
		}
	}
	return out, err
}

func (d *reduction) reduceCase(ctx, limited context.Context) (res reduce.Result, err error) {
	var judge target.JudgeFunc
	if on := d.last(); on != nil {
		judge = on.judge
		on.fresh.Prepare(ctx)
	} else {
		if judge, err = d.k.candidates(ctx); err != nil {
			return reduce.Result{Case: d.start}, err
		}
		if d.k.Fresh != nil {
			d.k.Fresh.Prepare(ctx)
		}
	}
	same := func(v oracle.Verdict) bool { return v.Fingerprint == d.r.Verdict.Fingerprint }
	w := &target.Watch{Judge: judge, Same: same, Blind: d.k.At.Against != nil}
	return reduce.Reduce(limited, d.start, reduce.Options{
		Try: w.Try, Foresee: w.Foresee, Want: d.r.Verdict, Same: w.Same, Repeats: repeatsFor(d.reproduced), Seed: 1,
	})
}

// describe completes what a finding tells of its reduction, which has ended on a simpler topology; nil: it has not.
func (d *reduction) describe(ctx, limited context.Context, res *reduce.Result, on *ground, out *smaller) {
	last := out.trial
	last.Reduction = reductionOf(res)
	judge, levels := d.k.calm(), d.k.levels
	if on != nil {
		d.shrinking.path(last.Reduction, d.kept, d.tried)
		judge, levels = on.judge, on.levels
	} else if d.k.Bench != nil {
		t, err := d.k.Bench.Target(ctx)
		if err != nil {
			return
		}
		judge = t.Judge
	}
	last.Also = alsoAt(limited, judge, last, levels)
	if d.k.At.Against == nil { // the options of two servers are no vendor's
		last.Defaults = defaultsOf(ctx, d.k.runs, d.k.placeOf(out.at).Target, last, out.rates.Reproduced)
	}
}

// candidates returns where the cases of a reduction run: not among those of the campaign, and on tables that hold
// nothing of earlier ones, so that what is kept needs nothing but itself.
func (k *Keeper) candidates(ctx context.Context) (target.JudgeFunc, error) {
	if k.Bench == nil {
		return k.calm(), nil
	}
	t, err := k.Bench.Target(ctx)
	if err != nil {
		return nil, fmt.Errorf("start an instance to reduce on: %w", err)
	}
	return t.Judge, nil
}
