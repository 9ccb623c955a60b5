package target

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// witnessEvery is every how many judgements the server is asked what is plain, too, and has to say the same.
const witnessEvery = 16

// plainCounts counts the judgements of a target, and what judging.Plain counts of them.
type plainCounts struct {
	judgements, taken, compared atomic.Int64
	// always has the server asked each time.
	always bool
}

func (p *plainCounts) witness() bool { return p.judgements.Add(1)%witnessEvery == 0 || p.always }

func (p *plainCounts) add(n judging.Plain) {
	p.taken.Add(n.Taken)
	p.compared.Add(n.Compared)
}

// judge has a run judged, and answers what the judging asks. A run without a history has its verdict.
func (t *Target) judge(ctx context.Context, r *Trial, o judging.Options) {
	if r.History == nil {
		return
	}
	o.Solver, o.Counted, o.RulesOnly, o.Witness = t.solver, r.Counted, r.RulesOnly, t.plain.witness()
	o.Modelled = t.server.Declared == nil && t.server.DBMS != history.PostgreSQL
	if b, ok := t.backend.(harness.Doubter); ok {
		o.Doubtful = b.Doubtful()
	}
	if v := r.Verdict; v.Outcome != "" {
		o.Begun, o.Broken = &v, r.Err != nil
	}
	a := &answerer{t: t, ctx: ctx, c: r.Case, h: r.History, levels: r.Levels}
	defer a.release()
	t.mu.RLock()
	seen := t.revived
	t.mu.RUnlock()
	j := judging.New(r.Case, r.History, o)
	for {
		request, err := next(ctx, j)
		var broken *errOracle
		switch {
		case err == nil:
		case r.Verdict.Outcome != "" && !errors.As(err, &broken): // which stays as far as it has come
			return
		default:
			r.breaksOff(ctx, err)
			return
		}
		r.Verdict = j.Verdict()
		if request == nil {
			break
		}
		a.answer(request)
	}
	a.release()
	t.plain.add(j.Plain)
	r.Path = append(slices.Clip(r.Path), j.Path()...)
	var lost *harness.LostError
	var disagreement *judging.Disagreement
	switch err := j.Err(); {
	case err == nil:
	case errors.As(err, &disagreement):
		r.fails(err)
	case errors.As(err, &lost): // a statement may take the server down alone, too
		r.Err = err
		r.Verdict, r.Dead = t.judgeLost(ctx, r, seen)
	case !cannotLayOut(err) && ctx.Err() == nil:
		r.fails(fmt.Errorf("judge by promise: %w", err))
	}
}

// errOracle is that the oracle broke down.
type errOracle struct {
	panicked any
	stack    []byte
}

func (e *errOracle) Error() string {
	return fmt.Sprintf("the oracle broke down: %v\n%s", e.panicked, e.stack)
}

// next is the next request of a judging. A defect of the oracle must not end a campaign, and the oracle may need long
// for a large case while whoever ends the process wants it to end.
func next(ctx context.Context, j *judging.Judging) (judging.Request, error) {
	type step struct {
		request judging.Request
		err     error
	}
	done := make(chan step, 1)
	go func() {
		var s step
		defer func() {
			if p := recover(); p != nil {
				s.err = &errOracle{p, debug.Stack()}
			}
			done <- s
		}()
		s.request = j.Next()
	}()
	select {
	case s := <-done:
		return s.request, s.err
	case <-ctx.Done():
		return nil, fmt.Errorf("judge a case: %w", ctx.Err())
	}
}

// breaksOff is the verdict where the oracle has come to none.
func (r *Trial) breaksOff(ctx context.Context, err error) {
	r.Err = err
	var broken *errOracle
	if errors.As(err, &broken) {
		r.Verdict = judging.Undecided(ReasonPanic, fmt.Sprint(broken.panicked))
	} else {
		r.Verdict = judging.Undecided(ReasonCutOff, context.Cause(ctx).Error())
	}
}

// answerer answers what the judging of one run asks. levels are those at which the case may run again.
type answerer struct {
	t      *Target
	ctx    context.Context
	c      *corpus.Case
	h      *history.History
	levels map[int]corpus.Level
	// x is where statements run alone, nil if there is no such place; the server is held meanwhile. empty says that its
	// tables begin without the rows of the set-up.
	x     *harness.Scratch
	empty bool
}

func (a *answerer) answer(request judging.Request) {
	t := a.t
	switch r := request.(type) {
	case *judging.Ask:
		var x *harness.Scratch
		if x, r.Err = a.scratch(true); r.Err == nil {
			r.Answers, r.Err = answered(a.ctx, x, r.Questions)
		}
		return
	case *judging.Solo:
		r.Answer, r.Err = a.alone(r.Question)
		return
	}
	a.release() // who waits to replace the server would wait for ever
	switch r := request.(type) {
	case *judging.Compute:
		in := layouts[:1]
		if r.Again {
			in = layouts[1:]
		}
		r.Done = t.answer(a.ctx, a.c, r.Into, r.Questions, in)
	case *judging.Single:
		t.mu.RLock()
		defer t.mu.RUnlock()
		h, err := t.pool.RunFresh(a.ctx, r.Case, harness.Levels{By: map[int]corpus.Level{r.Session: r.Level}})
		if err == nil {
			r.History = h
		}
	case *judging.Rerun:
		again := t.Run(a.ctx, a.c, a.levels)
		t.judge(a.ctx, &again, judging.Options{NoReruns: true})
		if a.ctx.Err() == nil {
			r.Verdict = &again.Verdict
		}
	case *judging.AtDefaults:
		at, err := t.atDefaults(a.ctx, slices.Clone(r.Names))
		if err != nil {
			if a.ctx.Err() == nil {
				r.Err = err
			}
			return
		}
		again := at.JudgeFresh(a.ctx, a.c, a.levels)
		if a.ctx.Err() == nil {
			r.Verdict = &again.Verdict
		}
	}
}

// scratch is a place where statements run alone, in tables that begin with or without the rows of the set-up.
func (a *answerer) scratch(empty bool) (*harness.Scratch, error) {
	if a.x != nil && a.empty == empty {
		return a.x, nil
	}
	a.release()
	c := a.c
	if empty {
		c = judging.Unfilled(c)
	}
	a.t.mu.RLock()
	x, err := a.t.pool.Scratch(a.ctx, c, a.h.Levels)
	if err != nil {
		a.t.mu.RUnlock()
		return nil, fmt.Errorf("make the tables once more: %w", err)
	}
	a.x, a.empty = x, empty
	return x, nil
}

func (a *answerer) release() {
	if a.x != nil {
		a.x.Close()
		a.x = nil
		a.t.mu.RUnlock()
	}
}

// alone runs statements alone, unless the history keeps what they do; it keeps that then.
func (a *answerer) alone(q *history.Solo) (*history.SoloAnswer, error) {
	key := q.Key()
	if kept := a.h.Solos[key]; kept != nil {
		return kept, nil
	}
	x, err := a.scratch(false)
	if err != nil {
		return nil, err
	}
	answer, err := x.Alone(a.ctx, q)
	if err != nil {
		return nil, err
	}
	if a.h.Solos == nil {
		a.h.Solos = map[string]*history.SoloAnswer{}
	}
	a.h.Solos[key] = answer
	return answer, nil
}
