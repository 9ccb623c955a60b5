package fuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/reduce"
)

// Keeper takes what is wrong from a run to a reduced file: it saves at once,
// runs again to see how surely it shows, reduces, and replaces the file. It
// does so once for each fingerprint. It is safe for several goroutines.
type Keeper struct {
	at       place
	judge    func(context.Context, *corpus.Case, map[int]corpus.Level) Trial
	store    *Store
	strict   bool
	baseline *Baseline
	// again lets later cases of a finding be reduced, too.
	again bool
	// levels are those at which a reduced case is tried, too.
	levels []corpus.Level
	// reduceFor bounds one reduction.
	reduceFor time.Duration
	begun     time.Time
	logf      func(format string, args ...any)

	mu    sync.Mutex
	byID  map[string]*Finding
	order []*Finding

	// quiet is held for reading by every run, and for writing while a crash is
	// looked into, which kills the server again and again.
	quiet sync.RWMutex
}

// judgeFunc runs a case and judges it, as Target.Judge does.
type judgeFunc func(context.Context, *corpus.Case, map[int]corpus.Level) Trial

func newKeeper(t *Target, s *Store) *Keeper {
	return &Keeper{
		at: place{t.Name, t.Server()}, judge: t.Judge, store: s, levels: t.Levels(), reduceFor: time.Minute, begun: time.Now(),
		logf: func(string, ...any) {}, byID: map[string]*Finding{},
	}
}

// wrong says that a run is one to keep: a violation or, where asked for, a
// known deviation.
func (k *Keeper) wrong(v *oracle.Verdict) bool {
	return v.Outcome == oracle.Violation || k.strict && v.Outcome == oracle.Known
}

// Consider looks at a run. It returns nil where there is nothing to keep, and
// first only for the run that showed a fingerprint first; then the finding has
// gone all the way. An error means that a finding could not be written.
func (k *Keeper) Consider(ctx context.Context, r *Trial, from origin) (f *Finding, first bool, err error) {
	if !k.wrong(&r.Verdict) || k.baseline.covers(r.Verdict.Fingerprint) {
		return nil, false, nil
	}
	if r.Verdict.Kind == KindCrash {
		return k.considerCrash(ctx, r, from)
	}
	if r.Verdict.Causes() != nil {
		return k.considerJoint(ctx, r, from)
	}
	f, first = k.claim(r, "")
	if !first {
		return f, false, k.improve(ctx, f, r, from)
	}
	return f, true, k.keep(ctx, f, r, from, k.calm())
}

// considerCrash looks into one of the cases that ran when the server died.
// Which of them did it is not known, so each is saved under a name of its own
// and, one after the other, run again.
func (k *Keeper) considerCrash(ctx context.Context, r *Trial, from origin) (*Finding, bool, error) {
	f, first := k.claim(r, "-"+corpus.ID(r.Case)[:6])
	if !first {
		return f, false, nil
	}
	if err := k.write(f, r, from, "not run again yet"); err != nil {
		return f, true, err
	}
	k.quiet.Lock()
	defer k.quiet.Unlock()
	return f, true, k.keep(ctx, f, r, from, k.judge)
}

// claim counts a run in the finding it belongs to, or makes a new one.
// suffix tells findings of one fingerprint apart.
func (k *Keeper) claim(r *Trial, suffix string) (*Finding, bool) {
	level := LevelName(r.Levels)
	v := &r.Verdict
	id := findingID(k.at.server, levelOf(r), v) + suffix
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.byID[id]; f != nil {
		f.Seen++
		return f, false
	}
	f := &Finding{
		ID: id, Fingerprint: v.Fingerprint, Verdict: v.Outcome, Kind: v.Kind, Level: level, Rules: v.Rules,
		FirstSeen: time.Since(k.begun).Seconds(), Seen: 1,
		Expected: v.Expected, Actual: v.Actual, Reason: v.Reason, Statements: len(r.Case.Steps),
		Step: stepNumber(r.History, v.Stmt), New: !k.store.knows(id, k.at.server.DBMS, v.Fingerprint),
	}
	k.byID[id] = f
	k.order = append(k.order, f)
	return f, true
}

// levelOf names the level of the session whose statement differs, which is
// what a fingerprint speaks of.
func levelOf(r *Trial) string {
	if v := &r.Verdict; r.History != nil && v.Stmt >= 0 && v.Stmt < len(r.History.Stmts) {
		return r.Levels[r.History.Stmts[v.Stmt].Session].Short()
	}
	return LevelName(r.Levels)
}

// keep saves a finding, confirms and reduces it. The context ends confirming
// and reducing early; what is saved then stays.
func (k *Keeper) keep(ctx context.Context, f *Finding, r *Trial, from origin, judge judgeFunc) error {
	if err := k.write(f, r, from, "not run again yet"); err != nil {
		return err
	}
	k.logf("found %s: expected %s, got %s: %s", f.ID, short(f.Expected), short(f.Actual), f.File)
	count, last := confirm(ctx, judge, r)
	if ctx.Err() != nil {
		return nil
	}
	k.set(func() { f.Reproduced = count })
	if count == 0 {
		if !f.Saved {
			return nil
		}
		if err := k.write(f, r, from, reproducedText(0)); err != nil {
			return err
		}
		path, err := k.store.setAside(f.ID)
		k.set(func() { f.File = path })
		return err
	}
	if err := k.write(f, last, from, reproducedText(count)); err != nil {
		return err
	}
	if namedByPeople(f.File) {
		return nil
	}
	small, count, err := k.reduce(ctx, judge, last, count)
	if err != nil {
		k.logf("reduce %s: %v", f.ID, err)
	}
	if small == nil {
		return nil
	}
	k.set(func() { f.Reproduced = count })
	return k.write(f, small, from, reproducedText(count))
}

// sightings are those at which a finding is reduced anew: from another case the
// way may lead to a smaller one. Few, since each costs a reduction.
var sightings = []int{2, 4, 8}

// improve reduces another case of a finding and keeps it if it gets smaller than
// the one that is kept.
func (k *Keeper) improve(ctx context.Context, f *Finding, r *Trial, from origin) error {
	k.mu.Lock()
	size, due := f.size, k.again && f.Reproduced > 0 && !namedByPeople(f.File) && slices.Contains(sightings, f.Seen)
	k.mu.Unlock()
	if !due {
		return nil
	}
	judge := k.calm()
	count, last := confirm(ctx, judge, r)
	if count == 0 || ctx.Err() != nil {
		return nil
	}
	small, count, err := k.reduce(ctx, judge, last, count)
	if err != nil {
		k.logf("reduce %s: %v", f.ID, err)
	}
	if small == nil || !sizeOf(small.Case).less(size) {
		return nil
	}
	k.set(func() { f.Reproduced = count })
	return k.write(f, small, from, reproducedText(count))
}

// write saves a run as the file of a finding, unless an earlier campaign left
// a file that is as good.
func (k *Keeper) write(f *Finding, r *Trial, from origin, reproduced string) error {
	c := describe(k.at, r, from, reproduced)
	path, kept := k.store.keeps(f, c, k.at.server)
	if !kept {
		var err error
		if path, err = k.store.save(f.ID, c, k.at.target, r); err != nil {
			return fmt.Errorf("save finding: %w", err)
		}
	}
	k.set(func() {
		f.File, f.Saved, f.size = path, f.Saved || !kept, sizeOf(c)
		f.Statements, f.Level, f.Step = len(c.Steps), LevelName(r.Levels), stepNumber(r.History, r.Verdict.Stmt)
		f.Expected, f.Actual, f.Reason = r.Verdict.Expected, r.Verdict.Actual, r.Verdict.Reason
	})
	return nil
}

func (k *Keeper) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

// confirm runs a case ten times more and returns how often the fingerprint
// showed, and the last run that had it.
func confirm(ctx context.Context, judge judgeFunc, r *Trial) (int, *Trial) {
	count, last := 0, r
	for range reruns {
		again := judge(ctx, r.Case, r.Levels)
		if again.Verdict.Fingerprint == r.Verdict.Fingerprint {
			count++
			last = &again
		}
	}
	return count, last
}

// reduce returns a smaller case with the same fingerprint and how often that
// one reproduces, or nil if there is none.
func (k *Keeper) reduce(ctx context.Context, judge judgeFunc, r *Trial, reproduced int) (*Trial, int, error) {
	if k.reduceFor <= 0 {
		return nil, 0, nil
	}
	limited, cancel := context.WithTimeout(ctx, k.reduceFor)
	defer cancel()
	start := r.Case.Clone()
	start.SetLevels(r.Levels)
	w := &watch{judge: judge, same: func(v oracle.Verdict) bool { return v.Fingerprint == r.Verdict.Fingerprint }}
	res, err := reduce.Reduce(limited, start, reduce.Options{
		Try: w.try, Foresee: w.foresee, Want: r.Verdict, Same: w.same, Repeats: repeatsFor(reproduced), Seed: 1,
	})
	if errors.Is(err, reduce.ErrNotReproduced) || limited.Err() != nil {
		err = nil // what was kept before the end counts
	}
	if err != nil && res.Useful == 0 {
		return nil, 0, err
	}
	if !sizeOf(res.Case).less(sizeOf(start)) {
		return nil, 0, err
	}
	// The last word has a run of the reduced case, not what the reduction
	// remembers of it.
	small := Trial{Case: res.Case, Levels: LevelsFor(res.Case, 0), Verdict: r.Verdict}
	count, last := confirm(ctx, judge, &small)
	if count == 0 {
		return nil, 0, err
	}
	last.Reduction = reductionOf(&res)
	last.Also = alsoAt(limited, judge, last, k.levels)
	last.Defaults = defaultsOf(ctx, openForRuns, k.at.target, last)
	return last, count, err
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

// repeatsFor is how often a candidate runs before it counts as free of a bug
// that showed in k of ten runs: so that one in twenty is missed at most.
func repeatsFor(k int) int {
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

// try judges a case at the levels of its own header, as reduce.Options wants
// it: candidates that cannot be run are rejected, a broken harness ends it.
func try(judge judgeFunc) func(context.Context, *corpus.Case) (oracle.Verdict, error) {
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

// Findings returns copies of what was found, in order of discovery.
func (k *Keeper) Findings() []Finding {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]Finding, len(k.order))
	for i, f := range k.order {
		out[i] = *f
	}
	return out
}

// short cuts a value for a line of progress.
func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
