package findings

import (
	"context"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// confirmed runs a saved finding again and has it reduced.
func (k *Keeper) confirmed(ctx context.Context, j job) error {
	f := j.f
	rates, last, err := k.confirm(ctx, j.r)
	if err != nil && ctx.Err() == nil {
		k.Logf("confirm %s: %v", f.ID, err)
	}
	if err != nil || ctx.Err() != nil {
		return nil // it stays as it was saved
	}
	if rates.Reproduced < reruns/2 && k.At.Against == nil {
		if with, sure := k.withPast(ctx, j.r); sure > rates.Reproduced {
			last, rates.Reproduced = with, sure
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	if rates.Reproduced < max(k.Least, 1) {
		return k.unreproduced(j, rates)
	}
	k.set(func() { f.rates = rates })
	if err := k.write(f, last, j.from); err != nil {
		return err
	}
	if namedByPeople(f.File) {
		return nil
	}
	return k.do(ctx, job{f, last, j.from, toReduce})
}

// reduced replaces the case of a confirmed finding by a smaller one.
func (k *Keeper) reduced(ctx context.Context, j job) error {
	f := j.f
	small, err := k.reduce(ctx, j.r, f.Reproduced)
	if err != nil && ctx.Err() == nil {
		k.Logf("reduce %s: %v", f.ID, err)
	}
	if small.trial == nil {
		if !small.cut {
			return nil
		}
		small.trial = j.r
		k.set(func() { small.rates = f.rates })
	}
	k.set(func() { f.becomes(&small) })
	return k.write(f, small.trial, j.from)
}

// withPast adds to the set-up of a finding what earlier cases of the campaign may
// have left in its tables, if the finding needs that, so that the file alone shows
// it. It returns the variant that shows it most surely. TiDB leaves nothing in a
// table that a case could meet.
func (k *Keeper) withPast(ctx context.Context, r *target.Trial) (best *target.Trial, sure Rate) {
	if k.At.Server.DBMS == history.TiDB || r.Verdict.Kind.OfServer() {
		return nil, 0
	}
	for _, c := range reduce.Pasts(r.Case, r.History) {
		rates, last, err := k.confirm(ctx, &target.Trial{Case: c, Levels: r.Levels, Verdict: r.Verdict})
		if err != nil || ctx.Err() != nil {
			break
		}
		if rates.Reproduced > sure {
			best, sure = last, rates.Reproduced
		}
		if sure == reruns {
			break
		}
	}
	return best, sure
}

// unreproduced sets a finding aside that showed in none of its runs in a new
// database.
func (k *Keeper) unreproduced(j job, rates rates) error {
	f := j.f
	k.set(func() { f.rates = rates })
	if !f.Saved {
		return nil
	}
	if err := k.write(f, j.r, j.from); err != nil {
		return err
	}
	path, err := k.Store.setAside(f.ID)
	k.set(func() { f.File = path })
	return err
}

// improved reduces another case of a finding and keeps it if it gets smaller than
// the one that is kept.
func (k *Keeper) improved(ctx context.Context, j job) error {
	rates, last, err := k.confirm(ctx, j.r)
	if err != nil || ctx.Err() != nil || rates.Reproduced < max(k.Least, 1) {
		return nil
	}
	small, err := k.reduce(ctx, last, rates.Reproduced)
	if err != nil && ctx.Err() == nil {
		k.Logf("reduce %s: %v", j.f.ID, err)
	}
	k.mu.Lock()
	kept := j.f.size
	k.mu.Unlock()
	if small.trial == nil || !sizeOn(small.trial.Case, k.placeOf(small.at).Target).less(kept) {
		return nil
	}
	k.set(func() { j.f.becomes(&small) })
	return k.write(j.f, small.trial, j.from)
}

// confirm runs a case ten times more where a user would replay it. It also runs it
// ten times on the server of the campaign, for comparison. It returns the last of
// the user's runs that showed the same, or r if none did. An error says that the
// case could not be run.
func (k *Keeper) confirm(ctx context.Context, r *target.Trial) (rates, *target.Trial, error) {
	return k.confirmOn(ctx, k.Fresh, r)
}

// confirmOn is confirm with the user's runs on other instances.
func (k *Keeper) confirmOn(
	ctx context.Context, fresh *target.FreshServers, r *target.Trial,
) (rates, *target.Trial, error) {
	out := rates{Unconfirmed, Unconfirmed}
	crash := r.Verdict.Kind == oracle.ServerCrash
	if crash && (fresh == nil || fresh.Shared) {
		k.quiet.Lock()
		defer k.quiet.Unlock()
	}
	if fresh == nil {
		count, last := again(ctx, k.Judge, r)
		out.Reproduced = count
		return out, last, nil
	}
	fresh.Prepare(ctx)
	if k.later != nil && !crash && !k.ConfirmsNow { // a campaign goes on on that server
		limited, cancel := context.WithTimeout(ctx, comparing)
		n, _ := again(limited, k.calm(), r)
		if limited.Err() == nil {
			out.InCampaign = n
		}
		cancel()
	}
	s, err := fresh.Take(ctx)
	if err != nil {
		return out, r, err
	}
	defer fresh.GiveBack(s)
	if k.later.confirmsMore() {
		k.Fresh.Prepare(ctx)
	}
	count, last := again(ctx, s.Judge, r)
	if count > 0 {
		var refuted bool
		if last, refuted = forFacts(ctx, s.Facts, last); refuted {
			k.Logf("%s: by the plans that the server told it is %s", r.Verdict.Fingerprint, VerdictText(&last.Verdict))
			count = 0
		}
	}
	out.Reproduced = count
	return out, last, nil
}

// comparing bounds the ten runs on the server of the campaign, which are for
// information: a case that waits for a lock time-out takes seconds.
const comparing = 5 * time.Second

// again runs a case ten times more and returns how often the fingerprint showed,
// and the last run that had it.
func again(ctx context.Context, judge target.JudgeFunc, r *target.Trial) (Rate, *target.Trial) {
	count, last := Rate(0), r
	for range reruns {
		if ctx.Err() != nil {
			break
		}
		t := judge(ctx, r.Case, r.Levels)
		if t.Verdict.Fingerprint == r.Verdict.Fingerprint {
			count++
			last = &t
		}
	}
	return count, last
}

// smaller is what a reduction came to.
type smaller struct {
	// trial is of a smaller case with the same fingerprint, nil: there is none. rates tell how surely that one shows.
	trial *target.Trial
	rates rates
	// at is where it shows, if that is simpler than the target of the Keeper; nil: it is not.
	at *Place
	// cut says that the time was up before the reducer was through.
	cut bool
}

// reductionOf keeps what people are told of a reduction.
func reductionOf(r *reduce.Result) *timeline.Reduction {
	out := &timeline.Reduction{
		LinesBefore: r.Before.Statements, LinesAfter: r.After.Statements,
		CharactersBefore: r.CharactersBefore, CharactersAfter: r.CharactersAfter, Attempts: r.Attempts, Minimal: r.Minimal,
	}
	for _, s := range r.Trace {
		if s.Kept && s.Attempt > 1 {
			out.Path = append(out.Path, timeline.Reduced{Attempt: s.Attempt, Layer: s.Layer, Operation: s.Arm, Lines: s.Size.Statements, Characters: s.Characters})
		}
	}
	return out
}

// repeatsFor is how often a candidate runs before it counts as free of a bug that
// showed in k of ten runs: often enough that at most one in twenty is rejected
// wrongly.
func repeatsFor(k Rate) int {
	switch {
	case k >= 10:
		return 1
	case k >= 8:
		return 2
	case k >= 6:
		return 4
	case k >= 4:
		return 6
	case k >= 2:
		return 14
	}
	return 30
}
