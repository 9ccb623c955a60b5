package judging

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Request is what a judging wants next: one of *Compute, *Ask, *Solo, *Single, *Rerun and *AtDefaults. Its second
// half is filled in by who answers.
type Request interface{ request() }

// Compute has the server answer questions in the case's own tables, and the answers put into a history, settled with
// those that are there.
type Compute struct {
	Questions map[string]history.Question
	Into      *history.History
	// Again asks in the other orders and without indexes, rather than in the tables as they are.
	Again bool

	// Done says that the server could be asked.
	Done bool
}

// Ask has the server answer questions together, in empty tables of their own.
type Ask struct {
	Questions map[string]history.Question

	Answers map[string]*history.Answer
	// Err says that they cannot be asked so.
	Err error
}

// Solo has the server run statements alone on given rows.
type Solo struct {
	Question *history.Solo

	Answer *history.SoloAnswer
	Err    error
}

// Single has a case of one statement run in a new database.
type Single struct {
	Case *corpus.Case
	// Session is the one that sends it, Level that session's.
	Session int
	Level   corpus.Level

	// History is nil if it could not be run.
	History *history.History
}

// Rerun has the case run once more, and judged up to the state of the promise.
type Rerun struct {
	// Verdict is nil if there is no time for it.
	Verdict *oracle.Verdict
}

// AtDefaults has the case run on a server with the vendor's values of some settings, and judged.
type AtDefaults struct {
	Names []string

	// Verdict is nil if there is no time for it, or no such server: Err says why.
	Verdict *oracle.Verdict
	Err     error
}

func (*Compute) request()    {}
func (*Ask) request()        {}
func (*Solo) request()       {}
func (*Single) request()     {}
func (*Rerun) request()      {}
func (*AtDefaults) request() {}
