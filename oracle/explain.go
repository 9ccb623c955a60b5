package oracle

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

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
// pair is necessary; a pair of rules.CountAsOne may have a third beside it. Those told
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

// inseparable returns the pairs of deviations that count as one.
func inseparable(candidates []*rules.Rule) [][2]*rules.Rule {
	var out [][2]*rules.Rule
	for _, dims := range rules.CountAsOne {
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
