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

// Withhold leaves at most n steps, and returns how many it takes away for Return.
func (b *Budget) Withhold(n int) (taken int) {
	if b == nil {
		return 0
	}
	taken = max(b.left-n, 0)
	b.left -= taken
	return taken
}

// Return gives back what Withhold took.
func (b *Budget) Return(taken int) {
	if b != nil {
		b.left = max(b.left, 0) + taken
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
