package mvcc

import (
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// An explanation of a difference tries up to some hundred profiles, each with up to
// some hundred paths. Most deviations are never looked at on a path, and the second
// look for a path, which jumps over none, repeats those of the first. A replay along a
// path depends on nothing but the history, the choices laid down for it, whether it is
// loose, and what the profile says of the dimensions that it consulted. So where these
// are the same the result is.

// TriedPath is what came of a path on which the history does not fit.
type TriedPath struct {
	Profile    *rules.Profile
	Consulted  rules.Consulted
	Difference *Difference
	Err        error
	Blame      []int
	// After holds the choices as the path left them.
	After Choices
	// Spent is what it took from the budget.
	Spent int
}

// Under returns a replay of the same history under another profile, which only says
// whether the history fits: its Steps are filled in if it does. It costs the budget
// what a replay of its own would. On InnoDB it shares the tables, what is compiled and
// which paths were tried with r, which must have run; TiDB's replays share nothing.
func (r *Replay) Under(p rules.Profile) *Replay {
	if !r.Loaded {
		again := New(r.engine, r.Case, r.History, p, false).Within(r.Budget)
		again.EveryAnswer, again.asking = r.EveryAnswer, r.asking
		if !setsVariables(r.Case) {
			again.Solver.Asking(r.asking)
		}
		return again
	}
	return &Replay{engine: r.engine, Case: r.Case, History: r.History, Profile: p, Dialect: r.Dialect, Solver: r.Solver, asking: r.asking, Budget: r.Budget,
		Store: r.Store, Sessions: make(map[int]*Session), Steps: make([]Step, len(r.History.Stmts)),
		PlanCache: r.PlanCache, UnmetBy: r.UnmetBy, Bare: r.Bare, Uncut: r.Uncut, TestedBy: r.TestedBy, Unmodelled: r.Unmodelled,
		Loaded: true, Loading: r.Loading, Places: r.Places, Tried: r.Tried, OnlyFits: true, EveryAnswer: r.EveryAnswer}
}
