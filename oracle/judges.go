package oracle

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/answers"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// The judges, as Verdict.Oracle names them.
const (
	// Graph asks what anomalies the dependencies show that a replay derives.
	Graph = "graph"
	// Answers asks the same of what is read off the answers of a case with unique values,
	// and what no server should show at all.
	Answers = "answers"
)

// ForbiddenAnomaly is the kind of a violation that only the dependencies show.
const ForbiddenAnomaly Kind = "forbidden-anomaly"

// Judge asks all judges, and the worst verdict wins: the rules first, and of what they call
// right whether it shows what the levels promise to exclude. The rules ask how the server
// works, the others what came of it; neither knows what the other does. It costs one more
// replay than Check. counting is that of CheckAndCount.
func Judge(c *corpus.Case, h *history.History, counting bool) Verdict {
	return inWorlds(c, h, func(c *corpus.Case, h *history.History) Verdict {
		v := judge(c, h, counting)
		if v.Outcome == OK {
			v.second(c, h)
		}
		return v
	})
}

// second asks the judges that know no rule of a history that the rules call right.
func (v *Verdict) second(c *corpus.Case, h *history.History) {
	if c.Prepares() { // they take a transaction for one of its session
		return
	}
	if r := answers.Read(c, h); r != nil && v.contradictedBy(c, h, r) || ordered(c, h) {
		return
	}
	if p, d := Forbidden(c, h, v); p != nil {
		v.shows(h, Graph, p, d)
	}
}

// JudgeAnswers asks nothing but the answers of a case with unique values, as if no rule were
// known.
func JudgeAnswers(c *corpus.Case, h *history.History) Verdict { return inWorlds(c, h, judgeAnswers) }

func judgeAnswers(c *corpus.Case, h *history.History) Verdict {
	v := Verdict{Outcome: OK, Stmt: -1}
	switch r := answers.Read(c, h); {
	case r == nil || c.Prepares():
		v.Outcome, v.Reason = Unknown, "not-read-off"
	default:
		v.contradictedBy(c, h, r)
	}
	return v
}

// ordered says that all transactions promise to be serializable. Then what the rules call
// right has a serial order, which is what that means; the order of their versions may be
// another.
func ordered(c *corpus.Case, h *history.History) bool {
	return slices.Equal(mvcc.Levels(c, h), []corpus.Level{corpus.Serializable})
}

// contradictedBy holds what answers tell against the promise.
func (v *Verdict) contradictedBy(c *corpus.Case, h *history.History, r *answers.Reading) bool {
	if o := r.Odd; o != nil {
		v.violates(h, Answers, Kind(o.Kind), o.Stmt)
		v.Expected, v.Actual = "what no level allows does not show", o.Text
		v.Reason = "read off the answers, whose values are unique: " + o.Text
		return true
	}
	if ordered(c, h) {
		return false
	}
	p := forbidden(&r.Dependencies, h.Server, readsApart(c, h))
	if p == nil {
		return false
	}
	v.shows(h, Answers, p, &r.Dependencies)
	return true
}

// shows makes a verdict of an anomaly that is promised not to be there.
func (v *Verdict) shows(h *history.History, judge string, p *Phenomenon, d *mvcc.Dependencies) {
	stmt := -1
	for _, e := range p.Cycle {
		stmt = max(stmt, e.FromStmt, e.ToStmt)
	}
	v.violates(h, judge, ForbiddenAnomaly, stmt, string(p.Kind))
	v.Expected, v.Actual = "no "+p.Name(), p.Line(d, h)
	v.Reason = "each answer fits the rules, and together they show what the isolation level promises to exclude: " + model.Meaning(p.Kind)
}

// violates makes a verdict of a violation. Its cause is named by the judge, the kind and the
// levels: no replay tells a statement whose answer is wrong.
func (v *Verdict) violates(h *history.History, judge string, kind Kind, stmt int, more ...string) {
	v.Outcome, v.Oracle, v.Kind, v.Stmt = Violation, judge, kind, stmt
	v.Fingerprint = strings.Join(slices.Concat([]string{judge, string(kind)}, more, []string{levelNames(h)}), "/")
}
