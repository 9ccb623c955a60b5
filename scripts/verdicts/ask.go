package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

func askCommand(dir *string) *cobra.Command {
	var name, solver, keep string
	var seed uint64
	var cases, workers, examples int
	c := &cobra.Command{
		Use:   "ask",
		Short: "Judge recorded histories anew, and have a server answer what the oracle asks",
		Long: `Judges recorded sets with the oracle at hand. Where that leaves values to the server,
a server like the recorded one is asked; the cases themselves are not run again. What
was said when the set was recorded, and what is said now, is listed where it differs. So
a part of the oracle can go in whose place the server answers: what it judged must still
be judged alike.

With --solver server all that can be asked is; take a small --cases then.

Status 0: no verdict changed; 1: some did; 3: something failed.`,
		Example: `  verdicts ask --seed 9404
  verdicts ask --seed 9401 --solver server --cases 2000
  verdicts ask --seed 9405 --keep changed.jsonl        with the answers, as the oracle's tests read them`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			sets, err := recordedSets(*dir, name, seed)
			if err != nil {
				return err
			}
			a := asking{cases: cases, workers: workers, examples: examples, out: cmd.OutOrStdout(), seen: changes{}}
			if a.solver, err = target.ParseSolver(solver); err != nil {
				return err
			}
			if keep != "" {
				f, err := os.Create(keep)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, f.Close()) }()
				a.keep = json.NewEncoder(f)
			}
			for _, s := range sets {
				if err := a.set(cmd.Context(), s, s.file(*dir)); err != nil {
					return fmt.Errorf("%s: %w", s.file(*dir), err)
				}
			}
			if a.seen.print(a.out, a.examples) > 0 {
				return errChanged
			}
			return nil
		},
	}
	c.Flags().StringVar(&name, "target", "", "the sets of this target only")
	c.Flags().Uint64Var(&seed, "seed", 0, "the sets of this seed only")
	c.Flags().StringVar(&solver, "solver", "both", "who computes values: model, server or both")
	c.Flags().StringVar(&keep, "keep", "", "write the records whose verdict changed, with their answers, as lines of JSON")
	c.Flags().IntVar(&cases, "cases", 0, "so many of each set; 0: all")
	c.Flags().IntVar(&workers, "workers", 2, "histories that are judged at a time")
	c.Flags().IntVar(&examples, "examples", 6, "records named of each change")
	return c
}

// asking is one run of the command.
type asking struct {
	solver                   judging.Solver
	cases, workers, examples int
	out                      io.Writer
	keep                     *json.Encoder

	mu     sync.Mutex // of what follows
	seen   changes
	judged int
	asked  int // of these, histories with answers
	err    error
}

// recordedSets returns the sets of a target and a seed, if they are named, that are recorded.
func recordedSets(dir, name string, seed uint64) ([]set, error) {
	sets, err := parseSets(setsTable)
	if err != nil {
		return nil, err
	}
	sets = slices.DeleteFunc(sets, func(s set) bool {
		_, missing := os.Stat(s.file(dir))
		return missing != nil || name != "" && s.target != name || seed != 0 && s.seed != seed
	})
	if len(sets) == 0 {
		return nil, errors.New("no such set is recorded")
	}
	return sets, nil
}

// eachOn opens a server like that of a set and judges the first records of its file there, all if cases
// is 0, several at a time.
func eachOn(ctx context.Context, s set, file string, cases int, o target.Options, judge func(*target.Target, numbered)) (err error) {
	t, err := target.Open(ctx, s.target, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	queue := make(chan numbered, o.Workers)
	var wg sync.WaitGroup
	for range o.Workers {
		wg.Go(func() {
			for r := range queue {
				judge(t, r)
			}
		})
	}
	err = eachRecord(file, func(n int, r *oracle.Record) error {
		if cases > 0 && n > cases || ctx.Err() != nil {
			return errEnough
		}
		queue <- numbered{n, r}
		return nil
	})
	close(queue)
	wg.Wait()
	return errors.Join(err, ctx.Err())
}

// numbered is a record and its place in its file, from 1.
type numbered struct {
	n int
	r *oracle.Record
}

func (a *asking) set(ctx context.Context, s set, file string) error {
	a.judged, a.asked = 0, 0
	err := eachOn(ctx, s, file, a.cases, target.Options{Workers: a.workers, AskForAll: true, Solver: a.solver}, func(t *target.Target, r numbered) {
		a.judge(ctx, t, s, r)
	})
	fmt.Fprintf(a.out, "%s seed %d: %d histories, the server was asked about %d\n", s.target, s.seed, a.judged, a.asked)
	return errors.Join(err, a.err)
}

func (a *asking) judge(ctx context.Context, t *target.Target, s set, r numbered) {
	id := s.target + " " + strconv.FormatUint(s.seed, 10) + ":" + strconv.Itoa(r.n)
	c, err := corpus.Parse(id, []byte(r.r.Case))
	was := judged{Verdict: r.r.Verdict}
	had := len(r.r.History.Answers)
	var now judged
	if err == nil {
		trial := t.JudgeRecorded(ctx, c, r.r.History)
		now.Verdict, err = trial.Verdict, trial.Err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.err = errors.Join(a.err, fmt.Errorf("%s: %w", id, err))
		return
	}
	a.judged++
	if len(r.r.History.Answers) > had {
		a.asked++
	}
	if was.words() == now.words() {
		return
	}
	key := change{was.words(), now.words()}
	a.seen[key] = append(a.seen[key], id)
	if a.keep != nil {
		r.r.Note, r.r.Verdict = id+": "+r.r.Note, now.Verdict
		a.err = errors.Join(a.err, a.keep.Encode(r.r))
	}
}
