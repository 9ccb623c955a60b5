package foresight

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// Guess is what is foreseen of a case.
type Guess uint8

const (
	// Open: nothing can be foreseen.
	Open Guess = iota
	// Shows: answers by the deviation differ from those that are promised.
	Shows
	// Hides: they do not, so nothing is to be seen.
	Hides
)

// Seer foresees variants of one case that was run.
type Seer struct {
	base    *corpus.Case
	history *history.History
	rules   []string
	texts   []string
	init    string
}

// New prepares foresight from a run. It returns nil where there is none: for
// what no rule explains, for a difference of the final state alone, and for a
// case that would be foreseen not to show what it has shown. It costs one guess.
func New(c *corpus.Case, h *history.History, v *oracle.Verdict) *Seer {
	if v.Outcome != oracle.Known || v.Stmt < 0 || h.End != history.Complete {
		return nil
	}
	s := &Seer{base: c, history: h, rules: v.Rules, init: setUp(c)}
	for _, l := range c.Steps {
		s.texts = append(s.texts, corpus.SQL(l.Stmt, corpus.Text))
	}
	if s.Guess(c, h.Levels) == Hides {
		return nil
	}
	return s
}

// Guess foresees a case made of the base by deleting, changing or moving lines,
// at the level of each of its sessions. It costs a replay, 30 to 200 µs, for
// each statement whose answer changes.
func (s *Seer) Guess(c *corpus.Case, levels map[int]corpus.Level) Guess {
	h := s.schedule(c, levels)
	if h == nil {
		return Open
	}
	if setUp(c) == s.init {
		h.Initial = s.history.Initial
	} else if h.Initial = s.initial(c); h.Initial == nil {
		return Open
	}
	deviant := rules.For(h.Server)
	for _, name := range s.rules {
		for _, r := range rules.Named(h.Server, mvcc.Levels(c, h), name) {
			deviant = deviant.With(r)
		}
	}
	if !answer(c, h, deviant) {
		return Open
	}
	v := oracle.Check(c, h)
	switch {
	case v.Outcome == oracle.Known && within(v.Rules, s.rules):
		return Shows
	case v.Outcome == oracle.Known || v.Outcome == oracle.OK:
		return Hides
	}
	return Open
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(x string) bool { return !slices.Contains(all, x) })
}

// answer fills in the answers that a profile predicts, one after another, since
// a later one may depend on the earlier. False: the profile cannot go through
// with the history, for example because a statement would have to wait.
func answer(c *corpus.Case, h *history.History, p rules.Profile) bool {
	for range len(h.Stmts) + 1 {
		r := engines.New(c, h, p, false)
		d, err := r.Run()
		if err != nil {
			return false
		}
		if d == nil {
			return true
		}
		if d.Stmt < 0 || !put(&h.Stmts[d.Stmt], &r.Steps[d.Stmt]) {
			return false
		}
	}
	return false
}

// put writes a prediction into an answer. It reports false where there is none,
// or where it is not what differs.
func put(st *history.Stmt, s *mvcc.Step) bool {
	p := s.Expected
	if p == nil {
		return false
	}
	to := history.Result{Columns: st.Result.Columns, Matched: -1, Changed: -1, InTxn: st.Result.InTxn}
	switch {
	case p.Err != 0:
		to.Err = &history.Error{Code: p.Err}
	case s.Kind == stmt.Update:
		to.Matched, to.Changed, to.Affected = p.Matched, p.Changed, p.Changed
	case s.Kind == stmt.Insert || s.Kind == stmt.Delete:
		to.Affected = p.Changed
	default:
		to.Rows = p.Cells()
	}
	if sameAnswer(&st.Result, &to) {
		return false
	}
	st.Result = to
	return true
}

func sameAnswer(a, b *history.Result) bool {
	if (a.Err == nil) != (b.Err == nil) || a.Err != nil && a.Err.Code != b.Err.Code {
		return false
	}
	return a.Matched == b.Matched && a.Changed == b.Changed && a.Affected == b.Affected &&
		slices.EqualFunc(a.Rows, b.Rows, slices.Equal[[]history.Cell])
}

func setUp(c *corpus.Case) string {
	var out string
	for _, l := range c.Init {
		out += corpus.SQL(l.Stmt, corpus.Text) + "\n"
	}
	return out
}
