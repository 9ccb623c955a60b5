package oracle

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// seesHalfDone reports whether a history differs in what a reader of uncommitted data
// saw of a statement that waited. That is the affair of the path which the statement
// took, so other paths are tried before a deviation.
func (a *argument) seesHalfDone(d *mvcc.Difference) bool {
	if !a.first.LeavesPlaces() || d.Stmt < 0 {
		return false
	}
	c, h := a.c, a.h
	st := &h.Stmts[d.Stmt]
	if stmt.KindOf(c.Steps[st.Line].Stmt) != stmt.Select || !slices.Contains(mvcc.Levels(c, h), corpus.ReadUncommitted) {
		return false
	}
	return slices.ContainsFunc(h.Stmts, func(w history.Stmt) bool {
		return len(w.Waits) > 0 && w.Submit < st.Submit && (w.Return == 0 || w.Return > st.Submit)
	})
}

// looseOK reports whether a history fits without any deviation if each statement may
// have waited at any row and gone by any index. It fills in v then.
func looseOK(h *history.History, first *mvcc.Replay, p rules.Profile, v *Verdict) bool {
	r := first.Under(p).Loose()
	d, err := r.Run()
	if err != nil || d != nil {
		return false
	}
	fitted(v, r, h, true)
	return true
}

// fitted fills in what a replay tells of the history that it predicts.
func fitted(v *Verdict, r *mvcc.Replay, h *history.History, honest bool) {
	if honest {
		*v = Verdict{Outcome: OK, Stmt: -1, Refused: v.Refused}
	}
	count(v, r, h)
	v.Conflicting, v.Elsewhere = r.Conflicting(), r.Elsewhere()
}

// looseFit is the last resort on InnoDB, whose locks the replay knows in part
// only: does the history fit if a statement may have waited at any row? Then
// each row was judged by what was committed while its statement ran, which is
// all that is promised. Before the history is called wrong, places of waiting are
// looked for longer. It returns the deviations needed, at most two beside those
// told, none for an honest history, in which case it fills in v. It sets loss if a
// replay fits up to a statement that the oracle cannot judge.
func (a *argument) looseFit(v *Verdict) (bool, []*rules.Rule) {
	first, p, told, deviations := a.first, a.p, a.told, a.deviations
	if !first.LeavesPlaces() {
		return false, nil
	}
	// fit returns the difference that is left, nil if none is.
	fit := func(r *mvcc.Replay, honest bool) *mvcc.Difference {
		d, err := r.Run()
		switch {
		case err != nil:
			a.loss = err
			return &mvcc.Difference{Stmt: -1}
		case d != nil:
			return d
		}
		fitted(v, r, a.h, honest)
		return nil
	}
	fits := func(with ...*rules.Rule) *mvcc.Difference {
		q := p
		for _, r := range with {
			q = q.With(r)
		}
		return fit(first.Under(q).Loose(), len(told)+len(with) == 0)
	}
	bare := fits()
	if bare == nil {
		return true, told
	}
	// One of two must make something of the history different; the other may do so
	// only behind it. To pair those that do not costs most.
	var matter []*rules.Rule
	for _, one := range deviations {
		d := fits(one)
		if d == nil {
			return true, append(told, one)
		}
		if d.Stmt != bare.Stmt || d.Expected != bare.Expected || one.PlacesWait() {
			matter = append(matter, one)
		}
	}
	for i, one := range matter {
		for _, other := range deviations {
			if one.Dim != other.Dim && !slices.Contains(matter[:i], other) && fits(one, other) == nil {
				return true, append(told, one, other)
			}
		}
	}
	if fit(first.Under(p).Loose().Patient(), len(told) == 0) == nil {
		return true, told
	}
	// These show or not by the place of waiting.
	var places []*rules.Rule
	for _, one := range deviations {
		if !one.PlacesWait() {
			continue
		}
		if fit(first.Under(p.With(one)).Loose().Patient(), false) == nil {
			return true, append(told, one)
		}
		places = append(places, one)
	}
	if len(places) == 2 && places[0].Dim != places[1].Dim && fit(first.Under(p.With(places[0]).With(places[1])).Loose().Patient(), false) == nil {
		return true, append(told, places...)
	}
	return false, nil
}
