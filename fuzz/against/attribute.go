package against

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// attribute says what the i-th difference is put down to: the first of these that fits,
// the most exact first. The order of the differences is that of the run, so what one is
// put down to is known when a later one that follows from it is looked at.
func (p *pair) attribute(i int) {
	d := &p.out.Differences[i]
	d.Attribution = Unattributed
	for _, by := range []func(*Difference) bool{p.byViolation, p.byCode, p.byRuleShown, p.byDialect, p.byNamedRule, p.byRule} {
		if by(d) {
			return
		}
	}
	if p.byCause(d, p.out.Differences[:i]) {
		return
	}
	p.byPromise(d)
}

// byViolation takes what a server was wrong to do: of the first one that is a finding in
// any case; of the second it stays unattributed, so that it becomes one.
func (p *pair) byViolation(d *Difference) bool {
	for i, s := range p.side {
		v := &s.Verdict
		if v.Outcome != oracle.Violation || d.Stmt >= 0 && d.Stmt < v.Stmt {
			continue
		}
		d.Reason = fmt.Sprintf("violation %s on %s: %s", v.Kind, s.Name, v.Reason)
		if i == 0 {
			d.Attribution = Reported
		}
		return true
	}
	return false
}

// rightly reports whether each history is one that its own server may show.
func (p *pair) rightly() bool {
	for _, s := range p.side {
		if s.Verdict.Outcome != oracle.OK && s.Verdict.Outcome != oracle.Known {
			return false
		}
	}
	return true
}

// rightlyUntil reports the same of the histories up to a difference: what the oracle cannot
// judge may come later.
func (p *pair) rightlyUntil(d *Difference) bool {
	if p.rightly() {
		return true
	}
	if d.Stmt < 0 {
		return false
	}
	for i, s := range p.side {
		switch s.Verdict.Outcome {
		case oracle.OK, oracle.Known:
			continue
		case oracle.Unknown:
			at := d.Stmt
			if d.Kind == Wait {
				at = p.out.Apart
			}
			if p.h[i] == nil || at >= len(p.h[i].Stmts) {
				return false
			}
			if v := oracle.Check(p.c, upTo(p.h[i], at)); v.Outcome == oracle.Violation || v.Outcome == oracle.Unknown && v.Reason != unfinished {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// unfinished is why there is no verdict on a history that is right as far as it goes.
const unfinished = "out-of-time"

// upTo cuts a history off before the statement behind the k-th is sent.
func upTo(h *history.History, k int) *history.History {
	out := *h
	out.Stmts, out.Final, out.Disagreement, out.End = slices.Clone(h.Stmts[:k+1]), nil, "", history.Unfinished
	if k+1 == len(h.Stmts) {
		return &out
	}
	end := h.Stmts[k+1].Submit
	for i := range out.Stmts {
		st := &out.Stmts[i]
		st.Waits = slices.DeleteFunc(slices.Clone(st.Waits), func(w history.Wait) bool { return w.From > end })
		for j := range st.Waits {
			if st.Waits[j].Until > end {
				st.Waits[j].Until = 0
			}
		}
		if st.Return > end {
			st.Return, st.Result = 0, history.Result{Matched: -1, Changed: -1, Affected: -1}
		}
	}
	return &out
}

// byCause puts a difference down to an earlier one after which the two servers had
// another state to work on: other rows changed, or another transaction open. What a server
// was wrong to answer from then on has been taken before.
func (p *pair) byCause(d *Difference, earlier []Difference) bool {
	if d.Kind == Judged {
		return false
	}
	for i := len(earlier) - 1; i >= 0; i-- {
		e := &earlier[i]
		if e.Kind != Error && e.Kind != Count || e.Attribution == Unattributed || e.Stmt < 0 {
			continue
		}
		d.Attribution, d.Reason, d.Link, d.Follows = e.Attribution, e.Reason, e.Link, true
		return true
	}
	return false
}

// byPromise names what leaves both servers the choice. Builds of one series have no
// reason to choose differently.
func (p *pair) byPromise(d *Difference) bool {
	if !p.rightlyUntil(d) {
		d.Reason = p.undecided()
		return false
	}
	if p.bySetting(d) {
		return true
	}
	if p.strict {
		d.Reason = p.undecided()
		return false
	}
	among := choices
	if p.postgres() {
		among = postgresChoices
	}
	for i := range among {
		c := &among[i]
		if c.sql != nil && (d.Stmt < 0 || !p.matches(d, c.sql)) {
			continue
		}
		if d.Kind == c.kind && (len(c.statements) == 0 || slices.Contains(c.statements, d.Statement)) && (c.codes == nil || fails(d, c.codes)) {
			d.Attribution, d.Reason, d.Link = BothRight, c.says, c.link
			return true
		}
	}
	return false
}

// undecided says why a history has no verdict.
func (p *pair) undecided() string {
	for _, s := range p.side {
		if s.Verdict.Outcome == oracle.Unknown {
			return fmt.Sprintf("no verdict on %s: %s", s.Name, s.Verdict.Reason)
		}
	}
	return ""
}

// fails reports whether the statement of a difference failed with one of some errors on
// either server.
func fails(d *Difference, codes []uint16) bool {
	return slices.Contains(codes, d.codes[0]) || slices.Contains(codes, d.codes[1])
}

// choice is what the promises of servers leave to them.
type choice struct {
	kind       Kind
	statements []stmt.Kind    // empty: all
	codes      []uint16       // one server's answer is one of these errors; nil: whatever
	sql        *regexp.Regexp // the statement's text matches; nil: whatever
	says, link string
}

var (
	reads  = []stmt.Kind{stmt.Select}
	locks  = []stmt.Kind{stmt.SelectForShare, stmt.SelectForUpdate, stmt.Update, stmt.Delete}
	insert = []stmt.Kind{stmt.Insert}
)

const (
	mysqlLocks     = "https://dev.mysql.com/doc/refman/en/innodb-locks-set.html"
	mysqlDeadlocks = "https://dev.mysql.com/doc/refman/en/innodb-deadlock-detection.html"
	mysqlLevels    = "https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html"
)
