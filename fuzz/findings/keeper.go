package findings

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// Keeper takes what is wrong from a run to a reduced file: it saves at once,
// runs again to see how surely it shows, reduces, and replaces the file. It
// does so once for each fingerprint. It is safe for several goroutines.
type Keeper struct {
	// At is what the cases run on.
	At Place
	// Judge runs a case on the server of the campaign, whose tables are refilled.
	Judge target.JudgeFunc
	// Fresh is where findings are confirmed; nil: Judge runs each case on an
	// instance of its own.
	Fresh *target.FreshServers
	// Bench is where reductions run; nil: Judge.
	Bench *target.Bench
	// Shrinks lets a target of several servers be reduced, too.
	Shrinks bool
	open    groundOpener // of simpler ones
	runs    opener       // of those with fewer options
	// Store is where findings are kept.
	Store *Store
	// Strict makes known deviations findings, too.
	Strict bool
	// Baseline covers what is no finding; nil: nothing.
	Baseline *Baseline
	// Again lets later cases of a finding be reduced, too.
	Again bool
	// levels are those at which a reduced case is tried, too.
	levels []corpus.Level
	// ReduceFor bounds one reduction.
	ReduceFor time.Duration
	begun     time.Time
	// Logf receives lines for people.
	Logf func(format string, args ...any)
	// later does what is to be done of a finding once it is saved, beside the
	// campaign; nil: it is done at once.
	later *pending
	// ConfirmsNow says that a finding is run again before its case is done with, and
	// counts only if it shows.
	ConfirmsNow bool
	// Least is in how many of ten more runs a finding must show to stay one; 0: in one.
	Least Rate

	mu    sync.Mutex
	byID  map[string]*Finding
	order []*Finding

	// quiet is held for reading by every run, and for writing while a crash is
	// looked into on the same server, which it kills again and again.
	quiet sync.RWMutex
}

// NewKeeper is for the cases that run on a target. What it finds it confirms in new databases
// there, at once, and reduces for a minute at most; its fields say otherwise.
func NewKeeper(t *target.Target, s *Store) *Keeper {
	return &Keeper{
		At: Place{Target: t.Name, Server: t.Server()}, Judge: t.Judge, Fresh: target.FreshDatabases(t), Store: s, levels: t.Levels(), ReduceFor: time.Minute, begun: time.Now(),
		open: openGround, runs: openForRuns, Logf: func(string, ...any) {}, byID: map[string]*Finding{},
	}
}

// ForOrphans is NewKeeper for cases whose process died, which are judged each in a process of its
// own.
func ForOrphans(s *Store, judge target.JudgeFunc) *Keeper {
	return &Keeper{Store: s, Judge: judge, begun: time.Now(), byID: map[string]*Finding{}, Logf: func(string, ...any) {}}
}

// Defer has what is to be done of saved findings wait for WorkOff.
func (k *Keeper) Defer() { k.later = newPending() }

// WorkOff does what waits until NoMore was called and nothing is left, or the context
// ends. An error is that of a finding that could not be written.
func (k *Keeper) WorkOff(ctx context.Context) error { return k.later.run(ctx, k.work) }

// NoMore says that the last case has run.
func (k *Keeper) NoMore() { k.later.noMore() }

// Waiting returns how many findings are being confirmed or reduced, and how many wait for
// that.
func (k *Keeper) Waiting() (doing, waiting int) { return k.later.counts() }

// Jobs returns what is being done of findings, and what waits.
func (k *Keeper) Jobs() []Job { return k.later.list() }

// Hold keeps a crash from being looked into until what it returns is called.
func (k *Keeper) Hold() (release func()) {
	k.quiet.RLock()
	return k.quiet.RUnlock
}

// wrong says that a run is one to keep: a violation or, where asked for, a
// known deviation.
func (k *Keeper) wrong(v *oracle.Verdict) bool {
	return v.Outcome == oracle.Violation || k.Strict && v.Outcome == oracle.Known
}

// Consider looks at a run. It returns nil if there is nothing to keep. first is true
// only for the first run with a fingerprint; the finding has then been saved and,
// unless that is left for later, confirmed and reduced. An error means that a
// finding could not be written.
func (k *Keeper) Consider(ctx context.Context, r *target.Trial, from Origin) (f *Finding, first bool, err error) {
	switch {
	case !k.wrong(&r.Verdict) || k.Baseline.covers(r.Verdict.Fingerprint):
		return nil, false, nil
	case r.Verdict.Causes() != nil:
		return k.considerCombined(ctx, r, from)
	}
	suffix := ""
	if r.Verdict.Kind == oracle.ServerCrash {
		// Which of the cases that ran when the server died did it is not known, so
		// each is saved under a name of its own.
		suffix = "-" + corpus.ID(r.Case)[:6]
	}
	if f, first = k.claim(r, suffix); !first {
		return f, false, k.improve(ctx, f, r, from)
	}
	return f, true, k.keep(ctx, f, r, from)
}

// claim counts a run in the finding it belongs to, or makes a new one.
// suffix tells findings of one fingerprint apart.
func (k *Keeper) claim(r *target.Trial, suffix string) (*Finding, bool) {
	level := target.LevelName(r.Levels)
	v := &r.Verdict
	id := findingID(k.At.Server, levelOf(r), v) + suffix
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.byID[id]; f != nil {
		f.Seen++
		return f, false
	}
	f := &Finding{
		ID: id, Fingerprint: v.Fingerprint, Verdict: v.Outcome, Kind: v.Kind, Level: level, Rules: v.Rules,
		FirstSeen: time.Since(k.begun).Seconds(), Seen: 1, rates: rates{Unconfirmed, Unconfirmed},
		Expected: v.Expected, Actual: v.Actual, Reason: v.Reason, Anomaly: []oracle.Anomaly{}, Statements: len(r.Case.Steps),
		Step: target.StepNumber(r.History, v.Stmt), New: !k.Store.knows(id, k.At.Server.DBMS, v.Fingerprint),
	}
	k.byID[id] = f
	k.order = append(k.order, f)
	return f, true
}

// levelOf names the level of the session whose statement differs, which is
// what a fingerprint speaks of. What a replica does with a change does not depend on the level of who made it.
func levelOf(r *target.Trial) string {
	if r.Verdict.Kind.OfReplica() {
		return "any"
	}
	if v := &r.Verdict; r.History != nil && v.Stmt >= 0 && v.Stmt < len(r.History.Stmts) {
		return r.Levels[r.History.Stmts[v.Stmt].Session].Short()
	}
	return target.LevelName(r.Levels)
}

// keep saves a finding and has it confirmed and reduced. The context ends that
// early; what is saved then stays.
func (k *Keeper) keep(ctx context.Context, f *Finding, r *target.Trial, from Origin) error {
	if err := k.write(f, r, from); err != nil {
		return err
	}
	k.Logf("found %s: expected %s, got %s: %s", f.ID, Short(f.Expected), Short(f.Actual), f.File)
	return k.do(ctx, job{f, r, from, toConfirm})
}

// sightings are the numbers of runs with the same finding at which it is reduced
// once more, from the new case: that may lead to a smaller one. They are few, since
// each costs a reduction.
var sightings = []int{2, 4, 8}

// improve has another case of a finding reduced.
func (k *Keeper) improve(ctx context.Context, f *Finding, r *target.Trial, from Origin) error {
	k.mu.Lock()
	due := k.Again && f.Reproduced > 0 && !namedByPeople(f.File) && slices.Contains(sightings, f.Seen)
	k.mu.Unlock()
	if !due || r.Verdict.Kind == oracle.ServerCrash {
		return nil
	}
	return k.do(ctx, job{f, r, from, toImprove})
}

// do does a job now or later.
func (k *Keeper) do(ctx context.Context, j job) error {
	if k.later != nil && !(k.ConfirmsNow && j.what == toConfirm) {
		k.later.add(j)
		return nil
	}
	return k.work(ctx, j)
}

// work does a job.
func (k *Keeper) work(ctx context.Context, j job) error {
	switch j.what {
	case toReduce:
		if j.r.Verdict.Causes() != nil {
			return k.separated(ctx, j)
		}
		return k.reduced(ctx, j)
	case toImprove:
		return k.improved(ctx, j)
	}
	return k.confirmed(ctx, j)
}

// write saves a run as the file of a finding, unless an earlier campaign left
// a file that is as good.
func (k *Keeper) write(f *Finding, r *target.Trial, from Origin) error {
	k.mu.Lock()
	rates, cut, at := f.rates, f.CutShort, k.placeOf(f.at)
	k.mu.Unlock()
	c := describe(at, r, from, rates)
	switch {
	case rates.Reproduced == Unconfirmed:
		c.Set(keyConfirm, k.Store.commandFor(f.ID, at))
	case cut && k.At.Against == nil:
		c.Set(keyReduce, k.Store.commandFor(f.ID, at))
	}
	path, kept := k.Store.keeps(f, c, k.At.Server)
	if !kept {
		var err error
		if path, err = k.Store.save(f.ID, c, at.Target, r); err != nil {
			k.Logf("%s could not be saved; this is its case:\n%s", f.ID, corpus.Print(c, corpus.Text))
			return fmt.Errorf("save finding: %w", err)
		}
	}
	anomalies := r.Anomalies()
	k.set(func() {
		f.File, f.Saved, f.size = path, f.Saved || !kept, sizeOf(c)
		f.Statements, f.Level, f.Step = len(c.Steps), target.LevelName(r.Levels), target.StepNumber(r.History, r.Verdict.Stmt)
		f.Expected, f.Actual, f.Reason, f.Anomaly = r.Verdict.Expected, r.Verdict.Actual, r.Verdict.Reason, anomalies
	})
	return nil
}

// placeOf is where a finding shows: nil stands for the Keeper's own place.
func (k *Keeper) placeOf(at *Place) Place {
	if at == nil {
		return k.At
	}
	return *at
}

func (k *Keeper) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

// Forget takes back a finding that did not show again: the next case of it is looked at
// anew.
func (k *Keeper) Forget(f *Finding) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, f.ID)
	k.order = slices.DeleteFunc(k.order, func(o *Finding) bool { return o == f })
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

// Short cuts a value for a line of progress.
func Short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
