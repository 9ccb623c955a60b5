package against

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Side is what one of the two servers did with a case.
type Side struct {
	// Name is what the user calls the server.
	Name   string
	Server history.Server
	// History is nil where the case could not be run; the verdict says why.
	History *history.History
	Verdict oracle.Verdict
}

// Kind says in what two servers differ.
type Kind string

const (
	// Rows: a statement returned other rows; their order is not looked at.
	Rows Kind = "rows"
	// Error: a statement failed on one server, or with another error.
	Error Kind = "error"
	// Count: it matched, changed or affected another number of rows.
	Count Kind = "count"
	// Warnings: it gave another number of warnings, and else the same.
	Warnings Kind = "warnings"
	// Wait: it waited on one server only, or another session went on first. What
	// follows is not compared.
	Wait Kind = "wait"
	// Start: the set-up left other rows. What follows is not compared.
	Start Kind = "start"
	// Final: a table holds other rows in the end.
	Final Kind = "final"
	// Run: the case ran on one server only, or broke off there.
	Run Kind = "run"
	// Judged: nothing else differs, but the second server was wrong to do so.
	Judged Kind = "verdict"
)

// Attribution says what a difference is put down to.
type Attribution string

const (
	// Unattributed: nothing that is known of the servers explains it.
	Unattributed Attribution = "unattributed"
	// Rule: a rule that holds on one of the servers only, or a setting that decides
	// which one holds.
	Rule Attribution = "rule"
	// ErrorCode: the servers have different numbers for the same error.
	ErrorCode Attribution = "error-code"
	// Dialect: SQL or values that the servers spell, store or count differently.
	Dialect Attribution = "dialect"
	// BothRight: each server did what it promises, which leaves it a choice.
	BothRight Attribution = "both-right"
	// Reported: the first server was wrong, which is a finding of its own.
	Reported Attribution = "reported"
)

// Difference is one of them.
type Difference struct {
	Kind Kind
	// Stmt is the index into the statements of both histories; -1: none.
	Stmt int
	// Statement is its kind, "" for none; Level that of its session.
	Statement stmt.Kind
	Level     corpus.Level
	// First and Second are the answers, each on one line.
	First, Second string
	Attribution   Attribution
	// Reason is a sentence, with what the attribution rests on; Link leads to more.
	Reason, Link string
	// Follows says that it follows from an earlier difference, whose attribution it has.
	Follows bool

	// codes are the errors among the two answers, 0 for none.
	codes [2]uint16
}

// Comparison is what came of two runs.
type Comparison struct {
	// Statements counts those whose answers were compared.
	Statements int
	// Apart is the index of the statement at which the waits differ, from which on
	// nothing is compared; -1: they do not.
	Apart       int
	Differences []Difference
}

// Compare compares two runs of a case.
func Compare(c *corpus.Case, first, second *Side) Comparison {
	p := newPair(c, first, second)
	p.compare()
	for i := range p.out.Differences {
		p.attribute(i)
	}
	return p.out
}

// Unattributed returns the first difference that nothing explains, nil for none.
func (c *Comparison) Unattributed() *Difference {
	for i := range c.Differences {
		if c.Differences[i].Attribution == Unattributed {
			return &c.Differences[i]
		}
	}
	return nil
}

// Fingerprint is the same for differences that look like one. It does not depend on
// names and constants.
func (d *Difference) Fingerprint(first, second history.Server) string {
	what := "the case"
	if d.Statement != "" {
		what = string(d.Statement)
	}
	level := ""
	if d.Level != 0 {
		level = d.Level.Short()
	}
	return fmt.Sprintf("differs-%s/%s/%s: %s, against %s: %s", d.Kind, level, what, shape(d.First), second.DBMS, shape(d.Second))
}
