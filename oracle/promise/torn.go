package promise

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// mostTorn bounds the commits of which any may be in a torn snapshot: each more doubles the questions.
const mostTorn = 4

// torn looks, for a plain query whose answer no moment gives, for a set of commits that gives it and has
// one without another that was over before it was sent. lo is the number of commits that the query surely
// sees. It returns m, or m with that as its kind and reason.
func (j *judge) torn(e *event, w *world, o own, lo int, m *mismatch) (*mismatch, error) {
	n := len(w.committed) - 1 - lo
	if n < 2 || n > mostTorn || m.kind != "wrong-rows" {
		return m, nil
	}
	for set := 1; set < 1<<n; set++ {
		without, with := gap(set, n)
		if without < 0 || w.at[lo+without].to >= w.at[lo+with].st.Submit {
			continue
		}
		s, ok := w.committed[lo], true
		for k := range n {
			if set&(1<<k) != 0 && ok {
				s, ok = j.layout.plus(s, w.wrote[lo+k])
			}
		}
		if !ok {
			continue
		}
		on, err := j.sight(s, o)
		if err != nil {
			continue
		}
		a, _, err := j.ask(on, e)
		if err != nil {
			return m, err
		}
		if history.SameAnswer(&a.Results[0], &e.st.Result, false) {
			early, late := w.at[lo+without], w.at[lo+with]
			m.kind = Torn
			m.reason = fmt.Sprintf("the answer has what tx%d committed and not what tx%d had committed, "+
				"which was over before: no moment has such a state", late.st.Session, early.st.Session)
			return m, nil
		}
	}
	return m, nil
}

// gap returns the first commit that a set of n lacks although it has a later one, and that later one; -1
// where there is none.
func gap(set, n int) (without, with int) {
	for without = range n {
		if set&(1<<without) != 0 {
			continue
		}
		for with = without + 1; with < n; with++ {
			if set&(1<<with) != 0 {
				return without, with
			}
		}
		break
	}
	return -1, -1
}
