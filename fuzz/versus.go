package fuzz

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// versus has the cases of a campaign run on another target, too, and looks into what the
// two do differently. What nothing explains is a finding once it has shown again.
type versus struct {
	target, other *Target
	keeper        *Keeper
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
func openVersus(ctx context.Context, s Settings, t *Target, store *Store, baseline *Baseline) (*versus, error) {
	if s.Against == "" {
		return nil, nil
	}
	other, err := OpenAgainst(ctx, s.Against, TargetOptions{Workers: s.Workers, Ahead: ahead(s.Against, 2*s.Workers), Progress: s.Progress, Clean: true})
	if err != nil {
		return nil, err
	}
	v := &versus{target: t, other: other, patient: ctx}
	v.tally.begin(other)
	v.keeper = newKeeper(t, store)
	k := v.keeper
	k.at.against = &place{target: other.Name, server: other.Server()}
	k.judge = v.judge
	k.fresh = freshPair(s.Target, s.Against)
	k.baseline, k.reduceFor, k.confirmsNow = baseline, s.Reduce, true
	k.Defer()
	k.least = differsAlways
	return v, nil
}

// differsAlways is in how many of ten more runs a difference must show to count. A server
// may decide by chance what it does, and two of the same build then differ now and then:
// in nine of ten runs in at most one of 30,000 such cases, which is when each does one
// of two things every other time.
const differsAlways = 9

// looksFirst is how often a difference is run again on the servers of the campaign before
// instances of their own are started for it: what comes by chance mostly ends here.
const looksFirst = 2

// OpenAgainst opens a target that another one is compared with: never the user's own
// build, which is what is looked into.
func OpenAgainst(ctx context.Context, name string, o TargetOptions) (*Target, error) {
	if name == DefaultTarget {
		return nil, &TargetError{fmt.Sprintf("%s cannot be compared against; make it the --target", name)}
	}
	o.Released = true
	t, err := OpenTarget(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("what to compare with: %w", err)
	}
	return t, nil
}

// freshPair returns instances of two targets on which their differences are confirmed.
func freshPair(first, second string) *freshServers {
	open := func(ctx context.Context) (*freshServer, error) {
		a, err := freshOf(first).open(ctx)
		if err != nil {
			return nil, err
		}
		b, err := OpenAgainst(ctx, second, TargetOptions{})
		if err != nil {
			return nil, errors.Join(err, a.close())
		}
		names := [2]string{Redact(first), Redact(second)}
		judge := func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
			return differing(names, both(ctx, c, levels, a.judge, b.JudgeFresh))
		}
		return &freshServer{judge: judge, close: func() error { return errors.Join(a.close(), b.Close()) }}, nil
	}
	return &freshServers{open: open, shared: isDSN(first) || isDSN(second)}
}

// offered returns the levels that both targets have; it is an error if one is missing
// that was asked for.
func (v *versus) offered(levels []corpus.Level, asked bool) ([]corpus.Level, error) {
	if v == nil {
		return levels, nil
	}
	if asked {
		return offered(v.other, levels)
	}
	var out []corpus.Level
	for _, l := range levels {
		if _, err := offered(v.other, []corpus.Level{l}); err == nil {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return nil, &LevelError{v.other.Name, levels[0], v.other.Levels()}
	}
	return out, nil
}

// both runs a case in two ways at the same time.
func both(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level, first, second judgeFunc) Trial {
	done := make(chan Trial, 1)
	twin := c.Clone() // printing a statement may write to its tree
	go func() { done <- second(ctx, twin, levels) }()
	r := first(ctx, c, levels)
	other := <-done
	other.Case = c
	r.Against = &other
	return r
}

// execute runs a case on both targets; neither run is judged yet.
func (v *versus) execute(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return both(ctx, c, levels, v.target.Run, v.other.Run)
}

// judge is a judgeFunc on the servers of the campaign.
func (v *versus) judge(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return differing(v.names(), both(ctx, c, levels, v.target.Judge, v.other.Judge))
}

func (v *versus) names() [2]string { return [2]string{v.target.Name, v.other.Name} }

// consider compares a case that the first target has been judged for.
func (v *versus) consider(ctx context.Context, r *Trial, from origin) error {
	o := r.Against
	judge(ctx, o)
	v.other.makeSure(ctx, o)
	if ctx.Err() != nil {
		return nil
	}
	if broken(r) || broken(o) {
		v.tally.skip()
		if v.faults.Add(1) >= maxFaults {
			return fmt.Errorf("%d cases in a row broke down on %s or %s, the last: %w", maxFaults, v.target.Name, v.other.Name, errors.Join(r.Err, o.Err))
		}
		return o.Dead
	}
	v.faults.Store(0)
	cmp := compared(v.names(), r)
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
func (v *versus) note(d *against.Difference, r *Trial, from origin) error {
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
func (v *versus) unattributed(r *Trial, d *against.Difference, from origin) error {
	v.confirming.Lock()
	defer v.confirming.Unlock()
	shown := *r
	shown.Verdict = verdictOn(v.names(), r, d)
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
	if f.Reproduced != Unconfirmed && f.Reproduced < differsAlways {
		v.keeper.forget(f)
		v.tally.vanished()
		return nil
	}
	v.tally.add(d)
	v.tally.example(d, f.File)
	return nil
}

// dead says that one of the two servers died for good.
func dead(r *Trial) error {
	if r.Against == nil {
		return r.Dead
	}
	return errors.Join(r.Dead, r.Against.Dead)
}

// broken says that a run tells nothing of its server.
func broken(r *Trial) bool {
	switch v := &r.Verdict; v.Reason {
	case ReasonHarness, ReasonPanic, ReasonCutOff, ReasonRefused, reasonLost:
		return v.Outcome == oracle.Unknown
	}
	return false
}

// compared compares a trial with what it is against.
func compared(names [2]string, r *Trial) against.Comparison {
	o := r.Against
	a := &against.Side{Name: names[0], Server: serverOf(r), History: r.History, Verdict: r.Verdict}
	b := &against.Side{Name: names[1], Server: serverOf(o), History: o.History, Verdict: o.Verdict}
	return against.Compare(r.Case, a, b)
}

// differing turns the verdict of a trial into one on the two servers: a violation where
// they differ and nothing explains it.
func differing(names [2]string, r Trial) Trial {
	if broken(&r) || broken(r.Against) {
		r.Verdict = oracle.Verdict{Outcome: oracle.Unknown, Stmt: -1, Reason: ReasonHarness}
		r.Err = errors.Join(r.Err, r.Against.Err)
		return r
	}
	cmp := compared(names, &r)
	if d := cmp.Unattributed(); d != nil {
		r.Verdict = verdictOn(names, &r, d)
		return r
	}
	r.Verdict = oracle.Verdict{Outcome: oracle.OK, Stmt: -1}
	return r
}

const unexplained = "nothing that is known of the two servers explains it"

// verdictOn is the verdict on a difference, in the form of findings.
func verdictOn(names [2]string, r *Trial, d *against.Difference) oracle.Verdict {
	reason := d.Reason
	if reason == "" {
		reason = unexplained
	}
	return oracle.Verdict{
		Outcome: oracle.Violation, Kind: oracle.Kind("differs-" + string(d.Kind)), Stmt: d.Stmt,
		Expected: names[0] + ": " + oneLine(d.First), Actual: names[1] + ": " + oneLine(d.Second), Reason: reason,
		Fingerprint: d.Fingerprint(serverOf(r), serverOf(r.Against)),
	}
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
		v.keeper.logf = logf
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
	return errors.Join(v.other.Close(), v.keeper.fresh.end())
}
