package history

import (
	"fmt"
	"strings"
)

// ReplicaReads is what sessions on a replica read of the tables of a case while that ran on the primary, and which states
// the primary went through meanwhile. Ticks are those of the run: what has a tick up to From had come about before a read
// was sent, and what has one behind Until was sent after its answer had come in.
type ReplicaReads struct {
	Promise ReplicaPromise `json:"promise"`
	// Contents holds each content of all tables that was seen, once.
	Contents []Content `json:"contents"`
	// States are those in which the primary was seen, in their order; the first is that of History.Initial.
	States []PrimaryState `json:"states"`
	// Reads holds the reads of each session in their order. Of reads of a session that follow each other and give the same
	// there are the first and the last.
	Reads []ReplicaRead `json:"reads"`
	// Refused counts the reads that the replica answered with an error, such as that of a standby that must go on.
	Refused int `json:"refused,omitempty"`
}

// ReplicaPromise is what the manual says of what a replica shows.
type ReplicaPromise struct {
	// Form says how changes come to the replica.
	Form string `json:"form"`
	// Ordered says that the replica goes through states of its primary, and never back; else a transaction is there as a
	// whole or not at all, in no order. Fresh says that what was acknowledged before a read began is in it.
	Ordered bool `json:"ordered"`
	Fresh   bool `json:"fresh,omitempty"`
	// Says is the promise in words, Quote a sentence of the manual and Cite where that is.
	Says  string `json:"says"`
	Quote string `json:"quote"`
	Cite  string `json:"cite"`
}

// Content is the rows of some tables at one moment.
type Content []TableRows

// TableRows is the rows of one table as a person reads them, sorted.
type TableRows struct {
	Table string   `json:"table"`
	Rows  []string `json:"rows"`
}

// String prints a content for people, on one line: of many rows the first ones.
func (c Content) String() string {
	parts := make([]string, len(c))
	for i, t := range c {
		switch n := len(t.Rows); {
		case n == 0:
			parts[i] = t.Table + " is empty"
		case n > mostShown:
			parts[i] = fmt.Sprintf("%s: %s and %d more", t.Table, strings.Join(t.Rows[:mostShown], " "), n-mostShown)
		default:
			parts[i] = t.Table + ": " + strings.Join(t.Rows, " ")
		}
	}
	return strings.Join(parts, ", ")
}

// mostShown is more rows than a table of a case has that was not written for its number of rows.
const mostShown = 24

// PrimaryState is a state in which the primary was seen behind statements that may have committed something.
type PrimaryState struct {
	// Commits are the indexes into History.Stmts of the statements that may have committed something between the state
	// before and this one. Of several nobody saw what the primary held in between.
	Commits []int `json:"commits,omitempty"`
	// Begun is a tick before which none of them had committed.
	Begun Tick `json:"begun"`
	// Content is an index into ReplicaReads.Contents.
	Content int `json:"content"`
}

// ReplicaRead is one read of all tables, in one snapshot.
type ReplicaRead struct {
	// Session numbers those on the replica, from 1.
	Session int  `json:"session"`
	From    Tick `json:"from"`
	Until   Tick `json:"until"`
	// Content is an index into ReplicaReads.Contents.
	Content int `json:"content"`
}

// Silent says that a statement neither answered nor was seen to wait for a while, so that what came before what is not
// known.
func (h *History) Silent() bool {
	for i := range h.Stmts {
		for _, w := range h.Stmts[i].Waits {
			if w.Kind == Silence {
				return true
			}
		}
	}
	return false
}
