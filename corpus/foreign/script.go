package foreign

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Words is whose SQL a script is written in.
type Words uint8

// The servers whose words are known.
const (
	PostgreSQL Words = iota
	MySQL
)

// Block is SQL that one session sends at once. On PostgreSQL, outside of a transaction, several statements of one block
// are one transaction.
type Block struct {
	// Session counts from 1.
	Session int
	SQL     string
	// Note is what the case says behind each of its lines, for people.
	Note string
}

// Script is what several sessions send, in order.
type Script struct {
	// Path names the script for people and for the name of the case's file: the file, # and a number.
	Path string
	// Header holds the header lines of the case besides `level`.
	Header []corpus.Field
	// SetUp holds the SQL that makes tables and rows.
	SetUp  []string
	Blocks []Block
}

// Refusal says why a script is no case.
type Refusal struct {
	// From is the script's path.
	From string
	// Reason is the same for all scripts that are refused for the same cause; Detail holds the statement.
	Reason, Detail string
}

func (r *Refusal) String() string { return r.From + ": " + r.Reason + ": " + r.Detail }

func refuse(s statement, format string, args ...any) *Refusal {
	return &Refusal{Reason: fmt.Sprintf(format, args...), Detail: s.text()}
}

// Read is what a file of scripts holds: the cases made of them, and what was refused.
type Read struct {
	Cases   []corpus.Stored
	Refused []*Refusal
}

// Add makes a case of a script, or keeps the refusal.
func (r *Read) Add(w Words, s *Script) {
	c, no := w.Case(s)
	if no != nil {
		r.Refused = append(r.Refused, no)
		return
	}
	r.Cases = append(r.Cases, corpus.Stored{Path: s.Path, Case: c})
}
