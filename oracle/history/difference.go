package history

// Difference is an answer, a wait or a delivery that is not as a judge expects.
type Difference struct {
	// Stmt is an index into History.Stmts.
	Stmt int
	// Kind is one of the kinds of violations. Expected and Actual are one line each, Reason is a sentence.
	Kind, Expected, Actual, Reason string
}
