package history

import (
	"fmt"
	"strings"
)

// The shapes of a WrongRead.
const (
	ReadTorn    = "part-of-a-commit" // between two states, as if a part of what lies between were there
	ReadNoState = "no-state"         // no state of the primary
	ReadBack    = "goes-back"        // a state that lies before one that the session had read
	ReadEarly   = "early"            // a state that the primary came to by a statement that was not yet sent
	ReadStale   = "stale"            // a state before one that was acknowledged, where the manual promises a fresh one
)

// WrongRead is a read on a replica that the manual does not let it show.
type WrongRead struct {
	// Shape is one of the constants.
	Shape string `json:"shape"`
	// Session is the one on the replica, from 1. Read is what it read, and Before what it had read before; empty: that was
	// its first read.
	Session int    `json:"session"`
	Read    string `json:"read"`
	Before  string `json:"before,omitempty"`
	// States are those of the primary, in their order.
	States []string `json:"states"`
	// Promised is the promise in words.
	Promised string `json:"promised"`
}

// Expected says what the replica should show.
func (w *WrongRead) Expected() string {
	return "one of the states of the primary, as promised: " + strings.Join(w.States, "; ")
}

// Actual says what was read.
func (w *WrongRead) Actual() string {
	text := fmt.Sprintf("session %d on the replica reads %s", w.Session, w.Read)
	if w.Before != "" {
		text += ", and had read " + w.Before + " before"
	}
	return text + ": " + wrongReads[w.Shape]
}

var wrongReads = map[string]string{
	ReadTorn:    "part of what a transaction committed",
	ReadNoState: "no state of the primary",
	ReadBack:    "it goes back",
	ReadEarly:   "a state to which the primary had not come yet",
	ReadStale:   "what was acknowledged before is missing",
}
