package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// RunRecorded sends the statements of a case in the order in which a run was
// seen to submit them, and after each waits for just the answers that came then.
// Nothing is asked, so the time it takes is the least that the same statements
// can take with the same set-up; the History that it returns has no waits.
//
// It is for measuring Run. A server that answers otherwise than recorded makes
// it fail at the deadline.
func (p *Pool) RunRecorded(ctx context.Context, c *corpus.Case, rec *history.History) (*history.History, error) {
	if rec.End != history.Complete {
		return nil, fmt.Errorf("replay a history that ended %q: only complete ones can be", rec.End)
	}
	w, err := p.borrow(ctx)
	if err != nil {
		return nil, err
	}
	defer p.giveBack(w)
	s, err := newScript(c, p.server.DBMS)
	if err != nil {
		return nil, err
	}
	h := &history.History{Server: p.server, Levels: rec.Levels}
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
		for j := range rec.Stmts[:i+1] {
			if ret := rec.Stmts[j].Return; ret > st.Submit && ret < until {
				due = append(due, j)
			}
		}
		for len(due) > 0 {
			a, ok, err := r.receive(ctx, time.Until(r.end), nil)
			if err != nil {
				return err
			}
			if !ok {
				return fmt.Errorf("replay: line %d did not answer as recorded", rec.Stmts[due[0]].Line+1)
			}
			l := r.lane(a.session.number)
			k := slices.Index(due, l.stmt)
			if err := r.finish(l, &a); err != nil {
				return err
			}
			if k < 0 {
				return fmt.Errorf("replay: session %d answered before its time", l.number)
			}
			due = slices.Delete(due, k, k+1)
		}
	}
	return nil
}
