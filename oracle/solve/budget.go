package solve

// Budget bounds the work that goes into one verdict. It counts steps, never time,
// so that a verdict repeats. The zero Budget is spent.
type Budget struct{ left int }

// NewBudget returns a budget of n steps.
func NewBudget(n int) *Budget { return &Budget{n} }

// Spend takes n steps and reports whether they were left. A nil Budget has no end.
func (b *Budget) Spend(n int) bool {
	if b == nil {
		return true
	}
	b.left -= n
	return b.left >= 0
}

// Limit leaves at most n steps.
func (b *Budget) Limit(n int) {
	if b != nil {
		b.left = min(b.left, n)
	}
}

// Left returns how many steps are left, less than 0 where more were asked for. A nil
// Budget has 0.
func (b *Budget) Left() int {
	if b == nil {
		return 0
	}
	return b.left
}

// Repeat takes the n steps of work that was done before and whose result is known,
// if they are left, so that a verdict costs the same with and without what is known.
func (b *Budget) Repeat(n int) bool {
	if b == nil {
		return true
	}
	if b.left < n {
		return false
	}
	b.left -= n
	return true
}

// errSpent is the loss of a query that needs more steps than are left.
var errSpent = unsupported("a query of more rows than the oracle's budget of work")
