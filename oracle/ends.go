package oracle

import (
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/ended"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// ReasonEnded is the reason of an unknown verdict on a history in which too many statements were
// killed whose outcome nobody was told.
const ReasonEnded = "outcome of killed statements"

// inWorlds judges a history in which sessions are killed, disconnected or connected in each of the
// worlds that it may stand for; the best verdict counts, since the server may have done that. Any other
// history is its own world.
func inWorlds(c *corpus.Case, h *history.History, judge func(*corpus.Case, *history.History) Verdict) Verdict {
	if !c.EndsSessions() {
		return judge(c, h)
	}
	worlds := ended.Worlds(c, h)
	if worlds == nil {
		return Verdict{Outcome: Unknown, Stmt: -1, Reason: ReasonEnded}
	}
	var best Verdict
	for i := range worlds {
		w := &worlds[i]
		v := judge(w.Case, w.History)
		if i > 0 && slices.Index(outcomes, v.Outcome) >= slices.Index(outcomes, best.Outcome) {
			continue
		}
		v.World = i
		v.Expected, v.Actual, v.Reason = w.Name(v.Expected), w.Name(v.Actual), w.Name(v.Reason)
		if best = v; v.Outcome == OK {
			break
		}
	}
	return best
}

// outcomes are those of verdicts, the best first.
var outcomes = []Outcome{OK, Known, Unknown, Violation}

// worldOf returns the world that a verdict speaks of: nil where the history is its own.
func worldOf(c *corpus.Case, h *history.History, v *Verdict) *ended.World {
	if !c.EndsSessions() {
		return nil
	}
	if worlds := ended.Worlds(c, h); v.World < len(worlds) {
		return &worlds[v.World]
	}
	return nil
}

// read returns a case and a history as a verdict speaks of them.
func read(c *corpus.Case, h *history.History, v *Verdict) (*corpus.Case, *history.History) {
	if w := worldOf(c, h, v); w != nil {
		return w.Case, w.History
	}
	return c, h
}

// inAllWorlds gathers the questions of all worlds.
func inAllWorlds(c *corpus.Case, h *history.History, ask func(*corpus.Case, *history.History) map[string]history.Question) map[string]history.Question {
	if !c.EndsSessions() {
		return ask(c, h)
	}
	out := map[string]history.Question{}
	for _, w := range ended.Worlds(c, h) {
		maps.Copy(out, ask(w.Case, w.History))
	}
	return out
}

// asRun puts what was run into an account of a world, and the numbers that sessions have in the case.
func (a *Account) asRun(c *corpus.Case, h *history.History, w *ended.World) {
	for i := range a.Steps {
		s := &a.Steps[i]
		s.Expected, s.Actual, s.Reason = w.Name(s.Expected), w.Name(s.Actual), w.Name(s.Reason)
		if !w.Replaced[i] || s.Differs {
			continue
		}
		n := c.Steps[h.Stmts[i].Line].Stmt
		s.Kind, s.Actual = mvcc.KindOf(n), mvcc.Describe(n, &h.Stmts[i].Result)
		s.Expected, s.Promised = s.Actual, nil
	}
	for i := range a.Why {
		a.Why[i] = w.Name(a.Why[i])
	}
	for i := range a.Anomalies {
		a.Anomalies[i].Cycle = w.Name(a.Anomalies[i].Cycle)
	}
}
