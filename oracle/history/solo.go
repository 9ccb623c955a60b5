package history

import (
	"fmt"
	"strings"
)

// Solo is a question to the server: what do some statements of a case answer, run one by one as
// one session on these rows with nothing else going on, and what do the tables hold behind them?
type Solo struct {
	// Tables holds every table of the case with its rows.
	Tables []Table `json:"tables"`
	// Before holds the session's SET statements that come first, and Steps the statements, as
	// indexes into Case.Steps.
	Before []int `json:"before,omitempty"`
	Steps  []int `json:"steps"`
	// InTxn says that a transaction is open: After is what it sees, and it is rolled back. Else each
	// statement commits itself, or, if there are several, all do at once.
	InTxn bool `json:"in_txn,omitempty"`
	// IDs says, by index into Steps, which AUTO_INCREMENT value a statement is to begin with;
	// 0, or none: its own. The counter is no part of the rows.
	IDs map[int]int64 `json:"ids,omitempty"`
}

// Key is the same for equal questions about one case, whatever the order of rows.
func (q *Solo) Key() string {
	var b strings.Builder
	fmt.Fprintln(&b, q.Before, q.Steps, q.IDs, q.InTxn)
	return keyOf(&b, q.Tables)
}

// SoloAnswer is what the server said to a Solo: the answers to its Steps, and the tables behind.
type SoloAnswer struct {
	Results []Result `json:"results"`
	After   []Table  `json:"after"`
	// Several holds the indexes into Results of PostgreSQL's UPDATE … FROM and DELETE … USING … RETURNING that find a
	// row together with several rows of other tables, or of which this is not known: which of them counts is open.
	Several []int `json:"several,omitempty"`
	// Open says why this settles nothing, for example that the rows could not be laid out.
	Open string `json:"open,omitempty"`
	// Refused is the error with which the server refused to lay out the rows, nil if it did not.
	Refused *Error `json:"refused,omitempty"`
}
