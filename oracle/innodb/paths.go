package innodb

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// along replays the history along a path; e is nil where the result is known from
// before. The one of a path that goes further than the statement furthest is not
// taken over where its steps are wanted.
func (r *paths) along(ch *mvcc.Choices, furthest int) (g *triedPath, e *engine) {
	key := r.pathKey(ch)
	for _, g := range slices.Backward(r.tried[string(key)]) {
		differ := r.Profile.Differ(g.profile)
		if differ.Meets(&g.consulted) || !r.OnlyFits && g.err == nil && r.reach(g.difference) > furthest || !r.Budget.Repeat(g.spent) {
			continue
		}
		become(ch, &g.after)
		return g, nil
	}
	before := r.Budget.Left()
	e = r.engine(ch)
	d, err := e.replay()
	e.abandon()
	g = &triedPath{profile: &r.Profile, consulted: e.Consulted, difference: d, err: err, spent: before - r.Budget.Left()}
	if d == nil && err == nil {
		return g, e
	}
	if d != nil {
		g.blame = e.blame(d)
	}
	become(&g.after, ch)
	if r.Budget.Left() >= 0 {
		r.tried[string(key)] = append(r.tried[string(key)], g)
	}
	return g, e
}

// reach returns how far a path went that ends with a difference.
func (r *paths) reach(d *mvcc.Difference) int {
	if d.Stmt < 0 {
		return len(r.History.Stmts)
	}
	return d.Stmt
}

// pathKey spells the choices that are laid down for a path, all of which its replay
// hands on to the next one.
func (r *paths) pathKey(ch *mvcc.Choices) []byte {
	key := make([]byte, 0, 64)
	flag := func(b bool) { key = append(key, byte(mvcc.BoolRank(b))) }
	flag(r.AnyWait)
	flag(r.anywhere)
	for i := range ch.Taken {
		key = binary.AppendVarint(key, int64(ch.Taken[i]))
		key = binary.AppendVarint(key, int64(ch.Arity[i]))
		key = binary.AppendVarint(key, int64(ch.Owner[i]))
		flag(ch.Fixed[i])
	}
	return key
}

// become makes choices a copy of others.
func become(c *mvcc.Choices, o *mvcc.Choices) {
	c.Taken, c.Arity = append(c.Taken[:0], o.Taken...), append(c.Arity[:0], o.Arity...)
	c.Fixed, c.Owner, c.Passing = append(c.Fixed[:0], o.Fixed...), append(c.Owner[:0], o.Owner...), append(c.Passing[:0], o.Passing...)
	c.Pos = o.Pos
}

// patientWorlds is the bound for a patient replay, which can take a second.
const patientWorlds = 5000

// passes reports whether a statement goes on where it is told to wait, since it comes
// there again: that is tried last, and settle leaves it as it is.
func passes(c *mvcc.Choices) bool {
	if c.Pos == len(c.Taken) {
		c.Add(2)
		c.Passing[c.Pos], c.Fixed[c.Pos] = true, true
		if c.AsTold {
			c.Arity[c.Pos] = 1
		}
	}
	c.Pos++
	return c.Taken[c.Pos-1] == 1
}

// settle says that the choices made since from turned out not to be free.
func settle(c *mvcc.Choices, from int) {
	for i := from; i < c.Pos; i++ {
		if !c.Fixed[i] {
			c.Arity[i] = c.Taken[i] + 1
		}
	}
}

// chooseFixed is Choose for a choice that settle leaves free.
func chooseFixed(c *mvcc.Choices, n int) int {
	k := c.Choose(n)
	if n > 1 {
		c.Fixed[c.Pos-1] = true
	}
	return k
}

// jump moves to the next path that differs in a choice of one of the statements
// to blame, as if the choices made since for others did not matter; where those
// of the first group have none left, of the next group, and at last of any.
func jump(c *mvcc.Choices, blame ...[]int) bool {
	for _, group := range blame {
		if len(group) > 0 && c.Back(func(i int) bool { return slices.Contains(group, c.Owner[i]) }) {
			return true
		}
	}
	return c.Next()
}

// run tries paths of choices until one fits the whole history. It
// returns the difference of the path that went furthest.
func (r *paths) run() (*mvcc.Difference, error) {
	if err := r.prepare(); err != nil {
		return nil, err
	}
	if d := r.reopened(); d != nil && !r.KeepGoing {
		return d, nil
	}
	var (
		best *mvcc.Difference
		path []int
		err  error
	)
	for _, round := range r.rounds() {
		r.anywhere = round == mvcc.Anywhere
		r.AgainstPlaces = r.anywhere && r.places != nil
		if best, path, err = r.search(); best == nil && (err == nil || errors.Is(err, errUnplanned)) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if best == nil {
		return r.serialOrders()
	}
	if r.KeepGoing {
		e := r.engine(&mvcc.Choices{Taken: path, Arity: make([]int, len(path)), Fixed: make([]bool, len(path)), Owner: make([]int, len(path)), Passing: make([]bool, len(path))})
		e.KeepGoing = true
		if _, err := e.replay(); err != nil {
			return nil, err
		}
		e.abandon()
		r.adopt(e)
	}
	return best, nil
}

// search tries paths until one fits. It returns the difference of the path that went
// furthest, and that path.
func (r *paths) search() (*mvcc.Difference, []int, error) {
	best, path, err := r.explore(true)
	if best != nil && err == nil || errors.Is(err, errUnplanned) {
		// What was jumped over may have mattered after all.
		b, p, e := r.explore(false)
		if b == nil || e != nil {
			best, path, err = b, p, e
		}
	}
	return best, path, err
}

// prepare makes the tables, or takes those of the replay that this one is made of for
// the same share of the budget.
func (r *paths) prepare() error {
	if k, ok := r.Kept.(*kept); ok {
		r.kept = k
		if !r.Budget.Spend(k.loading) {
			return mvcc.ErrWork
		}
		return nil
	}
	before := r.Budget.Left()
	if err := r.Load(); err != nil {
		return err
	}
	r.insertionOrder()
	r.share(before - r.Budget.Left())
	return nil
}

// explore tries paths until one fits. It returns the difference of the path that
// went furthest, and that path.
func (r *paths) explore(jumping bool) (*mvcc.Difference, []int, error) {
	var (
		best   *mvcc.Difference
		bestAt = -2
		path   []int
		ch     = &mvcc.Choices{}
		// unplanned is the loss of a way that may fit, if a plan is as it would have to be.
		unplanned error
	)
	waiters := r.waiters()
	worlds := mvcc.MaxWorlds
	if r.Persistent {
		worlds = patientWorlds
	}
	cost := r.Cost()
	for range worlds {
		if !r.Budget.Spend(cost) {
			return nil, nil, mvcc.ErrWork
		}
		g, e := r.along(ch, bestAt)
		d := g.difference
		switch {
		case errors.Is(g.err, errUnplanned):
			unplanned = g.err
		case g.err != nil:
			return nil, nil, g.err
		case d == nil:
			r.adopt(e)
			if r.EveryAnswer {
				r.TryOtherWays(ch, func(ch *mvcc.Choices) ([]mvcc.Step, *mvcc.Difference, error) {
					e := r.engine(ch)
					e.exploring = true
					defer e.abandon()
					d, err := e.replay()
					return e.Steps, d, err
				})
			}
			return nil, nil, nil
		}
		at := bestAt
		if d != nil {
			at = r.reach(d)
		}
		switch {
		case at > bestAt:
			first := *d // d is kept for other profiles
			best, bestAt, path = &first, at, slices.Clone(ch.Taken)
			if e != nil {
				r.adopt(e)
			}
		case d != nil && at == bestAt:
			best.AddWay(d)
		}
		more := false
		if jumping && d != nil {
			more = jump(ch, g.blame, r.readsBefore(d), r.waitsBefore(d), waiters)
		} else {
			more = ch.Next()
		}
		if !more {
			break
		}
	}
	if unplanned != nil {
		return nil, nil, unplanned
	}
	return best, path, nil
}

// blame returns the statements whose choices can explain a difference: the one
// that differs, and those that wait with changes made.
func (e *engine) blame(d *mvcc.Difference) []int {
	if d.Stmt < 0 {
		return nil
	}
	out := []int{d.Stmt}
	for _, x := range e.running {
		if len(x.tx.Writes) > x.mark {
			out = append(out, x.i)
		}
	}
	return out
}

// waiters returns the statements that waited: where they did decides what they
// changed, and so what later ones and the final state show.
func (r *paths) waiters() []int {
	var out []int
	for i := range r.History.Stmts {
		if len(r.History.Stmts[i].Waits) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// readsBefore returns the plain SELECTs of the session that a difference concerns, before
// it: whether one of them opened the snapshot decides what this one shows.
func (r *paths) readsBefore(d *mvcc.Difference) []int {
	if d.Stmt < 0 {
		return nil
	}
	var out []int
	for i := range r.History.Stmts[:d.Stmt] {
		if o := &r.History.Stmts[i]; o.Session == r.History.Stmts[d.Stmt].Session && mvcc.KindOf(r.Case.Steps[o.Line].Stmt) == stmt.Select {
			out = append(out, i)
		}
	}
	return out
}

// waitsBefore returns the statements of the session that a difference concerns which
// waited before it.
func (r *paths) waitsBefore(d *mvcc.Difference) []int {
	if d.Stmt < 0 {
		return nil
	}
	var out []int
	for i := range r.History.Stmts[:d.Stmt] {
		if o := &r.History.Stmts[i]; o.Session == r.History.Stmts[d.Stmt].Session && len(o.Waits) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// share makes what the replays will have in common, once the tables are loaded.
func (r *paths) share(loading int) {
	r.kept = &kept{
		loading: loading, plans: r.parsedPlans(), places: r.toldPlaces(),
		tried: map[string][]*triedPath{}, unmet: map[ast.Node]bool{},
		bare: map[*ast.SelectStmt]*ast.SelectStmt{}, tested: map[conditionOn]map[int]bool{},
	}
	r.Kept = r.kept
}
