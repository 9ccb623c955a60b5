package promise

import (
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// Ruling is what the judge says of a history.
type Ruling struct {
	// Broken says that the promise is. Unjudged, if not empty, says why nothing is claimed of what
	// comes behind Judged. Neither: the promise holds.
	Broken   bool
	Unjudged string
	// Kind names what is broken in the field's terms, Stmt is the index into History.Stmts of the
	// statement that shows it, -1 for the final state.
	Kind             string
	Stmt             int
	Expected, Actual string
	Reason           string
	// Promise is the one that the statement's transaction had.
	Promise Promise
	// Met says that a statement waited, or failed because of another transaction.
	Met bool
	// Dependencies are those of a history of PostgreSQL that is not serializable; nil where they cannot be told.
	Dependencies *mvcc.Dependencies
	// ButForKeys says of such a history that the dependencies tell all of it, and have no cycle without those by which
	// PostgreSQL looks up keys, checks foreign keys and carries out cascades.
	ButForKeys bool
	// Statements counts those that read or write, Judged those that were held against what they
	// answer alone. Solos counts the questions.
	Statements, Judged, Solos int
}

// Scratch answers what statements of a case do alone. An error says that nobody can.
type Scratch func(*history.Solo) (*history.SoloAnswer, error)

// NotSerializable is what is broken where no serial order gives what was seen.
const NotSerializable = "not-serializable"

// The kinds of what is broken that no other judge has.
const (
	// Orphan is a row that refers to one that is not there.
	Orphan = "orphan"
	// Torn is the answer of a plain query that has the effect of a commit and lacks that of one before it.
	Torn = "torn-snapshot"
	// DuplicateKey is two rows with the same values of a unique key.
	DuplicateKey = "duplicate-key"
	// BrokenCheck is a row that a CHECK refuses.
	BrokenCheck = "broken-check"
	// disagreement is a table that holds other rows by one index than by another.
	disagreement = "index-disagreement"
)
