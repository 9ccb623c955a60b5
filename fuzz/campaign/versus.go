package campaign

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// versus has the cases of a campaign run on another target, too, and looks into what the
// two do differently. What nothing explains is a finding once it has shown again.
type versus struct {
	target, other *target.Target
	keeper        *findings.Keeper
	tally         againstTally
	faults        atomic.Int64
	// confirming is held while a difference is run again: a second one of the same
	// fingerprint waits for what comes of the first.
	confirming sync.Mutex
	// patient ends with the user's wish, not when the time of the campaign is up: a
	// difference that was seen is run again all the same, or nobody would know whether
	// it counts.
	patient context.Context
	keeping sync.WaitGroup
}

// openVersus opens the target of Settings.Against; nil: there is none.
func openVersus(ctx context.Context, s Settings, t *target.Target, store *findings.Store, baseline *findings.Baseline) (*versus, error) {
	if s.Against == "" {
		return nil, nil
	}
	other, err := target.OpenAgainst(ctx, s.Against, target.Options{Workers: s.Workers, Ahead: ahead(s.Against, 2*s.Workers), Progress: s.Progress, Clean: true})
	if err != nil {
		return nil, err
	}
	v := &versus{target: t, other: other, patient: ctx}
	v.tally.begin(other)
	v.keeper = findings.NewKeeper(t, store)
	k := v.keeper
	k.At.Against = &findings.Place{Target: other.Name, Server: other.Server()}
	k.Judge = v.judge
	k.Fresh = target.FreshPair(s.Target, s.Against)
	k.Baseline, k.ReduceFor, k.ConfirmsNow = baseline, s.Reduce, true
	k.Defer()
	k.Least = target.DiffersAlways
	return v, nil
}

// looksFirst is how often a difference is run again on the servers of the campaign before
// instances of their own are started for it: what comes by chance mostly ends here.
const looksFirst = 2

// offered returns the levels that both targets have; it is an error if one is missing
// that was asked for.
func (v *versus) offered(levels []corpus.Level, asked bool) ([]corpus.Level, error) {
	if v == nil {
		return levels, nil
	}
	if asked {
		return target.Offered(v.other, levels)
	}
	var out []corpus.Level
	for _, l := range levels {
		if _, err := target.Offered(v.other, []corpus.Level{l}); err == nil {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return nil, &target.LevelError{Target: v.other.Name, Level: levels[0], Have: v.other.Levels()}
	}
	return out, nil
}

// execute runs a case on both targets; neither run is judged yet.
func (v *versus) execute(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) target.Trial {
	return target.Both(ctx, c, levels, v.target.Run, v.other.Run)
}

// judge is a JudgeFunc on the servers of the campaign.
func (v *versus) judge(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) target.Trial {
	return target.Differing(v.names(), target.Both(ctx, c, levels, v.target.Judge, v.other.Judge))
}

func (v *versus) names() [2]string { return [2]string{v.target.Name, v.other.Name} }

// consider compares a case that the first target has been judged for.
func (v *versus) consider(ctx context.Context, r *target.Trial, from findings.Origin) error {
	o := r.Against
	v.other.DecideAlone(ctx, o)
	if ctx.Err() != nil {
		return nil
	}
	if target.Broken(r) || target.Broken(o) {
		v.tally.skip()
		if v.faults.Add(1) >= maxFaults {
			return fmt.Errorf("%d cases in a row broke down on %s or %s, the last: %w", maxFaults, v.target.Name, v.other.Name, errors.Join(r.Err, o.Err))
		}
		return o.Dead
	}
	v.faults.Store(0)
	cmp := target.Compare(v.names(), r)
	v.tally.compared(&cmp)
	for i := range cmp.Differences {
		if d := &cmp.Differences[i]; d.Attribution != against.Unattributed {
			if err := v.note(d, r, from); err != nil {
				return err
			}
		}
	}
	if d := cmp.Unattributed(); d != nil {
		return errors.Join(v.unattributed(r, d, from), o.Dead)
	}
	return o.Dead
}

// note counts a difference that is explained, and keeps the first case of its sort.
func (v *versus) note(d *against.Difference, r *target.Trial, from findings.Origin) error {
	if !v.tally.add(d) {
		return nil
	}
	path, err := v.keeper.Example(r, d, from)
	if err != nil {
		return err
	}
	v.tally.example(d, path)
	return nil
}

// unattributed saves a difference, runs it again, and counts it if it shows.
func (v *versus) unattributed(r *target.Trial, d *against.Difference, from findings.Origin) error {
	v.confirming.Lock()
	defer v.confirming.Unlock()
	shown := *r
	shown.Verdict = target.VerdictOn(v.names(), r, d)
	for range looksFirst {
		if again := v.judge(v.patient, r.Case, r.Levels); again.Verdict.Fingerprint != shown.Verdict.Fingerprint && v.patient.Err() == nil {
			v.tally.vanished()
			return dead(&again)
		}
	}
	f, _, err := v.keeper.Consider(v.patient, &shown, from)
	if err != nil || f == nil {
		return err
	}
	if f.Reproduced != findings.Unconfirmed && f.Reproduced < target.DiffersAlways {
		v.keeper.Forget(f)
		v.tally.vanished()
		return nil
	}
	v.tally.add(d)
	v.tally.example(d, f.File)
	return nil
}

// dead says that one of the two servers died for good.
func dead(r *target.Trial) error {
	if r.Against == nil {
		return r.Dead
	}
	return errors.Join(r.Dead, r.Against.Dead)
}

// begin has findings reduced beside the cases. The context of the user ends all of it,
// the other one the reductions.
func (v *versus) begin(user, keeping context.Context, failed func(error)) {
	if v == nil {
		return
	}
	v.patient = user
	v.keeping.Go(func() {
		if err := v.keeper.WorkOff(keeping); err != nil {
			failed(err)
		}
	})
}

func (v *versus) tell(logf func(string, ...any)) {
	if v != nil {
		v.keeper.Logf = logf
	}
}

func (v *versus) noMore() {
	if v != nil {
		v.keeper.NoMore()
	}
}

func (v *versus) end() {
	if v != nil {
		v.keeping.Wait()
	}
}

func (v *versus) close() error {
	if v == nil {
		return nil
	}
	return errors.Join(v.other.Close(), v.keeper.Fresh.End())
}
