package against

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// pair is two runs that are being compared.
type pair struct {
	c    *corpus.Case
	side [2]*Side
	h    [2]*history.History
	// strict says that the servers are builds of one series: neither has reason to
	// choose otherwise than the other.
	strict bool
	out    Comparison
}

func newPair(c *corpus.Case, first, second *Side) *pair {
	p := &pair{c: c, side: [2]*Side{first, second}, out: Comparison{Apart: -1}}
	p.strict = sameSeries(first.Server, second.Server)
	for i, s := range p.side {
		if s.History != nil {
			p.h[i] = s.History.TimedOut()
		}
	}
	return p
}

// compare follows both histories from one submission to the next. As long as the same
// sessions wait in between, the servers had the same to answer.
func (p *pair) compare() {
	if !p.bothRan() || !p.sameTables(Start, p.h[0].Initial, p.h[1].Initial) {
		return
	}
	a, b := p.h[0].Stmts, p.h[1].Stmts
	var waitingBefore []int
	for k := 0; k < max(len(a), len(b)); k++ {
		if k >= len(a) || k >= len(b) {
			p.partAt(k, min(len(a), len(b))-1, p.ending(0, k), p.ending(1, k))
			break
		}
		if a[k].Line != b[k].Line {
			p.partAt(k, k, p.sends(0, k), p.sends(1, k))
			break
		}
		waits := [2][]int{waiting(a, k), waiting(b, k)}
		for _, i := range append(slices.Clone(waitingBefore), k) {
			if !slices.Contains(waits[0], i) && !slices.Contains(waits[1], i) {
				p.compareAnswers(i)
			}
		}
		if i, differ := firstOfOne(waits); differ {
			p.partAt(i, i, p.state(0, i, waits[0]), p.state(1, i, waits[1]))
			d := &p.out.Differences[len(p.out.Differences)-1]
			for side := range d.codes {
				if !slices.Contains(waits[side], i) {
					d.codes[side] = code(&p.h[side].Stmts[i].Result)
				}
			}
			break
		}
		waitingBefore = waits[0]
	}
	if p.out.Apart < 0 {
		p.compareEnds()
	}
	p.compareVerdicts()
}

// bothRan reports whether there are two histories to compare. That the server did not
// take a case's set-up or level is a difference, that a run broke down is none.
func (p *pair) bothRan() bool {
	if p.h[0] != nil && p.h[1] != nil && p.h[0].End != history.Lost && p.h[1].End != history.Lost {
		return true
	}
	p.add(Difference{Kind: Run, Stmt: -1, First: p.ran(0), Second: p.ran(1)})
	return false
}

func (p *pair) ran(i int) string {
	switch v := &p.side[i].Verdict; {
	case p.h[i] != nil && p.h[i].End != history.Lost:
		return "it ran"
	case v.Outcome == oracle.Violation:
		return string(v.Kind) + ": " + v.Actual
	default:
		return v.Reason + ": " + v.Actual
	}
}

// waiting returns the statements that are not answered when the one behind the k-th is
// submitted, or in the end.
func waiting(stmts []history.Stmt, k int) []int {
	var out []int
	for i := 0; i <= k; i++ {
		st := &stmts[i]
		switch {
		case k+1 < len(stmts) && (st.Return == 0 || st.Return > stmts[k+1].Submit):
			out = append(out, i)
		case k+1 == len(stmts) && (st.Return == 0 || st.Interrupted):
			out = append(out, i)
		}
	}
	return out
}

// firstOfOne returns the first statement that waits on one server only.
func firstOfOne(waits [2][]int) (int, bool) {
	all := slices.Concat(waits[0], waits[1])
	slices.Sort(all)
	for _, i := range all {
		if slices.Contains(waits[0], i) != slices.Contains(waits[1], i) {
			return i, true
		}
	}
	return 0, false
}

// partAt records that the waits differ.
func (p *pair) partAt(at, stmt int, first, second string) {
	p.out.Apart = at
	p.add(Difference{Kind: Wait, Stmt: stmt, First: first, Second: second})
}

func (p *pair) state(i, stmt int, waits []int) string {
	if slices.Contains(waits, stmt) {
		return "waits"
	}
	return answer(&p.h[i].Stmts[stmt].Result)
}

// sends tells which line comes next: a line that was held back comes as soon as its
// session goes on.
func (p *pair) sends(i, k int) string {
	st := &p.h[i].Stmts[k]
	return fmt.Sprintf("tx%d goes on with step %d", st.Session, st.Line+1)
}

func (p *pair) ending(i, k int) string {
	switch h := p.h[i]; {
	case k < len(h.Stmts):
		return p.sends(i, k)
	case h.End != history.Complete:
		return "the run ends " + string(h.End)
	}
	return "the run ends"
}

// compareEnds compares how the runs ended and what the tables hold then.
func (p *pair) compareEnds() {
	if p.h[0].End != p.h[1].End {
		p.out.Apart = len(p.h[0].Stmts)
		p.add(Difference{Kind: Wait, Stmt: -1, First: p.ending(0, len(p.h[0].Stmts)), Second: p.ending(1, len(p.h[1].Stmts))})
		return
	}
	if p.h[0].End == history.Complete {
		p.sameTables(Final, p.h[0].Final, p.h[1].Final)
	}
}

// compareVerdicts makes a difference of a violation on the second server alone that
// shows in no other: it lies behind where the waits differ, or the rules do.
func (p *pair) compareVerdicts() {
	v := &p.side[1].Verdict
	if v.Outcome != oracle.Violation || p.side[0].Verdict.Outcome == oracle.Violation {
		return
	}
	d := Difference{Kind: Judged, Stmt: -1, First: string(p.side[0].Verdict.Outcome), Second: "violation " + string(v.Kind)}
	if v.Stmt >= 0 && (p.out.Apart < 0 || v.Stmt < p.out.Apart) {
		d.Stmt = v.Stmt
	}
	p.add(d)
}

func (p *pair) add(d Difference) {
	if d.Stmt >= 0 {
		h := p.h[0]
		if d.Stmt >= len(h.Stmts) {
			h = p.h[1]
		}
		st := &h.Stmts[d.Stmt]
		d.Level, d.Statement = h.Levels[st.Session], oracle.KindOf(p.c.Steps[st.Line].Stmt)
	}
	p.out.Differences = append(p.out.Differences, d)
}
