package history

// Facts is what a server told of a run beyond its answers. It is asked for on demand,
// because it costs several questions a statement.
type Facts struct {
	// Plans holds what EXPLAIN says as JSON, Traces the optimizer's trace of that, by
	// index into Stmts. The tables were as they were when the statement was sent, with
	// what nobody had committed. A statement that the server does not explain, or not
	// without waiting for a lock, has none.
	Plans  map[int]string `json:"plans,omitempty"`
	Traces map[int]string `json:"traces,omitempty"`
	// Holdings says what the transactions held after each statement was sent, as soon
	// as all that was sent had answered or waited: in order of time.
	Holdings []Holding `json:"holdings,omitempty"`
	// Untold says, in a sentence each, what the server cannot tell, or does not.
	Untold []string `json:"untold,omitempty"`
}

// Holding is what the transactions of a run held at one point.
type Holding struct {
	// After is the last event before.
	After Tick `json:"after"`
	// Locks holds the record and table locks of all sessions, where the server lists
	// them, in order of session, table, index and record.
	Locks []Lock `json:"locks,omitempty"`
	// Views holds the read views of the sessions that have one, where the server
	// prints them.
	Views []ReadView `json:"views,omitempty"`
	// Transactions holds InnoDB's id of the transaction of each session that has
	// written or locked something, by session: what read views speak of.
	Transactions map[int]uint64 `json:"transactions,omitempty"`
}

// Lock is a lock that a transaction holds or waits for.
type Lock struct {
	Session int  `json:"session"`
	Waits   bool `json:"waits,omitempty"`
	// Place is where; a lock on a table has no index.
	Place
}

// ReadView is a read view as InnoDB prints it: it shows what transactions with an id
// below Sees wrote, nothing of those from NotFrom on, and of those between what was
// committed when it was made.
type ReadView struct {
	Session int    `json:"session"`
	Sees    uint64 `json:"sees"`
	NotFrom uint64 `json:"not_from"`
}
