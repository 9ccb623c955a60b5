package oracle

import (
	"errors"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// Check judges a history: first against what the server promises and
// documents, then, if that differs, against the deviations of the rules table
// (Explain). It is deterministic and costs one replay for an honest history.
// It leaves Statements and Judged of the verdict 0.
func Check(c *corpus.Case, h *history.History) Verdict {
	return inWorlds(c, h, func(c *corpus.Case, h *history.History) Verdict { return judge(c, h, false) })
}

// CheckAndCount is Check, and counts how much of the history was judged. It costs four to
// five times as much in the mean, since it tries all the ways that statements may have taken,
// to learn which answers are allowed.
func CheckAndCount(c *corpus.Case, h *history.History) Verdict {
	return inWorlds(c, h, func(c *corpus.Case, h *history.History) Verdict { return judge(c, h, true) })
}

func judge(c *corpus.Case, h *history.History, counting bool) Verdict {
	c, err := resolved(c, h)
	if err != nil {
		return unknown(Verdict{Stmt: -1}, err)
	}
	r := replay(c, h)
	if counting {
		r.Counting()
	}
	v := check(c, h, r)
	v = asTold(v)
	v.disagreement(c, h)
	return v
}

// disagreement is the violation of a table that does not agree with one of its indexes.
func (v *Verdict) disagreement(c *corpus.Case, h *history.History) {
	if h.Disagreement == "" || v.Outcome == Violation {
		return
	}
	v.Outcome, v.Kind, v.Rules, v.Stmt = Violation, "index-disagreement", nil, -1
	v.Expected, v.Actual = "the same rows by every index and without", h.Disagreement
	v.Reason = "with all transactions ended, a table and its indexes must hold the same"
	v.Fingerprint = fingerprint(c, h, nil, v)
}

// Questions returns, by key, what the server is to be asked before an unknown verdict can
// be another one; the answers belong into History.Answers. It costs as much as Check.
func Questions(c *corpus.Case, h *history.History) map[string]history.Question {
	return inAllWorlds(c, h, questions)
}

// Answered is Questions, but that a server answers what it is asked at once, as far as it can, which the history then
// keeps. On the engines that stop at the first question without an answer it spares a replay for each.
func Answered(c *corpus.Case, h *history.History, server func(open map[string]history.Question) map[string]*history.Answer) {
	if h.Answers == nil {
		h.Answers = map[string]*history.Answer{}
	}
	inAllWorlds(c, h, func(c *corpus.Case, h *history.History) map[string]history.Question {
		c, err := resolved(c, h)
		if err != nil {
			return nil
		}
		r := replay(c, h)
		r.Asking().AnsweredBy(server)
		check(c, h, r)
		return nil
	})
}

func questions(c *corpus.Case, h *history.History) map[string]history.Question {
	c, err := resolved(c, h)
	if err != nil {
		return nil
	}
	r := replay(c, h)
	r.Asking().Ahead()
	check(c, h, r)
	return r.Asking().Questions()
}

// Fits reports whether what the server promises, or one deviation beside those that it tells
// of itself, predicts a history, and returns by key what the server is to be asked before that
// can be another answer. Check tries pairs of deviations, and places of waiting, too, which costs most.
func Fits(c *corpus.Case, h *history.History) (fits bool, open map[string]history.Question) {
	open = inAllWorlds(c, h, func(c *corpus.Case, h *history.History) map[string]history.Question {
		fit, open := fitsPromise(c, h)
		fits = fits || fit
		return open
	})
	return fits, open
}

func fitsPromise(c *corpus.Case, h *history.History) (fits bool, open map[string]history.Question) {
	c, err := resolved(c, h)
	if err != nil {
		return false, nil
	}
	r := replay(c, h)
	r.Asking().Ahead()
	d, err := r.Run()
	if err != nil || d == nil {
		return err == nil, r.Asking().Questions()
	}
	p := rules.For(h.Server)
	told, deviations := toldByServer(d, h, r.Relevant(rules.Deviations(h.Server, mvcc.Levels(c, h))))
	for _, one := range told {
		p = p.With(one)
	}
	predicts := func(p rules.Profile) bool {
		d, err := r.Under(p).Run()
		return d == nil && err == nil
	}
	fits = len(told) > 0 && predicts(p)
	for i := 0; i < len(deviations) && !fits; i++ {
		fits = predicts(p.With(deviations[i]))
	}
	return fits, r.Asking().Questions()
}

// replay prepares the replay of a history under what its server promises.
func replay(c *corpus.Case, h *history.History) *mvcc.Replay {
	return engines.New(c, h, rules.For(h.Server), false).Within(solve.NewBudget(mvcc.Work))
}

// check argues from the promise to the deviations to a violation, in that order, as each
// step needs a stronger reason than the one before it:
//
//  1. What the server promises and documents predicts the whole history: ok.
//  2. It does, if each statement may have waited at any row of its scan; that is asked at once
//     where what differs is what a reader of uncommitted data saw of a statement that waited: ok.
//  3. Some deviations of the rules table predict the whole history, each of them necessary,
//     fewer before more: known.
//  4. The same as 2 with and without deviations, for any difference and searched for longer: ok,
//     or known.
//  5. Some deviation predicts it up to a statement that the oracle cannot judge: unknown.
//  6. Nothing predicts it: a violation, be it of a deviation that is recorded for other servers
//     or levels.
//
// Later steps only take back: an error that may be that of another row (restsOn), a history that
// fits at places of waiting only which the server did not tell (asTold). Judge may find worse.
//
// Two things keep a legal history from being called known: the promise is asked first, and a
// deviation has to predict every answer and the final state. On InnoDB, whose locks are known
// in part, it can happen all the same: where a history is legal only because a statement waited
// at a place that the known locks do not tell, a deviation may be found (3) before that place
// is (4). If the places were asked first, 14 of 863 known histories of 20,000 from MariaDB 11.8
// would be ok.
func check(c *corpus.Case, h *history.History, r *mvcc.Replay) (v Verdict) {
	v = Verdict{Stmt: -1}
	defer func() { v.restsOn(r.Asking()) }()
	d, err := r.Run()
	v.Refused = r.RefusedByText()
	if err != nil {
		return unknown(v, err)
	}
	count(&v, r, h)
	v.Conflicting = r.Conflicting()
	if d == nil {
		return asPromised(v, h, r)
	}
	v.Outcome = Violation
	v.Kind, v.Stmt, v.Expected, v.Actual, v.Reason = Kind(d.Kind), d.Stmt, d.Expected, d.Actual, d.Reason
	a := &argument{c: c, h: h, first: r, d: d, p: rules.For(h.Server), levels: mvcc.Levels(c, h)}
	a.told, a.deviations = toldByServer(d, h, r.Relevant(rules.Deviations(h.Server, a.levels)))
	withheld, open := 0, v.mayBeOtherRowsError(r.Asking())
	if open {
		withheld = r.Budget.Withhold(openWork)
	}
	switch {
	case a.halfDone(d, &v):
		return v
	case a.explained(&v), a.fitsLoosely(&v):
		if v.Outcome == OK {
			return v
		}
	case a.loss != nil && !(open && errors.Is(a.loss, mvcc.ErrWork)):
		return unknown(Verdict{Stmt: -1, Statements: v.Statements, Judged: v.Judged, Conflicting: v.Conflicting}, a.loss)
	default:
		r.Budget.Return(withheld)
		a.outOfScope(&v)
	}
	v.Fingerprint = fingerprint(c, h, r, &v)
	return v
}

// asPromised is the verdict on a history that the promise predicts as far as it goes.
func asPromised(v Verdict, h *history.History, r *mvcc.Replay) Verdict {
	switch h.End {
	case history.Lost:
		v.Outcome, v.Reason = Unknown, "server-lost"
	case history.Unfinished:
		v.Outcome, v.Reason = Unknown, "out-of-time"
	default:
		v.Outcome, v.Elsewhere = OK, r.Elsewhere()
	}
	return v
}

// argument is what the steps of check hand on.
type argument struct {
	c     *corpus.Case
	h     *history.History
	first *mvcc.Replay
	// d is the first difference from the promise.
	d *mvcc.Difference
	// p is the promise, with the deviations that the server itself tells once explained has
	// been asked.
	p      rules.Profile
	levels []corpus.Level
	// told are those deviations, deviations the others in scope.
	told, deviations []*rules.Rule
	// loss is set where a deviation predicts the history up to what cannot be judged.
	loss error
}

// halfDone is step 2. It fills in v where it holds.
func (a *argument) halfDone(d *mvcc.Difference, v *Verdict) bool {
	return len(a.told) == 0 && a.seesHalfDone(d) && looseOK(a.h, a.first, a.p, v)
}

// explained is step 3. What the server itself tells of an error may be another deviation's,
// which is tried first where it may.
func (a *argument) explained(v *Verdict) bool {
	var found []*rules.Rule
	var with *mvcc.Replay
	if slices.ContainsFunc(a.told, func(r *rules.Rule) bool { return r.Dim == rules.StaleLocks }) {
		all := a.first.Relevant(rules.Deviations(a.h.Server, a.levels))
		found, with, _ = explain(a.first, a.p, nil, all, 2)
	}
	if found == nil {
		for _, r := range a.told {
			a.p = a.p.With(r)
		}
		found, with, a.loss = explain(a.first, a.p, a.told, a.deviations, 2)
	}
	if found == nil {
		return false
	}
	fitted(v, with, a.h, false)
	a.conclude(v, found, false)
	return true
}

// fitsLoosely is step 4.
func (a *argument) fitsLoosely(v *Verdict) bool {
	ok, found := a.looseFit(v)
	if ok && len(found) > 0 {
		a.conclude(v, found, true)
	}
	return ok
}

// outOfScope says of a violation that a deviation which is recorded for other servers or
// levels would predict the history.
func (a *argument) outOfScope(v *Verdict) {
	found, _, _ := explain(a.first, a.p, a.told, a.first.Relevant(rules.OutOfScope(a.h.Server, a.levels)), 1)
	if found == nil {
		return
	}
	v.Kind = "deviation-out-of-scope"
	v.Rules = names(found)
	v.Reason += "; a deviation recorded for other servers or levels would predict it: " + found[len(found)-1].Says
}

// known makes a verdict of the deviations that predict the history.
func (v *Verdict) known(found []*rules.Rule) {
	v.Outcome, v.Rules = Known, names(found)
	v.Reason += "; " + says(found)
}

// ReasonElsewhere is the reason of an unknown verdict on a history that is as promised,
// or as under a deviation, only if a statement waited at another place than the server
// told. That path is not the one that the server took, so it accounts for nothing.
const ReasonElsewhere = "waits-elsewhere"

// asTold makes unknown what was found on a path that keeps to no places told. A
// violation fits no path at all, and stays.
func asTold(v Verdict) Verdict {
	if !v.Elsewhere || v.Outcome == Violation {
		return v
	}
	return Verdict{
		Outcome: Unknown, Reason: ReasonElsewhere, Elsewhere: true, Stmt: -1, Refused: v.Refused,
		Statements: v.Statements, Judged: v.Judged, Conflicting: v.Conflicting, Asked: v.Asked,
	}
}

// lossAskedError is the loss where SQL that only the server knows may have failed.
const lossAskedError = "an error beside SQL that the server computes"

// openWork is what may be spent on explaining an error that may be another row's. If nothing
// explains it the verdict is unknown, whatever the search costs; a case of some ten rows and
// statements needs less.
const openWork = mvcc.Work / 200

// mayBeOtherRowsError reports whether a violation is an error, due or not, of a statement that
// the server has computed: that computes values of rows, also of those that the statement does
// not see, in an order of its own, and the error may be another row's.
func (v *Verdict) mayBeOtherRowsError(a *solve.Asking) bool {
	return v.Outcome == Violation && a.UsedBy(v.Stmt) && strings.HasSuffix(string(v.Kind), "-error") && v.Kind != "internal-error"
}

// restsOn notes how many answers of the server a verdict rests on, and takes back one that they
// leave open.
func (v *Verdict) restsOn(a *solve.Asking) {
	v.Asked = a.Used()
	if v.mayBeOtherRowsError(a) {
		*v = unknown(Verdict{Stmt: -1, Statements: v.Statements, Judged: v.Judged, Conflicting: v.Conflicting, Asked: v.Asked}, &mvcc.Loss{Slug: lossAskedError, Detail: v.Actual})
	}
}

// unknown turns a loss of the oracle's own into a verdict.
func unknown(v Verdict, err error) Verdict {
	v.Outcome = Unknown
	var l *mvcc.Loss
	if errors.As(err, &l) {
		v.Reason = l.Slug
		v.Expected = l.Detail
		return v
	}
	v.Reason = err.Error()
	return v
}
