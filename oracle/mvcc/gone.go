package mvcc

import (
	"encoding/binary"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// An explanation of a difference tries up to some hundred profiles, each with up to
// some hundred paths. Most deviations are never looked at on a path, and the second
// look for a path, which jumps over none, repeats those of the first. A replay along a
// path depends on nothing but the history, the choices laid down for it, whether it is
// loose, and what the profile says of the dimensions that it consulted. So where these
// are the same the result is.

// gone is what came of a path on which the history does not fit.
type gone struct {
	profile   *rules.Profile
	consulted rules.Consulted
	d         *Difference
	err       error
	blame     []int
	// after holds the choices as the path left them.
	after choices
	// spent is what it took from the budget.
	spent int
}

// Under returns a replay of the same history under another profile, which only says
// whether the history fits: its Steps are filled in if it does. It costs the budget
// what a replay of its own would. On InnoDB it shares the tables, what is compiled and
// which paths were tried with r, which must have run; TiDB's replays share nothing.
func (r *Replay) Under(p rules.Profile) *Replay {
	if r.h.Server.DBMS == history.TiDB || !r.loaded {
		again := New(r.c, r.h, p, false).Within(r.budget)
		again.counting, again.asking = r.counting, r.asking
		if !setsVariables(r.c) {
			again.solver.Asking(r.asking)
		}
		return again
	}
	return &Replay{c: r.c, h: r.h, profile: p, dialect: r.dialect, solver: r.solver, asking: r.asking, budget: r.budget,
		store: r.store, sessions: make(map[int]*session), Steps: make([]Step, len(r.h.Stmts)),
		planCache: r.planCache, unmetBy: r.unmetBy, bare: r.bare, uncut: r.uncut, testedBy: r.testedBy, unmodelled: r.unmodelled,
		loaded: true, loading: r.loading, places: r.places, tried: r.tried, onlyFits: true, counting: r.counting}
}

// along replays the history along a path; e is nil where the result is known from
// before. The one of a path that goes further than the statement furthest is not
// taken over where its steps are wanted.
func (r *Replay) along(ch *choices, furthest int) (g *gone, e *engine) {
	key := r.pathKey(ch)
	for _, g := range slices.Backward(r.tried[string(key)]) {
		differ := r.profile.Differ(g.profile)
		if differ.Meets(&g.consulted) || !r.onlyFits && g.err == nil && r.reach(g.d) > furthest || !r.budget.Repeat(g.spent) {
			continue
		}
		ch.become(&g.after)
		return g, nil
	}
	before := r.budget.Left()
	e = r.engine(ch)
	d, err := e.replay()
	e.abandon()
	g = &gone{profile: &r.profile, consulted: e.consulted, d: d, err: err, spent: before - r.budget.Left()}
	if d == nil && err == nil {
		return g, e
	}
	if d != nil {
		g.blame = e.blame(d)
	}
	g.after.become(ch)
	if r.budget.Left() >= 0 {
		r.tried[string(key)] = append(r.tried[string(key)], g)
	}
	return g, e
}

// reach returns how far a path went that ends with a difference.
func (r *Replay) reach(d *Difference) int {
	if d.Stmt < 0 {
		return len(r.h.Stmts)
	}
	return d.Stmt
}

// pathKey spells the choices that are laid down for a path, all of which its replay
// hands on to the next one.
func (r *Replay) pathKey(ch *choices) []byte {
	key := make([]byte, 0, 64)
	flag := func(b bool) { key = append(key, byte(boolRank(b))) }
	flag(r.loose)
	flag(r.anywhere)
	for i := range ch.taken {
		key = binary.AppendVarint(key, int64(ch.taken[i]))
		key = binary.AppendVarint(key, int64(ch.arity[i]))
		key = binary.AppendVarint(key, int64(ch.owner[i]))
		flag(ch.fixed[i])
	}
	return key
}

// become makes choices a copy of others.
func (c *choices) become(o *choices) {
	c.taken, c.arity = append(c.taken[:0], o.taken...), append(c.arity[:0], o.arity...)
	c.fixed, c.owner, c.passing = append(c.fixed[:0], o.fixed...), append(c.owner[:0], o.owner...), append(c.passing[:0], o.passing...)
	c.pos = o.pos
}
