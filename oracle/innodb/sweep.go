package innodb

import (
	"errors"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// cameToMatch reports whether a row came to match while the statement ran in a way that
// hides it from a scan that had passed: it did not exist when the statement
// began, or it did not match and has moved in an index by which a part of the
// condition may have been looked up.
// https://dev.mysql.com/doc/refman/en/index-merge-optimization.html
func (x *running) cameToMatch(a *access, ver *versions.Version, views solve.Views) bool {
	before := versions.View{Tick: x.start, Own: x.tx}
	for _, c := range a.t.Chains {
		was := before.Seen(c)
		if was == nil || was.Row == nil || was.RowID != ver.RowID {
			continue
		}
		if a.where == nil {
			return false
		}
		tested := x.e.tested(a.t, a.where)
		for i := range a.t.Def.Keys {
			if k := &a.t.Def.Keys[i]; k != a.t.Clustered && tested[k.Columns[0]] && !versions.EqualIn(k, was.Row, ver.Row) {
				ok, err := x.matches(a, was, views)
				return err == nil && !ok
			}
		}
		return false
	}
	return true
}

// written reports whether this statement itself wrote a record's newest
// version: a scan does not meet its own change of a row again, because such an
// UPDATE first collects its rows.
func (x *running) written(c *versions.Chain) bool {
	for _, w := range x.tx.Writes[x.mark:] {
		if w == c {
			return true
		}
	}
	return false
}

// sweep visits the rows that the promise does not allow to be missed although
// the scan did not meet them, or notes that they are missed.
func (x *running) sweep(a *access, judged map[int]bool, views solve.Views, visit func(hit) error) error {
	if !x.waited || x.skip != nil {
		return nil
	}
	byRow := x.tx.Rules.Of(rules.Resumption) == rules.ByRow
	left, err := x.movedBehind(a, judged, views, !byRow)
	if !byRow {
		where := pointed(a.where)
		if err == nil && len(left) > 0 && slices.ContainsFunc(a.t.Def.Keys, func(k solve.Key) bool { return looksUp(where, a.t, &k) }) {
			x.e.of(x.tx).missed = true
		}
		return nil
	}
	if err != nil {
		return err
	}
	for _, h := range left {
		if err := visit(h); err != nil {
			return err
		}
	}
	return nil
}

// movedBehind returns the rows that matched when the statement began and match now,
// but moved behind the place where it waited. Below says to judge what is committed of a
// row that another transaction is changing, too.
func (x *running) movedBehind(a *access, judged map[int]bool, views solve.Views, below bool) ([]hit, error) {
	e, t := x.e, a.t
	before := versions.View{Tick: x.start, Own: x.tx}
	matched := make(map[int]bool)
	for _, c := range t.Chains {
		ver := before.Seen(c)
		if ver == nil || judged[ver.RowID] {
			continue
		}
		ok, err := x.matches(a, ver, views)
		if err != nil && !errors.As(err, new(*solve.SQLError)) {
			return nil, err
		}
		// Nobody evaluates the condition on what is out of date: its error is none.
		matched[ver.RowID] = ok && err == nil
	}
	var left []hit
	for _, c := range t.Chains {
		ver := c.Last()
		if e.writer(c, x.tx) != nil {
			if ver = e.committed(c, nil); !below || ver == nil {
				continue
			}
		}
		if ver.Row == nil || !matched[ver.RowID] {
			continue
		}
		ok, err := x.matches(a, ver, views)
		if err != nil {
			return nil, err
		}
		if ok {
			left = append(left, hit{c, ver.Row})
		}
	}
	return left, nil
}
