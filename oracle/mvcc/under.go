package mvcc

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Under returns a replay of the same history under another profile, which only says
// whether the history fits: its Steps are filled in if it does. It costs the budget
// what a replay of its own would. Where the engine has Kept something, it shares that, the
// tables and what is compiled with r, which must have run.
func (r *Replay) Under(p rules.Profile) *Replay {
	if r.Kept == nil {
		again := New(r.engine, r.Case, r.History, p, false).Within(r.Budget)
		again.EveryAnswer, again.asking = r.EveryAnswer, r.asking
		if !setsVariables(r.Case) {
			again.Solver.Asking(r.asking)
		}
		return again
	}
	return &Replay{engine: r.engine, Case: r.Case, History: r.History, Profile: p, Dialect: r.Dialect, Solver: r.Solver, asking: r.asking, Budget: r.Budget,
		Store: r.Store, Sessions: make(map[int]*Session), Steps: make([]Step, len(r.History.Stmts)),
		Kept: r.Kept, Uncut: r.Uncut, Unmodelled: r.Unmodelled, OnlyFits: true, EveryAnswer: r.EveryAnswer}
}

// World returns a replay for one way through the history, which an engine fills with tables
// of its own: what depends on the way is new, all else is that of r.
func (r *Replay) World() *Replay {
	return &Replay{engine: r.engine, Case: r.Case, History: r.History, Profile: r.Profile, Dialect: r.Dialect, Solver: r.Solver,
		Store:    versions.Store{Solver: r.Solver, Order: r.Store.Order, Tables: make(map[string]*versions.Table, len(r.Store.Tables))},
		Sessions: make(map[int]*Session), Steps: make([]Step, len(r.History.Stmts)),
		Uncut: r.Uncut, Unmodelled: r.Unmodelled, OnlyFits: r.OnlyFits, KeepsLooks: r.KeepsLooks, EveryAnswer: r.EveryAnswer}
}

// FilledWorld is World with copies of the tables of r.
func (r *Replay) FilledWorld() *Replay {
	w := r.World()
	w.Store.NextRow = r.Store.NextRow
	for name, t := range r.Store.Tables {
		own := &versions.Table{Def: t.Def, Clustered: t.Clustered, Moves: t.Moves, Chains: make([]*versions.Chain, len(t.Chains))}
		for i, c := range t.Chains {
			own.Chains[i] = &versions.Chain{ID: c.ID, Versions: slices.Clone(c.Versions)}
		}
		w.Store.Tables[name] = own
	}
	return w
}
