package isolationspec

// Spec is one file.
type Spec struct {
	// SetUp holds the blocks of SQL that run before each permutation.
	SetUp        []string
	Sessions     []Session
	Permutations []Permutation
}

// Session is one connection. SetUp runs before the steps of a permutation, and TearDown behind them; both may be empty.
type Session struct {
	Name            string
	SetUp, TearDown string
	Steps           []Step
}

// Step is SQL that is sent at once.
type Step struct{ Name, SQL string }

// Permutation is an order of steps.
type Permutation []Launch

// Launch is a step of a permutation. Session and Step count from 0.
type Launch struct {
	Name          string
	Session, Step int
	// Markers say when the tester tells that the step is over. They do not change what is sent.
	Markers []string
}
