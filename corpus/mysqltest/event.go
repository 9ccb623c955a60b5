package mysqltest

import "github.com/txnfuzz/txnfuzz/corpus/foreign"

// outcome is what a file says of a statement.
type outcome uint8

const (
	unsaid outcome = iota
	succeeds
	fails
)

// event is something that a connection does.
type event struct {
	conn int
	// line is that of the file itself, also of what another file does that it reads.
	line int
	sql  string
	// sent says that mysqltest does not wait for the answer before it goes on; it has it before event `reaped`.
	sent   bool
	reaped int
	// expect is what the file says comes of it, and errors the names of the errors that it allows.
	expect outcome
	errors []string
	// ends says that it is no statement: the client is gone.
	ends bool
	// no, if set, says what happens here that no case can say.
	no *foreign.Refusal
}
