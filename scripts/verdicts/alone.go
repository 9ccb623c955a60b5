package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

func aloneCommand(dir *string) *cobra.Command {
	var name string
	var seed uint64
	var cases, workers, examples int
	c := &cobra.Command{
		Use:   "alone",
		Short: "Hold the judge by promise against the verdicts of recorded histories",
		Long: `Judges recorded sets by what their levels promise: a server like the recorded one
runs statements and transactions alone, the cases themselves are not run again. What that says is
counted by the recorded verdict. A verdict that is ok and a broken promise contradict each other.

Status 0: no contradiction; 1: some; 3: something failed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sets, err := recordedSets(*dir, name, seed)
			if err != nil {
				return err
			}
			contradictions := 0
			for _, s := range sets {
				a := rulings{cases: cases, workers: workers, examples: examples, out: cmd.OutOrStdout(), seen: map[string][]string{}}
				if err := a.set(cmd.Context(), s, s.file(*dir)); err != nil {
					return fmt.Errorf("%s: %w", s.file(*dir), err)
				}
				contradictions += a.print(examples)
			}
			if contradictions > 0 {
				return errChanged
			}
			return nil
		},
	}
	c.Flags().StringVar(&name, "target", "", "the sets of this target only")
	c.Flags().Uint64Var(&seed, "seed", 0, "the sets of this seed only")
	c.Flags().IntVar(&cases, "cases", 0, "so many of each set; 0: all")
	c.Flags().IntVar(&workers, "workers", 2, "histories that are judged at a time")
	c.Flags().IntVar(&examples, "examples", 4, "records named of each kind")
	return c
}

// rulings is one run of the command on one set.
type rulings struct {
	cases, workers, examples int
	out                      io.Writer

	mu                                sync.Mutex // of what follows
	seen                              map[string][]string
	histories, statements, held, solo int
	took                              time.Duration
	err                               error
}

func (a *rulings) set(ctx context.Context, s set, file string) error {
	err := eachOn(ctx, s, file, a.cases, target.Options{Workers: a.workers}, func(t *target.Target, r numbered) {
		a.judge(ctx, t, s, r)
	})
	fmt.Fprintf(a.out, "%s seed %d: %d histories, %d of %d statements held against what they answer alone, %d questions, %.1f ms a history\n",
		s.target, s.seed, a.histories, a.held, a.statements, a.solo, a.took.Seconds()*1000/float64(max(a.histories, 1)))
	return errors.Join(err, a.err)
}

func (a *rulings) judge(ctx context.Context, t *target.Target, s set, r numbered) {
	id := strconv.FormatUint(s.seed, 10) + ":" + strconv.Itoa(r.n)
	c, err := corpus.Parse(id, []byte(r.r.Case))
	if err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.err = errors.Join(a.err, err)
		return
	}
	if r.r.Verdict.Outcome != oracle.Unknown { // the server's answers may be missing from the record
		r.r.Verdict = oracle.Judge(c, r.r.History, false)
	}
	begun := time.Now()
	g, err := t.RuleByPromise(ctx, c, r.r.History)
	took := time.Since(begun)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.took += took
	a.histories++
	a.statements += g.Statements
	a.held += g.Judged
	a.solo += g.Solos
	was := string(r.r.Verdict.Outcome) + " " + strings.Join(r.r.Verdict.Rules, ",")
	if r.r.Verdict.Outcome == oracle.Unknown {
		was += r.r.Verdict.Reason
	}
	now := "kept"
	switch {
	case err != nil:
		now = "error: " + err.Error()
	case g.Broken:
		now = "BROKEN " + g.Kind
	case g.Unjudged != "":
		now = "not judged: " + g.Unjudged
	}
	a.seen[was+"\t"+now] = append(a.seen[was+"\t"+now], id)
	if g.Broken && r.r.Verdict.Outcome == oracle.OK && a.examples > 0 {
		fmt.Fprintf(a.out, "%s: %s at statement %d: expected %s, actual %s: %s\n", id, g.Kind, g.Stmt, g.Expected, g.Actual, g.Reason)
	}
}

// print lists what was seen and returns how many contradict each other.
func (a *rulings) print(examples int) (contradictions int) {
	for _, k := range slices.Sorted(maps.Keys(a.seen)) {
		ids := a.seen[k]
		fmt.Fprintf(a.out, "%7d  %s  %s\n", len(ids), k, strings.Join(ids[:min(examples, len(ids))], " "))
		if strings.HasPrefix(k, string(oracle.OK)+" ") && strings.Contains(k, "\tBROKEN ") {
			contradictions += len(ids)
		}
	}
	return contradictions
}
