package judging

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// rounds bounds how often a history is judged again with more answers: rows that a write makes are known only once that
// was answered.
const rounds = 24

// mostAnswers bounds what is asked of one history.
const mostAnswers = 1024

// serverComputes has the server answer what the oracle does not know the SQL of, and judges the history again. The
// statements run alone, in tables of their own; the answers are kept in the history. While there are more questions
// they run in the case's own tables, once a round. What a verdict rests on is asked in all layouts then. It costs
// nothing for a case that the oracle can judge by itself. PostgreSQL is asked at once, as far as it can be.
func (j *Judging) serverComputes() {
	if j.o.Solver == BySolver || !lacksSQL(&j.v) {
		return
	}
	j.enter(Computed)
	if j.h.Server.DBMS == history.PostgreSQL {
		if j.atOnce(); j.err != nil {
			return
		}
	}
	unsettled := map[string]history.Question{}
	for range rounds {
		open := map[string]history.Question{}
		if lacksSQL(&j.v) && len(j.h.Answers) < mostAnswers {
			open = oracle.Questions(j.c, j.h)
		}
		switch {
		case len(open) > 0:
			if !j.computes(open, false) {
				maps.DeleteFunc(j.h.Answers, func(k string, _ *history.Answer) bool { _, half := open[k]; return half })
				open = nil
			}
			maps.Copy(unsettled, open)
		case len(unsettled) == 0:
			return
		}
		if len(open) == 0 {
			if changed := j.confirm(unsettled); !changed {
				return
			}
			clear(unsettled)
		}
		j.rules()
	}
	if len(unsettled) > 0 && j.confirm(unsettled) {
		j.rules()
	}
}

func (j *Judging) computes(questions map[string]history.Question, again bool) (done bool) {
	r := &Compute{Questions: questions, Again: again, Into: j.h}
	j.asks(r)
	return r.Done
}

// confirm asks in the other layouts what was asked in the first one, and leaves open what is answered differently, or
// cannot be asked. It reports whether that is something.
func (j *Judging) confirm(questions map[string]history.Question) (changed bool) {
	if j.h.Server.DBMS == history.PostgreSQL {
		return false // whose engine asks about one row, or for what no order matters to
	}
	open := func() (n int) {
		for k := range questions {
			if j.h.Answers[k].Open != "" {
				n++
			}
		}
		return n
	}
	had := open()
	if !j.computes(questions, true) {
		for k := range questions {
			a := j.h.Answers[k]
			a.Open = cmp.Or(a.Open, "the server could not be asked again")
		}
	}
	return had != open()
}

// atOnce has PostgreSQL answer what its engine asks while that replays the history, a round trip for each statement
// and one replay for all, and judges the history with the answers. What is plain is not asked, unless the history
// then breaks a rule. What cannot be asked so stays open.
func (j *Judging) atOnce() {
	by := j.plainly()
	used := map[string]bool{} // the keys of what package plainsql has answered
	var failed, disagreed error
	judge := func() {
		oracle.Answered(j.c, j.h, func(open map[string]history.Question) map[string]*history.Answer {
			if failed != nil || len(j.h.Answers)+len(open) > mostAnswers {
				return nil
			}
			out := make(map[string]*history.Answer, len(open))
			left := map[string]history.Question{}
			for key, q := range open {
				if a := by.answer(&q); a != nil {
					out[key], used[key] = a, true
				} else {
					left[key] = q
				}
			}
			if len(left) == 0 {
				return out
			}
			r := &Ask{Questions: left}
			if j.asks(r); r.Err != nil {
				failed = r.Err
				return out
			}
			for key, a := range r.Answers {
				q := left[key]
				if err := by.saysAlike(&q, a); err != nil {
					disagreed = err
				}
				out[key] = a
			}
			return out
		})
		j.rules()
	}
	judge()
	if disagreed == nil && j.v.Fingerprint != "" && by.off() {
		maps.DeleteFunc(j.h.Answers, func(key string, _ *history.Answer) bool { return used[key] })
		judge()
	}
	if disagreed != nil {
		j.err = &Disagreement{fmt.Errorf("two ways to compute a statement: %w", disagreed)}
	}
}
