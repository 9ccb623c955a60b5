package races

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Settings says what a search does.
type Settings struct {
	Target string
	// Levels to choose from; empty: all that the target has but READ UNCOMMITTED, which promises
	// nothing that a hold could break.
	Levels []corpus.Level
	// Given are cases to search, each for as long as it takes; none: cases are made.
	Given []*corpus.Case
	// Cases and Duration end the search, whichever is reached first; 0: no bound.
	Cases    int
	Duration time.Duration
	// Seed decides which cases are made.
	Seed uint64
	// Out is the folder of findings.
	Out      string
	Baseline string
	// Reduce bounds the reduction of one finding; 0: findings stay as found.
	Reduce time.Duration
	// State is a file that a search is gone on with from, and that is kept up to date; empty: none.
	State string
	// Progress receives lines for people, one every Every; nil: none.
	Progress io.Writer
	Every    time.Duration
	// Live, if not nil, is called about every second with the report so far.
	Live func(*Report)
	// Observe, if not nil, is called with each outcome that was judged.
	Observe func(*target.Trial)

	_ struct{}
}

// run is one search.
type run struct {
	s      Settings
	target *target.Target
	keeper *findings.Keeper
	memory memory
	trails map[string]harness.Trail // by shape
	kept   map[string]*insides      // by shape
	// entries are the beginnings of functions that are known by name.
	entries []*corpus.Hold
	// recording is the time that went into them.
	recording time.Duration
	count     count
	next      int // number of the next case
	begun     time.Time
	shown     time.Time     // when Live was called last
	before    time.Duration // spent by the searches that this one goes on with
}

// count is what a search has done.
type count struct {
	cases, recorded, holds, missed, outcomes, wrongUnheld int

	verdicts map[oracle.Outcome]int
	reasons  map[string]int
}

// mostTrails bounds the recordings that are kept; each takes up to 5 MB.
const mostTrails = 64

// caseDeadline bounds a case whose statement is recorded step by step, at a thousandth of its speed.
const caseDeadline = 60 * time.Second

// Run searches until a bound is reached or the context ends. The Report is complete as far as the
// search came, also if an error comes with it.
func Run(ctx context.Context, s Settings) (*Report, error) {
	r := &run{s: s, memory: memory{}, trails: map[string]harness.Trail{}, kept: map[string]*insides{}, begun: time.Now()}
	r.count.verdicts, r.count.reasons = map[oracle.Outcome]int{}, map[string]int{}
	if err := r.resume(); err != nil {
		return nil, err
	}
	baseline, err := findings.LoadBaseline(s.Baseline)
	if err != nil {
		return nil, err
	}
	store, warning := findings.OpenStore(s.Out)
	if warning != nil {
		r.logf("warning: findings of earlier runs: %v", warning)
	}
	t, err := target.Open(ctx, s.Target, target.Options{Workers: 1, Deadline: caseDeadline, Silence: caseDeadline, Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	r.target, r.begun = t, time.Now()
	r.keeper = findings.NewKeeper(t, store)
	r.keeper.Baseline, r.keeper.ReduceFor, r.keeper.Logf = baseline, s.Reduce, r.logf
	levels, err := r.levels()
	if err == nil {
		r.entries, err = t.CanHold(ctx, entries[t.Server().DBMS])
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	err = r.cases(ctx, levels)
	if err == nil && r.count.holds+r.count.wrongUnheld == 0 {
		err = ErrNothingHeld
	}
	report := r.report()
	return report, errors.Join(err, r.keepState(), t.Close())
}

// ErrNothingHeld says that a search came to its end before it held a statement: to record one takes seconds.
var ErrNothingHeld = errors.New("not one statement was held: the time was up before one had been recorded")

func (r *run) levels() ([]corpus.Level, error) {
	levels, err := target.Offered(r.target, r.s.Levels)
	if err == nil && len(r.s.Levels) == 0 {
		levels = slices.DeleteFunc(slices.Clone(levels), func(l corpus.Level) bool { return l == corpus.ReadUncommitted })
	}
	return levels, err
}

// mostFaults is how many cases in a row may break down before the search gives up.
const mostFaults = 5

func (r *run) cases(ctx context.Context, levels []corpus.Level) error {
	if r.s.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.s.Duration)
		defer cancel()
	}
	var given []*raced
	for _, c := range r.s.Given {
		given = append(given, heldOf(c, levels)...)
	}
	told, faults := time.Now(), 0
	for ; ctx.Err() == nil && (r.s.Cases == 0 || r.next < r.s.Cases) && (given == nil || r.next < len(given)); r.next++ {
		var c *raced
		var err error
		if given != nil {
			c = given[r.next]
			clear(r.trails) // each is searched by a recording of its own
		} else if c, err = makeCase(r.target.Server().DBMS, r.s.Seed, r.next, levels); err != nil {
			return err
		}
		if c == nil {
			continue
		}
		if len(r.trails) >= mostTrails {
			clear(r.trails)
		}
		s := &search{
			run: r, r: c, levels: target.LevelsFor(c.c, c.level), shape: c.shapeOf(),
			random: rand.New(rand.NewPCG(r.s.Seed, ^uint64(r.next))), seen: map[string]bool{}, at: map[int]string{},
			coarse: coarse, most: mostHolds, ofRequests: r.target.Server().DBMS == history.TiDB,
		}
		if given != nil {
			s.given, s.coarse, s.most = true, coarseGiven, mostHoldsGiven
		}
		err = s.one(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			faults = 0
		case given != nil:
			return err
		default:
			r.logf("case %d broke down: %v", r.next, err)
			if faults++; faults >= mostFaults {
				return fmt.Errorf("%d cases in a row broke down, the last: %w", faults, err)
			}
		}
		r.count.cases++
		if err := r.keepState(); err != nil {
			return err
		}
		if r.s.Every > 0 && time.Since(told) >= r.s.Every {
			told = time.Now()
			r.logf("%s", r.report().line())
		}
	}
	return nil
}

// live hands on the report so far.
func (r *run) live() {
	if r.s.Live != nil && time.Since(r.shown) >= time.Second {
		r.shown = time.Now()
		r.s.Live(r.report())
	}
}

// keep saves a violation, confirms and reduces it.
func (r *run) keep(ctx context.Context, t *target.Trial) error {
	if t.Dead != nil {
		return t.Dead
	}
	from := findings.Origin{Input: fmt.Sprintf("races seed %d case %d", r.s.Seed, r.next), FirstSeen: time.Now().UTC().Format(time.RFC3339)}
	_, _, err := r.keeper.Consider(ctx, t, from)
	return err
}

func (r *run) logf(format string, args ...any) {
	if r.s.Progress != nil {
		fmt.Fprintf(r.s.Progress, format+"\n", args...)
	}
}

// state is the file that a search is gone on with from.
type state struct {
	Target string  `json:"target"`
	Seed   uint64  `json:"seed"`
	Next   int     `json:"next_case"`
	Hours  float64 `json:"hours"`
	Memory memory  `json:"places"`
}

// StateError says that a file of Settings.State is none, or one of another search.
type StateError struct{ File, Why string }

func (e *StateError) Error() string { return e.File + ": " + e.Why }

func (r *run) resume() error {
	if r.s.State == "" {
		return nil
	}
	text, err := os.ReadFile(r.s.State)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("go on with a search: %w", err)
	}
	var st state
	if err := json.Unmarshal(text, &st); err != nil {
		return &StateError{r.s.State, "no state of a search for races: " + err.Error()}
	}
	if st.Target != target.Redact(r.s.Target) {
		return &StateError{r.s.State, fmt.Sprintf("it is of a search on %s, and this is one on %s", st.Target, target.Redact(r.s.Target))}
	}
	r.s.Seed, r.next, r.before = st.Seed, st.Next, time.Duration(st.Hours*float64(time.Hour))
	if st.Memory != nil {
		r.memory = st.Memory
	}
	return nil
}

func (r *run) keepState() error {
	if r.s.State == "" {
		return nil
	}
	st := state{target.Redact(r.s.Target), r.s.Seed, r.next, (r.before + time.Since(r.begun)).Hours(), r.memory}
	text, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return fmt.Errorf("keep the state of a search: %w", err)
	}
	if err := wholefile.Write(r.s.State, append(text, '\n')); err != nil {
		return fmt.Errorf("keep the state of a search: %w", err)
	}
	return nil
}
