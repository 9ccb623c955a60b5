package oracle

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// Encounter tells of one statement of a history what a verdict on the whole does
// not.
type Encounter struct {
	// Met says that the statement touched rows or predicates of another open
	// transaction, one of the two writing.
	Met bool
	// Judged says that its answer was compared with one single prediction.
	Judged bool
}

// Encounters replays a history under the promised rules and the deviations of its
// verdict, as far as they predict it; what comes behind a difference has met
// nothing. The result is by index into the history's statements. Costs as much as
// CheckAndCount.
func Encounters(c *corpus.Case, h *history.History, v *Verdict) []Encounter {
	c, h = read(c, h, v)
	p := rules.For(h.Server)
	for _, d := range rules.Deviations(h.Server, mvcc.Levels(c, h)) {
		if slices.Contains(v.Rules, d.Name) {
			p = p.With(d)
		}
	}
	r := engines.New(c, h, p, false).Counting()
	_, _ = r.Run() // what it finds is in the verdict
	out := make([]Encounter, len(h.Stmts))
	for i, met := range r.Meeting() {
		s := &r.Steps[i]
		out[i] = Encounter{Met: met, Judged: v.Outcome != Unknown && s.Kind.TouchesRows() && s.Expected != nil && s.Expected.Only()}
	}
	return out
}
