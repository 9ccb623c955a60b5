package mvcc

import (
	"errors"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// maxWorlds bounds the sequences of choices tried for one ruleset. A replay of
// a dozen statements costs 30 to 200 µs.
const maxWorlds = 400

// patientWorlds is the bound for a patient replay, which can take a second.
const patientWorlds = 5000

// choices is one path through the tree of choices.
type choices struct {
	taken, arity []int
	// fixed says of a choice that settle leaves it as it is.
	fixed []bool
	// owner is the statement that a choice concerns; by is that of the next one.
	owner []int
	by    int
	// passing marks the choices of passes; asTold says that none of them is free.
	passing []bool
	asTold  bool
	pos     int
}

// choose returns a number below n; 0 is tried first.
func (c *choices) choose(n int) int {
	if n < 2 {
		return 0
	}
	if c.pos == len(c.taken) {
		c.add(n)
	}
	c.pos++
	return c.taken[c.pos-1]
}

func (c *choices) add(n int) {
	c.taken, c.arity, c.fixed, c.owner, c.passing = append(c.taken, 0), append(c.arity, n), append(c.fixed, false), append(c.owner, c.by), append(c.passing, false)
}

// passes reports whether a statement goes on where it is told to wait, since it comes
// there again: that is tried last, and settle leaves it as it is.
func (c *choices) passes() bool {
	if c.pos == len(c.taken) {
		c.add(2)
		c.passing[c.pos], c.fixed[c.pos] = true, true
		if c.asTold {
			c.arity[c.pos] = 1
		}
	}
	c.pos++
	return c.taken[c.pos-1] == 1
}

// free reports whether there was another way at any of the choices.
func (c *choices) free() bool { return c.first() < len(c.taken) }

// first returns which choice is the first that could have been another one.
func (c *choices) first() int {
	for i := range c.taken {
		if c.taken[i] > 0 || c.taken[i]+1 < c.arity[i] {
			return i
		}
	}
	return len(c.taken)
}

// settle says that the choices made since from turned out not to be free.
func (c *choices) settle(from int) {
	for i := from; i < c.pos; i++ {
		if !c.fixed[i] {
			c.arity[i] = c.taken[i] + 1
		}
	}
}

// keep is choose for a choice that settle leaves free.
func (c *choices) keep(n int) int {
	k := c.choose(n)
	if n > 1 {
		c.fixed[c.pos-1] = true
	}
	return k
}

// next moves to the next path; false if there is none.
func (c *choices) next() bool { return c.back(func(int) bool { return true }) }

// jump moves to the next path that differs in a choice of one of the statements
// to blame, as if the choices made since for others did not matter; where those
// of the first group have none left, of the next group, and at last of any.
func (c *choices) jump(blame ...[]int) bool {
	for _, group := range blame {
		if len(group) > 0 && c.back(func(i int) bool { return slices.Contains(group, c.owner[i]) }) {
			return true
		}
	}
	return c.next()
}

func (c *choices) back(may func(int) bool) bool {
	c.cut(c.pos)
	for i := len(c.taken) - 1; i >= 0; i-- {
		if c.taken[i]+1 < c.arity[i] && may(i) {
			c.taken[i]++
			c.cut(i + 1)
			c.pos = 0
			return true
		}
	}
	return false
}

func (c *choices) cut(n int) {
	c.taken, c.arity, c.fixed, c.owner, c.passing = c.taken[:n], c.arity[:n], c.fixed[:n], c.owner[:n], c.passing[:n]
}

// Loose lets a statement on InnoDB have waited at any row of its scan, also
// where the locks that are surely held tell another one. What is left then is
// the bare promise: each row is judged by what was committed at some moment
// between the statement's start and its end.
func (r *Replay) Loose() *Replay {
	r.loose = true
	return r
}

// Patient tries twelve times as many sequences of choices before it gives up. It is
// for histories that are about to be called wrong.
func (r *Replay) Patient() *Replay {
	r.patient = true
	return r
}

// runInnoDB tries paths of choices until one fits the whole history. It
// returns the difference of the path that went furthest.
func (r *Replay) runInnoDB() (*Difference, error) {
	if err := r.prepare(); err != nil {
		return nil, err
	}
	if d := r.reopened(); d != nil && !r.keepGoing {
		return d, nil
	}
	var (
		best *Difference
		path []int
		err  error
	)
	for _, round := range r.rounds() {
		r.anywhere = round == Anywhere
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
	if r.keepGoing {
		e := r.engine(&choices{taken: path, arity: make([]int, len(path)), fixed: make([]bool, len(path)), owner: make([]int, len(path)), passing: make([]bool, len(path))})
		e.keepGoing = true
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
func (r *Replay) search() (*Difference, []int, error) {
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
func (r *Replay) prepare() error {
	if r.loaded {
		if !r.budget.Spend(r.loading) {
			return errWork
		}
		return nil
	}
	before := r.budget.Left()
	if err := r.load(); err != nil {
		return err
	}
	r.insertionOrder()
	r.loaded, r.loading = true, before-r.budget.Left()
	r.tried = map[string][]*gone{}
	r.places = r.toldPlaces()
	r.parsedPlans()
	return nil
}

// explore tries paths until one fits. It returns the difference of the path that
// went furthest, and that path.
func (r *Replay) explore(jumping bool) (*Difference, []int, error) {
	var (
		best   *Difference
		bestAt = -2
		path   []int
		ch     = &choices{}
		// unplanned is the loss of a way that may fit, if a plan is as it would have to be.
		unplanned error
	)
	waiters := r.waiters()
	worlds := maxWorlds
	if r.patient {
		worlds = patientWorlds
	}
	cost := r.cost()
	for range worlds {
		if !r.budget.Spend(cost) {
			return nil, nil, errWork
		}
		g, e := r.along(ch, bestAt)
		d := g.d
		switch {
		case errors.Is(g.err, errUnplanned):
			unplanned = g.err
		case g.err != nil:
			return nil, nil, g.err
		case d == nil:
			r.adopt(e)
			if r.counting {
				r.tryOtherWays(ch, func(ch *choices) ([]Step, *Difference, error) {
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
			best, bestAt, path = &first, at, slices.Clone(ch.taken)
			if e != nil {
				r.adopt(e)
			}
		case d != nil && at == bestAt:
			best.addWay(d)
		}
		more := false
		if jumping && d != nil {
			more = ch.jump(g.blame, r.readsBefore(d), r.waitsBefore(d), waiters)
		} else {
			more = ch.next()
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
func (e *engine) blame(d *Difference) []int {
	if d.Stmt < 0 {
		return nil
	}
	out := []int{d.Stmt}
	for _, x := range e.running {
		if len(x.tx.writes) > x.mark {
			out = append(out, x.i)
		}
	}
	return out
}

// waiters returns the statements that waited: where they did decides what they
// changed, and so what later ones and the final state show.
func (r *Replay) waiters() []int {
	var out []int
	for i := range r.h.Stmts {
		if len(r.h.Stmts[i].Waits) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// readsBefore returns the plain SELECTs of the session that a difference concerns, before
// it: whether one of them opened the snapshot decides what this one shows.
func (r *Replay) readsBefore(d *Difference) []int {
	if d.Stmt < 0 {
		return nil
	}
	var out []int
	for i := range r.h.Stmts[:d.Stmt] {
		if o := &r.h.Stmts[i]; o.Session == r.h.Stmts[d.Stmt].Session && KindOf(r.c.Steps[o.Line].Stmt) == stmt.Select {
			out = append(out, i)
		}
	}
	return out
}

// waitsBefore returns the statements of the session that a difference concerns which
// waited before it.
func (r *Replay) waitsBefore(d *Difference) []int {
	if d.Stmt < 0 {
		return nil
	}
	var out []int
	for i := range r.h.Stmts[:d.Stmt] {
		if o := &r.h.Stmts[i]; o.Session == r.h.Stmts[d.Stmt].Session && len(o.Waits) > 0 {
			out = append(out, i)
		}
	}
	return out
}
