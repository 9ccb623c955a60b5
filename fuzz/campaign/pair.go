package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/signal"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// A worker of native fuzzing panics when one input takes ten seconds: pairTotal
// is for all that an input causes, pairCase for one case of it, pairReduce for
// the reduction of a new finding.
const (
	pairTotal  = 8 * time.Second
	pairCase   = 3 * time.Second
	pairReduce = 4 * time.Second
)

// MaxInput is the length beyond which the bytes of an input are ignored.
const MaxInput = mutate.WideLen

// Pair runs fuzz inputs on one target: an input becomes cases of two to four
// transactions, which are run and judged. Native fuzzing and libFuzzer share
// it. It is for one goroutine.
type Pair struct {
	s      Settings
	target *target.Target
	levels []corpus.Level
	known  []*corpus.Case
	// seeds are the inputs that are stored cases.
	seeds     map[string]bool
	keeper    *findings.Keeper
	tally     pairTally
	sightings *sightings
}

// FoundError says that an input shows something that was not known before.
type FoundError struct {
	Finding findings.Finding
	Target  string
}

func (e *FoundError) Error() string {
	f := &e.Finding
	what := string(f.Kind)
	if f.Verdict == oracle.Known {
		what = fmt.Sprintf("known deviation %v", f.Rules)
	}
	return fmt.Sprintf("%s at %s\n  expected: %s\n  actual:   %s\n  because:  %s\n  saved:    %s\n  replay:   go run ./cmd/txnfuzz replay %s %s",
		what, f.Level, f.Expected, f.Actual, f.Reason, f.File, f.File, target.OnCommandLine(e.Target))
}

// OpenPair opens the target of the settings. Settings.Cases, Duration, Workers
// and Seed are not used.
func OpenPair(ctx context.Context, s Settings) (*Pair, error) {
	p := &Pair{s: s, tally: pairTally{counts: newCounts(), begun: time.Now()}}
	var err error
	if p.known, err = LoadKnown(s.Known); err != nil {
		return nil, err
	}
	p.seeds = map[string]bool{}
	for _, seed := range PairSeeds(p.known)[OwnSeeds:] {
		p.seeds[string(seed)] = true
	}
	store, err := findings.OpenStore(s.Out)
	if err != nil {
		return nil, err
	}
	p.target, err = target.Open(ctx, s.Target, target.Options{
		Workers: 1, InFlight: InFlightDir(s.Out, s.Target), Deadline: pairCase, Progress: s.Progress,
	})
	if err != nil {
		return nil, err
	}
	if p.levels, err = target.Offered(p.target, s.Levels); err != nil {
		return nil, errors.Join(err, p.target.Close())
	}
	if p.sightings, err = openSightings(s.Firsts); err != nil {
		return nil, errors.Join(err, p.target.Close())
	}
	p.keeper = findings.NewKeeper(p.target, store)
	p.keeper.Strict, p.keeper.ReduceFor = s.Strict, pairReduce
	return p, nil
}

// Close ends the target, and writes the tally where the settings ask for it.
func (p *Pair) Close() error {
	// The tally first: an engine kills a worker that takes a second to end.
	var err error
	if p.s.Tally != "" && p.tally.report.Executions > 0 {
		err = p.tally.appendTo(p.s.Tally, p.target.Name)
	}
	return errors.Join(err, p.sightings.close(), p.target.Close())
}

// Run runs the cases of an input. A *FoundError says that one shows something
// new: what the folder of findings held when the Pair was opened is not new,
// unless the settings are strict; a deviation of a stored case never is. The same input gives the same error again,
// so that engines can minimise it. Other errors are faults of the harness or
// the oracle.
func (p *Pair) Run(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, pairTotal)
	defer cancel()
	begun := time.Now()
	var trials []target.Trial
	defer func() { p.tally.execution(trials) }()
	data = mutate.Cut(data)
	for i, c := range PairCases(data, p.known, p.Options()) {
		if i > 0 && time.Since(begun) > pairTotal-2*pairCase {
			break
		}
		n := p.tally.report.Executions
		r := p.target.JudgeAs(ctx, c, levelsWithin(c, p.levels, 0), counts(n), !graphs(n))
		trials = append(trials, r)
		signal.Hit(signal.Of(r.Case, r.History, &r.Verdict))
		if err := p.sightings.add(&r); err != nil {
			return err
		}
		if r.Dead != nil {
			return r.Dead
		}
		if v := &r.Verdict; v.Outcome == oracle.Unknown && v.Reason == target.ReasonPanic {
			return r.Err
		}
		if p.seeds[string(data)] && r.Verdict.Outcome == oracle.Known {
			continue // stored because of it; to reduce each again would take a minute
		}
		from := findings.Origin{Input: inputText(data, i), FirstSeen: time.Now().UTC().Format(time.RFC3339)}
		f, _, err := p.keeper.Consider(ctx, &r, from)
		if err != nil {
			return err
		}
		if f != nil && (p.s.Strict || !p.keeper.Store.Has(f.ID)) {
			return &FoundError{*f, p.target.Name}
		}
	}
	return nil
}

// Options are those that make the cases of an input.
func (p *Pair) Options() mutate.Options { return pairOptions(p.target.Server(), p.levels) }

func pairOptions(server history.Server, levels []corpus.Level) mutate.Options {
	o := generatorOptions(server, levels, mutate.Mix, 0)
	o.Tables = 2
	return o
}

// PairCases decodes an input, as Pair does.
func PairCases(data []byte, known []*corpus.Case, o mutate.Options) []*corpus.Case {
	return Sayable(o.DBMS, mutate.FromInput(mutate.Cut(data), known, o))
}

// OwnSeeds is how many of the PairSeeds are not made of stored cases: the simplest
// input, and random ones, of which the last ask for three and four transactions.
const (
	OwnSeeds  = 1 + twoSeeds + wideSeeds
	twoSeeds  = 12
	wideSeeds = 4
)

// PairSeeds returns inputs to start from: OwnSeeds, and one for each stored case.
func PairSeeds(known []*corpus.Case) [][]byte {
	seeds := [][]byte{{}}
	for i := range twoSeeds {
		seeds = append(seeds, mutate.InputOf(inputSeed(0, 0, i), mutate.InputLen))
	}
	for i := range wideSeeds {
		seeds = append(seeds, mutate.WideInput(inputSeed(0, 0, twoSeeds+i), 3+i%2))
	}
	for i := range known {
		seeds = append(seeds, mutate.StoredInput(i, len(known)))
	}
	return seeds
}
