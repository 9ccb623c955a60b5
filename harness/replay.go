package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ErrDiverged says that a server did not answer as in the recorded history:
// when two sessions race for the same lock, that is not always its to repeat.
var ErrDiverged = errors.New("the server did not answer as recorded")

// replayPatience is how long an answer that was recorded may take.
const replayPatience = time.Second

// RunRecorded sends the statements of a case in the order in which a recorded run
// submitted them, and after each waits for just the answers that came then. It never
// asks the server who waits. If a statement began to wait in the recorded run, it
// pauses for as long as a statement of that sort takes, since the statement may not
// have come to its lock yet. So its time is the least that these statements can take
// with this set-up. The History that it returns has no waits. Errors: ErrDiverged,
// and those of Run.
//
// It is the yardstick for the time that Run takes.
func (p *Pool) RunRecorded(ctx context.Context, c *corpus.Case, rec *history.History) (*history.History, error) {
	if rec.End != history.Complete {
		return nil, fmt.Errorf("replay a history that ended %q: only complete ones can be", rec.End)
	}
	w, err := p.borrow(ctx)
	if err != nil {
		return nil, err
	}
	defer p.giveBack(w)
	s, err := p.script(c)
	if err != nil {
		return nil, err
	}
	if s.traits&aboutSession != 0 {
		return nil, errors.New("replay a history: one whose sessions are killed or disconnected cannot be")
	}
	h := &history.History{Server: p.server, Levels: rec.Levels, Cluster: p.members.told()}
	err = w.perform(ctx, s, h, Levels{By: rec.Levels}, func(r *run, ctx context.Context) error {
		return r.replay(ctx, rec)
	})
	return w.conclude(ctx, h, err)
}

func (r *run) replay(ctx context.Context, rec *history.History) error {
	for i := range rec.Stmts {
		st := &rec.Stmts[i]
		until := history.Tick(1<<31 - 1)
		if i+1 < len(rec.Stmts) {
			until = rec.Stmts[i+1].Submit
		}
		r.submit(r.lane(st.Session), st.Line, st.Parked)
		var due []int // statements that answered in this phase
		var blocks traits
		blocked := false // one began to wait in this phase
		for j := range rec.Stmts[:i+1] {
			x := &rec.Stmts[j]
			if x.Return > st.Submit && x.Return < until {
				due = append(due, j)
			} else if slices.ContainsFunc(x.Waits, func(w history.Wait) bool { return w.From > st.Submit && w.From < until }) {
				blocked, blocks = true, blocks|r.s.steps[x.Line].traits
			}
		}
		for _, j := range due {
			if rec.Stmts[j].Interrupted {
				if err := r.interrupt(r.lane(rec.Stmts[j].Session)); err != nil {
					return err
				}
			}
		}
		for len(due) > 0 {
			a, ok, err := r.w.mail.receive(ctx, replayPatience, nil)
			if err != nil {
				return err
			}
			if !ok {
				return fmt.Errorf("%w: no answer to line %d", ErrDiverged, rec.Stmts[due[0]].Line+1)
			}
			if err := r.asRecorded(rec, &a, &due); err != nil {
				return err
			}
		}
		if !blocked {
			continue
		}
		a, ok, err := r.w.mail.receive(ctx, time.Duration(r.w.gates.of(blocks).typical), nil)
		if err != nil {
			return err
		}
		if ok {
			return r.asRecorded(rec, &a, &due)
		}
	}
	return nil
}

// asRecorded takes an answer and strikes its statement off those that are due.
func (r *run) asRecorded(rec *history.History, a *answer, due *[]int) error {
	l := r.lane(a.session.number)
	stmt := l.stmt
	k := slices.Index(*due, stmt)
	l.untimed = len(rec.Stmts[stmt].Waits) > 0
	if err := r.finish(l, a); err != nil {
		return err
	}
	if got, want := r.h.Stmts[stmt].Result.Err, rec.Stmts[stmt].Result.Err; (got == nil) != (want == nil) || got != nil && got.Code != want.Code {
		return fmt.Errorf("%w: another error for line %d", ErrDiverged, rec.Stmts[stmt].Line+1)
	}
	if k < 0 {
		return fmt.Errorf("%w: session %d answered before its time", ErrDiverged, l.number)
	}
	*due = slices.Delete(*due, k, k+1)
	return nil
}
