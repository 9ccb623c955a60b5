package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// Range is of numbers, both ends included.
type Range struct{ Min, Max int }

// Settings says what a campaign does.
type Settings struct {
	Target string
	// Against is another target that runs each case, too, and is compared; empty: none.
	Against string
	// Cases and Duration end the campaign, whichever is reached first; 0: no
	// bound.
	Cases    int
	Duration time.Duration
	// Levels to choose from; empty: all that the target knows.
	Levels []corpus.Level
	// Conflict is how statements are made to conflict. Under mutate.Pattern a fresh input
	// aims at a pattern that was not seen yet.
	Conflict mutate.Conflict
	// Unique makes every written value unique, so that who read from whom is read off the
	// answers, too: see packages mutate/unique and oracle/answers.
	Unique bool
	// Solver says who computes what statements answer.
	Solver judging.Solver
	// SQL says how often cases have SQL that only the server can compute.
	SQL Breadth
	// Ends says how often sessions are killed, disconnected and connected anew. It has no effect
	// together with Unique.
	Ends Share
	// Constraints says how often tables have foreign keys, triggers and the like. It has no effect
	// together with Unique.
	Constraints Share
	// Transactions is the range of how many a case has, within 2 and mutate.MaxTx, all
	// equally often; the zero value: two, and in one case of eight three or four.
	Transactions Range
	// Workers is how many cases run at a time; 0: one.
	Workers int
	// Seed and Workers decide which cases are made, and, without a Corpus and
	// patterns to aim at, nothing else does.
	Seed uint64
	// Known is a folder of stored cases that new ones are made of; see LoadKnown.
	Known string
	// Schema is a file with tables on which all cases are made, in place of random ones and of stored cases; see LoadSchema.
	// Empty: none.
	Schema string
	// Protocol is how the statements of the cases are sent; where it is mixed, each case has a seed of its own.
	Protocol protocol.Protocol
	// Corpus is a folder in which a campaign keeps inputs that show rare
	// behaviour, to make new ones of; empty: every input is made afresh.
	Corpus string
	// Resume goes on with the campaign of Corpus where it ended or was killed:
	// with its seed and workers; Cases and Duration bound the whole.
	Resume bool
	// Out is the folder of findings.
	Out    string
	Strict bool
	// Tally is a file to which each process of native fuzzing appends a
	// PairReport as it ends; empty: none.
	Tally string
	// Firsts is a file to which each process appends FirstSeen lines; empty:
	// none.
	Firsts string
	// GoOn makes native fuzzing save a finding and go on; the engine stops at
	// the first input that fails.
	GoOn bool
	// Blind makes a campaign keep inputs, and choose among those it keeps, without
	// looking at what they showed. The signal is compared with such campaigns.
	Blind bool
	// Baseline is a file for LoadBaseline; empty: none.
	Baseline string
	// Reduce bounds the reduction of one finding; 0: findings stay as found.
	Reduce time.Duration
	// Progress receives lines for people, one every Every; nil: none.
	Progress io.Writer `json:"-"`
	Every    time.Duration
	// Area makes them lines for a terminal: each begins with AreaMark.
	Area bool
	// Phases adds to those lines what a run takes, phase by phase.
	Phases bool
	// Observe, if not nil, is called with each judged case and the text of the
	// header line that says how it was made, by several workers at once.
	Observe func(r *target.Trial, input string) `json:"-"`
	// Live, if not nil, is called every second with the report so far, which nobody changes any more.
	Live func(*Report) `json:"-"`
	// keepReport, if not nil, is given the report so far every now and then.
	keepReport func(*Report) error

	_ struct{}
}

// maxFaults is how many cases in a row may break down in the harness before
// the campaign gives up: then it is the server, not a case.
const maxFaults = 20

// ErrNothingJudged says that a campaign came to its end without one verdict.
var ErrNothingJudged = errors.New("not one case got a verdict")

// campaign is one run of the loop.
type campaign struct {
	s      Settings
	target *target.Target
	others []*target.Target // of the workers behind the first; none: they share target
	levels []corpus.Level
	known  []*corpus.Case
	schema *mutate.Schema // nil: tables are random
	keeper *findings.Keeper
	tally  *tally
	asked  time.Time // when the campaign was asked for
	begun  time.Time // when its server was there
	guide  *guide    // nil: every input is made afresh
	// patterns is nil where inputs aim at none.
	patterns  *patterns
	sightings *sightings
	state     *campaignState
	next      []atomic.Int64 // of each worker, the first input that was not run
	litters   []litter       // of each worker
	doing     []atomic.Pointer[flown]
	faults    atomic.Int64
	broken    sync.Map // messages of defects of this program
	sampled   sampler
	second    second
	beside    beside
	recorded  recorder
	versus    *versus // nil: nothing is compared
	stop      context.CancelCauseFunc
}

// RunHere runs cases, in this process, until a bound is reached or the context ends. The latter is no
// error unless no case has been judged by then. Findings are saved as they are seen,
// and confirmed and reduced beside the cases; what is not done when the time is up,
// or the context ends, stays as it was saved. The Report is complete as far as the
// campaign came, also if an error comes with it, which says that the harness or the
// server failed.
func RunHere(ctx context.Context, s Settings) (*Report, error) {
	s.Workers = max(s.Workers, 1)
	if s.Cases > 0 {
		s.Workers = min(s.Workers, s.Cases)
	}
	c := &campaign{tally: newTally(), asked: time.Now()}
	var err error
	var told []string
	if c.schema, told, err = LoadSchema(s.Schema); err != nil {
		return nil, err
	}
	for _, line := range told {
		s.logf("%s", line)
	}
	if c.schema != nil {
		s.Constraints = None // which have tables of their own
	} else if c.known, err = LoadKnown(s.Known); err != nil {
		return nil, err
	}
	if builtIn(s.Known) && c.schema == nil {
		s.logf("no folder %s here: new cases are made of the %d that this program was built with", s.Known, len(c.known))
	}
	baseline, err := findings.LoadBaseline(s.Baseline)
	if err != nil {
		return nil, err
	}
	store, warning := findings.OpenStore(s.Out)
	if warning != nil && s.Progress != nil {
		fmt.Fprintf(s.Progress, "warning: findings of earlier runs: %v\n", warning)
	}
	inflight := InFlightDir(s.Out, s.Target)
	options := target.Options{
		Workers: s.Workers, Ahead: ahead(s.Target, s.Workers), InFlight: inflight, Progress: s.Progress,
		Clean: s.Against != "", Solver: s.Solver,
	}
	t, err := target.Open(ctx, s.Target, options)
	if err != nil {
		return nil, err
	}
	t.GivesUpWith(ctx)
	defer collectLess(t.Name)()
	if s.Constraints == SomeConstraints && t.Server().DBMS == history.TiDB {
		s.Constraints = None // to make their tables takes it longest, and it has no triggers
	}
	c.s, c.target = s, t
	if err := c.fitSchema(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if err := c.openOthers(ctx, options); err != nil {
		return nil, errors.Join(err, c.closeOthers(), t.Close())
	}
	c.begun = time.Now()
	s.warnOfProtocol(t.Server())
	if c.levels, err = target.Offered(t, s.Levels); err != nil {
		return nil, errors.Join(err, c.closeOthers(), t.Close())
	}
	if err := c.begin(store); err != nil {
		return nil, errors.Join(err, c.closeOthers(), t.Close())
	}
	if c.sightings, err = openSightings(s.Firsts); err != nil {
		return nil, errors.Join(err, c.closeOthers(), t.Close())
	}
	if c.versus, err = openVersus(ctx, s, t, store, baseline); err != nil {
		return nil, errors.Join(err, c.closeOthers(), t.Close())
	}
	if c.levels, err = c.versus.offered(c.levels, len(s.Levels) > 0); err != nil {
		return nil, errors.Join(err, c.versus.close(), c.closeOthers(), t.Close())
	}
	if s.Conflict == mutate.Pattern {
		c.patterns = newPatterns(c.levels)
		if c.state != nil && c.state.base != nil {
			c.patterns.remember(c.state.base.Patterns)
		}
	}
	c.keeper = findings.NewKeeper(t, store)
	c.keeper.Strict, c.keeper.Baseline, c.keeper.ReduceFor, c.keeper.Again = s.Strict, baseline, s.Reduce, s.Reduce > 0
	c.keeper.Fresh, c.keeper.Bench, c.keeper.Shrinks = target.FreshOf(s.Target), benchOf(s), true
	c.keeper.Defer()
	if s.Progress != nil {
		lines := &lineWriter{w: s.Progress}
		c.s.Progress = lines
		c.keeper.Logf = func(format string, args ...any) { fmt.Fprintf(lines, format+"\n", args...) }
		c.versus.tell(c.keeper.Logf)
	}
	err = c.run(ctx)
	report := c.report()
	err = errors.Join(err, c.keepState(report), c.sightings.close())
	if err == nil && !report.judgedAny() {
		err = ErrNothingJudged
	}
	if err == nil && report.Against.none() {
		err = ErrNothingCompared
	}
	if e := c.close(); e != nil {
		err = errors.Join(err, fmt.Errorf("close target %s: %w", t.Name, e))
	}
	for _, dir := range []string{inflight, reducingDir(s.Out, s.Target)} {
		_ = os.Remove(dir) // stays where it holds the case of another process
	}
	return report, err
}

// gcPercent makes the collector wait for 16 MB. Beside a server of its own this
// process holds a few megabytes, and by default they are collected every 4 MB:
// dozens of times a second, at a seventh of the speed of two workers.
const gcPercent = 400

// collectLess sets gcPercent where the server is not in this process, whose heap
// is large then, and the user has not set another; what it returns sets it back.
func collectLess(on string) func() {
	if on == target.Default || os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(before) }
}

// one judges one case that has run.
func (c *campaign) one(keeping context.Context, r *target.Trial, p *inputPlan, n int, from findings.Origin) error {
	if keeping.Err() != nil {
		return nil
	}
	begun := time.Now()
	r.Counted, r.RulesOnly = counts(n), !c.s.Unique && !graphs(n)
	c.target.Decide(keeping, r)
	charge(&c.beside.judge, begun)
	if keeping.Err() != nil {
		return nil
	}
	c.tally.add(r)
	c.patterns.note(r, p.weaving)
	if err := c.sightings.add(r); err != nil {
		return err
	}
	if c.guide != nil {
		c.explainSome(keeping, r, n)
		if err := c.guide.note(r, p); err != nil {
			return err
		}
	}
	if c.s.Observe != nil {
		c.s.Observe(r, from.Input)
	}
	if err := c.keepUnjudged(r); err != nil {
		return err
	}
	if r.Verdict.Outcome == oracle.Unknown && r.Verdict.Reason == target.ReasonHarness {
		if c.faults.Add(1) >= maxFaults {
			return fmt.Errorf("%d cases in a row broke down, the last: %w", maxFaults, r.Err)
		}
	} else {
		c.faults.Store(0)
	}
	from.FirstSeen = time.Now().UTC().Format(time.RFC3339)
	if _, _, err := c.keeper.Consider(keeping, r, from); err != nil {
		return err
	}
	if err := c.askSome(keeping, r); err != nil {
		return err
	}
	if err := c.secondJudge(keeping, r); err != nil {
		return err
	}
	if c.versus != nil && r.Dead == nil {
		return c.versus.consider(keeping, r, from)
	}
	return r.Dead
}

// keepUnjudged saves the first case for each way in which the oracle or the harness
// breaks down, which is a defect of this program. It also saves the first case for
// each setting that makes a server answer in a way that no rule knows, for each
// statement that oracle and server compute differently, for each deviation that is
// something else by the plans that the server tells, and for each case on which two judges
// disagree.
func (c *campaign) keepUnjudged(r *target.Trial) error {
	v := &r.Verdict
	setting := strings.HasPrefix(v.Reason, judging.ReasonSetting)
	if v.Outcome != oracle.Unknown || v.Reason != target.ReasonPanic && v.Reason != target.ReasonHarness && v.Reason != judging.ReasonSolver && v.Reason != judging.ReasonSilent && v.Reason != judging.ReasonPlan && v.Reason != judging.ReasonJudges && !setting {
		return nil
	}
	key, text := target.Volatile.ReplaceAllString(v.Actual, "#"), v.Actual
	switch {
	case setting:
		key = v.Reason
	case r.Err != nil:
		text = r.Err.Error()
	}
	if _, again := c.broken.LoadOrStore(key, true); again {
		return nil
	}
	with := r.Case.Clone()
	with.SetLevels(r.Levels)
	with.Set(findings.KeySource, findings.OwnSource)
	path, err := c.keeper.Store.SaveUnjudged(with, target.FileWord(v.Reason), text)
	if err != nil {
		return errors.Join(r.Err, err) // a full disk may be the cause of both
	}
	c.s.logf("%s: %s: %s", v.Reason, findings.Short(v.Actual), path)
	return nil
}

// benchOf returns the bench of a campaign. If the server lives in this process, the
// bench is the same server with connections of its own; its candidates are noted as
// in flight, as cases are, since they may take the process down.
func benchOf(s Settings) *target.Bench {
	o := target.Options{Workers: 1, Clean: true}
	if s.Target == target.Default {
		o.InFlight = reducingDir(s.Out, s.Target)
	}
	return &target.Bench{Open: func(ctx context.Context) (*target.Target, error) {
		t, err := target.Open(ctx, s.Target, o)
		if err == nil {
			t.GivesUpWith(ctx)
		}
		return t, err
	}}
}
