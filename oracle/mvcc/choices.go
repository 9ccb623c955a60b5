package mvcc

// MaxWorlds bounds the sequences of choices tried for one ruleset. A replay of
// a dozen statements costs 30 to 200 µs.
const MaxWorlds = 400

// Choices is one path through the tree of choices.
type Choices struct {
	Taken, Arity []int
	// Fixed says of a choice that settle leaves it as it is.
	Fixed []bool
	// Owner is the statement that a choice concerns; By is that of the next one.
	Owner []int
	By    int
	// Passing marks the choices whether a statement passes a place; AsTold says that none of them is free.
	Passing []bool
	AsTold  bool
	Pos     int
}

// Choose returns a number below n; 0 is tried first.
func (c *Choices) Choose(n int) int {
	if n < 2 {
		return 0
	}
	if c.Pos == len(c.Taken) {
		c.Add(n)
	}
	c.Pos++
	return c.Taken[c.Pos-1]
}

func (c *Choices) Add(n int) {
	c.Taken, c.Arity, c.Fixed, c.Owner, c.Passing = append(c.Taken, 0), append(c.Arity, n), append(c.Fixed, false), append(c.Owner, c.By), append(c.Passing, false)
}

// free reports whether there was another way at any of the choices.
func (c *Choices) free() bool { return c.first() < len(c.Taken) }

// first returns which choice is the first that could have been another one.
func (c *Choices) first() int {
	for i := range c.Taken {
		if c.Taken[i] > 0 || c.Taken[i]+1 < c.Arity[i] {
			return i
		}
	}
	return len(c.Taken)
}

// Next moves to the next path; false if there is none.
func (c *Choices) Next() bool { return c.Back(func(int) bool { return true }) }

func (c *Choices) Back(may func(int) bool) bool {
	c.cut(c.Pos)
	for i := len(c.Taken) - 1; i >= 0; i-- {
		if c.Taken[i]+1 < c.Arity[i] && may(i) {
			c.Taken[i]++
			c.cut(i + 1)
			c.Pos = 0
			return true
		}
	}
	return false
}

func (c *Choices) cut(n int) {
	c.Taken, c.Arity, c.Fixed, c.Owner, c.Passing = c.Taken[:n], c.Arity[:n], c.Fixed[:n], c.Owner[:n], c.Passing[:n]
}

// Loose lets a statement on InnoDB have waited at any row of its scan, also
// where the locks that are surely held tell another one. What is left then is
// the bare promise: each row is judged by what was committed at some moment
// between the statement's start and its end.
func (r *Replay) Loose() *Replay {
	r.AnyWait = true
	return r
}

// Patient tries twelve times as many sequences of choices before it gives up. It is
// for histories that are about to be called wrong.
func (r *Replay) Patient() *Replay {
	r.Persistent = true
	return r
}
