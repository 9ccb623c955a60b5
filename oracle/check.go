package oracle

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
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
func Check(c *corpus.Case, h *history.History) Verdict { return judge(c, h, false) }

// CheckAndCount is Check, and counts how much of the history was judged. It costs four to
// five times as much in the mean, since it tries all the ways that statements may have taken,
// to learn which answers are allowed.
func CheckAndCount(c *corpus.Case, h *history.History) Verdict { return judge(c, h, true) }

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
	if h.Disagreement != "" && v.Outcome != Violation {
		v.Outcome, v.Kind, v.Rules, v.Stmt = Violation, "index-disagreement", nil, -1
		v.Expected, v.Actual = "the same rows by every index and without", h.Disagreement
		v.Reason = "with all transactions ended, a table and its indexes must hold the same"
		v.Fingerprint = fingerprint(c, h, nil, &v)
	}
	return v
}

// Questions returns, by key, what the server is to be asked before an unknown verdict can
// be another one; the answers belong into History.Answers. It costs as much as Check.
func Questions(c *corpus.Case, h *history.History) map[string]history.Question {
	c, err := resolved(c, h)
	if err != nil {
		return nil
	}
	r := replay(c, h)
	r.Asking().Ahead()
	check(c, h, r)
	return r.Asking().Questions()
}

// replay prepares the replay of a history under what its server promises.
func replay(c *corpus.Case, h *history.History) *mvcc.Replay {
	return engines.New(c, h, rules.For(h.Server), false).Within(solve.NewBudget(mvcc.Work))
}

func check(c *corpus.Case, h *history.History, r *mvcc.Replay) (v Verdict) {
	p := rules.For(h.Server)
	v = Verdict{Stmt: -1}
	defer func() { v.asked(r.Asking()) }()
	d, err := r.Run()
	v.Refused = r.RefusedByText()
	if err != nil {
		return unknown(v, err)
	}
	count(&v, r, h)
	v.Conflicting = r.Conflicting()
	if d == nil {
		switch h.End {
		case history.Lost:
			v.Outcome, v.Reason = Unknown, "server-lost"
			return v
		case history.Unfinished:
			v.Outcome, v.Reason = Unknown, "out-of-time"
			return v
		}
		v.Outcome, v.Elsewhere = OK, r.Elsewhere()
		return v
	}
	v.Kind, v.Stmt, v.Expected, v.Actual, v.Reason = Kind(d.Kind), d.Stmt, d.Expected, d.Actual, d.Reason
	v.Outcome = Violation
	levels := mvcc.Levels(c, h)
	deviations := mvcc.Relevant(c, h, rules.Deviations(h.Server, levels))
	told, rest := toldByServer(d, h, deviations)
	var found []*rules.Rule
	var with *mvcc.Replay
	var loss error
	if len(told) == 0 && seesHalfDone(c, h, d) && looseOK(h, r, p, &v) {
		return v
	}
	if slices.ContainsFunc(told, func(r *rules.Rule) bool { return r.Dim == rules.StaleLocks }) {
		// Another deviation makes the same error.
		found, with, _ = explain(r, p, nil, deviations, 2)
	}
	if found == nil {
		deviations = rest
		for _, r := range told {
			p = p.With(r)
		}
		found, with, loss = explain(r, p, told, deviations, 2)
	}
	if found != nil {
		v.Outcome = Known
		count(&v, with, h)
		v.Conflicting, v.Elsewhere = with.Conflicting(), with.Elsewhere()
		v.Rules = names(found)
		v.Reason += "; " + says(found)
	} else if ok, found := looseFit(c, h, r, p, told, deviations, &v, &loss); ok {
		if len(found) == 0 {
			return v
		}
		v.Outcome = Known
		v.Rules = names(found)
		v.Reason += "; " + says(found)
	} else if loss != nil {
		return unknown(Verdict{Stmt: -1, Statements: v.Statements, Judged: v.Judged, Conflicting: v.Conflicting}, loss)
	} else if found, _, _ := explain(r, p, told, mvcc.Relevant(c, h, rules.OutOfScope(h.Server, levels)), 1); found != nil {
		v.Kind = "deviation-out-of-scope"
		v.Rules = names(found)
		v.Reason += "; a deviation recorded for other servers or levels would predict it: " + found[len(found)-1].Says
	}
	v.Fingerprint = fingerprint(c, h, r, &v)
	return v
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

// asked says how many answers of the server a verdict rests on.
func (v *Verdict) asked(a *solve.Asking) {
	v.Asked = a.Used()
	if v.Outcome == Violation && a.UsedBy(v.Stmt) && strings.HasSuffix(string(v.Kind), "-error") && v.Kind != "internal-error" {
		// The server computes values of rows, also of those that the statement does not see,
		// in an order of its own: an error may be another row's.
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

// toldByServer takes from the deviations what the server itself says that it
// does, in the status of an answer or the text of an error. That need not be
// guessed, and does not count among the deviations of an explanation.
func toldByServer(d *mvcc.Difference, h *history.History, deviations []*rules.Rule) (told, rest []*rules.Rule) {
	lostLock := slices.ContainsFunc(h.Stmts, func(s history.Stmt) bool { return mvcc.LostLock(s.Result.Err) })
	for _, r := range deviations {
		switch {
		case r.Dim == rules.AfterDeadlock && d.Kind == mvcc.LeftOpen, r.Dim == rules.StaleLocks && lostLock:
			told = append(told, r)
		default:
			rest = append(rest, r)
		}
	}
	return told, rest
}

// explain returns the smallest set of at most n deviations, n being 1 or 2, each
// necessary, under which the whole history is predicted; nil if there is none.
// Smaller sets are tried first, in the order of the table, so each member of a
// pair is necessary; a pair of countAsOne may have a third beside it. Those told
// are in p and in the set already. with is the replay under that set. loss is set
// if there is none, but some deviation predicted the history up to a statement
// that the oracle cannot judge: then nobody knows.
func explain(first *mvcc.Replay, p rules.Profile, told, candidates []*rules.Rule, n int) (found []*rules.Rule, with *mvcc.Replay, loss error) {
	predicts := func(round mvcc.Round, p rules.Profile) bool {
		with = first.Under(p).In(round)
		d, err := with.Run()
		if err != nil {
			loss = err
		}
		return err == nil && d == nil
	}
	if len(told) > 0 && predicts(mvcc.BothRounds, p) {
		return told, with, nil
	}
	// Of as many deviations, those that agree with the places of waiting that the server
	// told come first.
	rounds := first.Rounds()
	for _, round := range rounds {
		for _, r := range candidates {
			if predicts(round, p.With(r)) {
				return append(told, r), with, nil
			}
		}
	}
	for _, round := range rounds {
		for i, a := range candidates {
			for _, b := range candidates[i+1:] {
				if n > 1 && a.Dim != b.Dim && predicts(round, p.With(a).With(b)) {
					return append(told, a, b), with, nil
				}
			}
		}
	}
	for _, pair := range inseparable(candidates) {
		for _, one := range candidates {
			if n > 1 && one.Dim != pair[0].Dim && one.Dim != pair[1].Dim && predicts(mvcc.BothRounds, p.With(one).With(pair[0]).With(pair[1])) {
				return append(told, one, pair[0], pair[1]), with, nil
			}
		}
	}
	return nil, nil, loss
}

// countAsOne are pairs of dimensions whose deviations come together so often that
// they count as one: error 1020 is left out for a record that was changed and for
// one that is gone; and a look-up can end at a row's old self only where a change
// of its key left that visible.
var countAsOne = [][2]rules.Dimension{{rules.RecordChanged, rules.RecordGone}, {rules.KeyChange, rules.UniqueLookup}}

func inseparable(candidates []*rules.Rule) [][2]*rules.Rule {
	var out [][2]*rules.Rule
	for _, dims := range countAsOne {
		for _, a := range candidates {
			for _, b := range candidates {
				if a.Dim == dims[0] && b.Dim == dims[1] {
					out = append(out, [2]*rules.Rule{a, b})
				}
			}
		}
	}
	return out
}

// seesHalfDone reports whether a history differs in what a reader of uncommitted data
// saw of a statement that waited. That is the affair of the path which the statement
// took, so other paths are tried before a deviation.
func seesHalfDone(c *corpus.Case, h *history.History, d *mvcc.Difference) bool {
	if h.Server.DBMS == history.TiDB || d.Stmt < 0 {
		return false
	}
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
func looseFit(c *corpus.Case, h *history.History, first *mvcc.Replay, p rules.Profile, told, deviations []*rules.Rule, v *Verdict, loss *error) (bool, []*rules.Rule) {
	if h.Server.DBMS == history.TiDB {
		return false, nil
	}
	// fit returns the difference that is left, nil if none is.
	fit := func(r *mvcc.Replay, honest bool) *mvcc.Difference {
		d, err := r.Run()
		switch {
		case err != nil:
			*loss = err
			return &mvcc.Difference{Stmt: -1}
		case d != nil:
			return d
		}
		fitted(v, r, h, honest)
		return nil
	}
	fits := func(with ...*rules.Rule) *mvcc.Difference {
		q := p
		for _, a := range with {
			q = q.With(a)
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
	for _, a := range deviations {
		d := fits(a)
		if d == nil {
			return true, append(told, a)
		}
		if d.Stmt != bare.Stmt || d.Expected != bare.Expected || placesWait(a) {
			matter = append(matter, a)
		}
	}
	for i, a := range matter {
		for _, b := range deviations {
			if a.Dim != b.Dim && !slices.Contains(matter[:i], b) && fits(a, b) == nil {
				return true, append(told, a, b)
			}
		}
	}
	if fit(first.Under(p).Loose().Patient(), len(told) == 0) == nil {
		return true, told
	}
	// These show or not by the place of waiting.
	var places []*rules.Rule
	for _, a := range deviations {
		if !placesWait(a) {
			continue
		}
		if fit(first.Under(p.With(a)).Loose().Patient(), false) == nil {
			return true, append(told, a)
		}
		places = append(places, a)
	}
	if len(places) == 2 && places[0].Dim != places[1].Dim && fit(first.Under(p.With(places[0]).With(places[1])).Loose().Patient(), false) == nil {
		return true, append(told, places...)
	}
	return false, nil
}

// placesWait reports whether a deviation moves where a statement waits, which shows
// only in what another one sees meanwhile.
func placesWait(r *rules.Rule) bool { return r.Dim == rules.Resumption || r.Dim == rules.LockedRow }

func names(rs []*rules.Rule) []string {
	out := make([]string, len(rs))
	for i, r := range rs {
		out[i] = r.Name
	}
	sort.Strings(out)
	return out
}

func says(rs []*rules.Rule) string {
	out := make([]string, len(rs))
	for i, r := range rs {
		out[i] = fmt.Sprintf("under the deviation %q (%s) the whole history is what the server does: %s", r.Name, r.Links[0], r.Says)
	}
	return strings.Join(out, "; ")
}

// count fills in how much of the history was judged: statements that touch
// tables, and those beside whose answer no other is allowed. A replay
// that does not count leaves it as it is.
func count(v *Verdict, r *mvcc.Replay, h *history.History) {
	if !r.Counts() {
		return
	}
	v.Statements, v.Judged = 0, 0
	for i := range h.Stmts {
		s := &r.Steps[i]
		if !s.Kind.TouchesRows() {
			continue
		}
		v.Statements++
		if s.Expected != nil && s.Expected.Only() {
			v.Judged++
		}
	}
}

func levelNames(h *history.History) string {
	seen := map[string]bool{}
	var out []string
	for _, l := range h.Levels {
		if n := l.Short(); !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return strings.Join(out, "+")
}
