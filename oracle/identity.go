package oracle

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// conclude makes a verdict of the deviations that predict the history, less the one that is another
// reading of the promise. loosely says that they predict it if each statement may have waited at any row.
func (a *argument) conclude(v *Verdict, found []*rules.Rule, loosely bool) {
	departing := a.departing(found, loosely)
	if len(departing) > 0 {
		v.known(departing)
	} else {
		*v = Verdict{Outcome: OK, Stmt: -1, Refused: v.Refused, Statements: v.Statements, Judged: v.Judged,
			Conflicting: v.Conflicting, Elsewhere: v.Elsewhere}
	}
	v.ByKey = len(departing) < len(found)
}

func tellsByKey(r *rules.Rule) bool { return r.Dim == rules.KeyChange }

// departing leaves out of some deviations that of rows told by their keys, if the history without it
// first differs where a transaction had written a key which its snapshot gives to another row: there
// the promise can be read by key, too (versions.Table.See).
func (a *argument) departing(found []*rules.Rule, loosely bool) []*rules.Rule {
	if !slices.ContainsFunc(found, tellsByKey) {
		return found
	}
	rest := slices.DeleteFunc(slices.Clone(found), tellsByKey)
	r, d := a.first, a.d
	if loosely || len(rest) > 0 {
		p := rules.For(a.h.Server)
		for _, one := range rest {
			p = p.With(one)
		}
		if r = engines.New(a.c, a.h, p, false).Within(a.first.Budget); loosely {
			r = r.Loose()
		}
		var err error
		if d, err = r.Run(); err != nil {
			return found
		}
	}
	if d == nil || d.Stmt < 0 || !r.ReadsByKeyToo(d.Stmt) {
		return found
	}
	return rest
}

// promiseTo returns what the server promises of a history as its verdict reads the promise.
func promiseTo(c *corpus.Case, h *history.History, v *Verdict) rules.Profile {
	p := rules.For(h.Server)
	if !v.ByKey {
		return p
	}
	for _, r := range rules.Deviations(h.Server, mvcc.Levels(c, h)) {
		if tellsByKey(r) {
			return p.With(r)
		}
	}
	return p
}
