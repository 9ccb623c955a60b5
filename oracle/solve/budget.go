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

// errSpent is the loss of a query that needs more steps than are left.
var errSpent = unsupported("a query of more rows than the oracle's budget of work")
