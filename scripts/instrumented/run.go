package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// outcome is what came of one generated case.
type outcome struct {
	r   recorded
	p   *plan
	c   comparison
	err error
	// again is how often the case was put in another order because something waited.
	again int
	dead  error // the server is gone for good
}

// generate returns the n-th case of a seed; every third has three transactions.
func generate(seed, n uint64, server *history.Server) *corpus.Case {
	at := seed<<32 + n
	input := mutate.InputOf(at, mutate.InputLen)
	if n%3 == 2 {
		input = mutate.WideInput(at, 3)
	}
	return mutate.Generate(mutate.NewBytes(input), mutate.Options{Levels: []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}, DBMS: server.DBMS, Tables: 2})
}

// try runs one case, until nothing waits.
func try(ctx context.Context, t *target.Target, seed, n uint64) outcome {
	server := t.Server()
	c := generate(seed, n, &server)
	for again := 0; ; again++ {
		o := tryOrder(ctx, t, c, fmt.Sprintf("%d-%d", seed, n))
		o.again = again
		var not *notUsable
		if !errors.As(o.err, &not) || not.why != whyWaited || o.dead != nil || again >= attempts {
			return o
		}
		next := unwaited(c, o.p, o.r.History)
		if next == nil || next.Equal(c) {
			return o
		}
		c = next
	}
}

func tryOrder(ctx context.Context, t *target.Target, c *corpus.Case, name string) (o outcome) {
	o.r = recorded{Name: name, Case: string(corpus.Print(c, corpus.Text))}
	if o.p, o.err = instrument(c); o.err != nil {
		return o
	}
	trial := t.Judge(ctx, o.p.c, target.LevelsFor(o.p.c, corpus.ReadCommitted))
	o.dead = trial.Dead
	if trial.History == nil || trial.Err != nil {
		o.err = unusable("the run broke down: %s %v", trial.Verdict.Reason, trial.Err)
		return o
	}
	o.r.History = trial.History
	o.c, o.err = check(o.p, trial.History, &trial.Verdict)
	return o
}

// deadline bounds one case: with a hundred reads it takes longer than others do.
const deadline = time.Minute

// everyReport is after how many cases progress is told.
const everyReport = 200

// runCases runs cases until enough are compared. Results are taken in the order of the
// cases, so that the figures do not depend on the number of workers.
func runCases(ctx context.Context, o options, w io.Writer) (_ *tally, err error) {
	t, err := target.Open(ctx, o.target, target.Options{Workers: o.workers, Deadline: deadline, Progress: w})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type slot struct {
		n    uint64
		done chan outcome
	}
	work, queue := make(chan slot), make(chan slot, 4*o.workers)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	for range o.workers {
		workers.Go(func() {
			for s := range work {
				s.done <- try(ctx, t, o.seed, s.n)
			}
		})
	}
	workers.Go(func() {
		defer close(work)
		for n := uint64(0); ; n++ {
			s := slot{n, make(chan outcome, 1)}
			select {
			case queue <- s:
			case <-ctx.Done():
				return
			}
			select {
			case work <- s:
			case <-ctx.Done():
				return
			}
		}
	})
	sum, begun := newTally(), time.Now()
	for sum.compared < o.cases {
		var one outcome
		select {
		case s := <-queue:
			select {
			case one = <-s.done:
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return sum, fmt.Errorf("run cases: %w", ctx.Err())
		}
		if err := o.take(sum, &one, w); err != nil {
			return sum, err
		}
		if sum.cases%everyReport == 0 {
			fmt.Fprintf(w, "%s: %d cases, %d compared, %d differ, %d contradict themselves, %s\n", t.Name, sum.cases, sum.compared, sum.differ, sum.contradict, time.Since(begun).Round(time.Second))
		}
	}
	return sum, nil
}

// hopeless is after how many cases without a single one compared a run ends.
const hopeless = 1000

// take counts one outcome, and keeps what differs.
func (o *options) take(sum *tally, one *outcome, w io.Writer) error {
	sum.cases++
	if one.again > 0 {
		sum.waited++
	}
	if one.dead != nil {
		return fmt.Errorf("case %s: %w", one.r.Name, one.dead)
	}
	var not *notUsable
	var odd *contradiction
	why := ""
	switch {
	case errors.As(one.err, &not):
		sum.why[not.why]++
		if sum.compared == 0 && sum.cases >= hopeless {
			return fmt.Errorf("none of %d cases could be compared, the last: %w", sum.cases, one.err)
		}
		if one.r.History == nil || !not.finding {
			return nil
		}
		why = not.why
	case errors.As(one.err, &odd):
		sum.contradict++
		why = odd.Error()
	case one.err != nil:
		return fmt.Errorf("case %s: %w", one.r.Name, one.err)
	default:
		sum.add(one)
		if err := o.record(&one.r); err != nil {
			return err
		}
		why = one.c.String()
	}
	if why == "" {
		return nil
	}
	path, err := keeper{o.out}.keep(&one.r, one.p, why)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s:\n%s\n", path, why)
	return nil
}

// record appends a compared run to a file.
func (o *options) record(r *recorded) error {
	if o.recordTo == "" {
		return nil
	}
	f, err := os.OpenFile(o.recordTo, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("record a run: %w", err)
	}
	if err := json.NewEncoder(f).Encode(r); err != nil {
		return errors.Join(fmt.Errorf("record a run: %w", err), f.Close())
	}
	return f.Close()
}
