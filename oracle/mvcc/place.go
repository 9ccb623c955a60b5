package mvcc

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// A server that is asked whether a statement waits also tells where: in which index,
// before or at which record. Then the place of the wait is no choice: a path on which
// the statement stops elsewhere is not the one that it took.
//
// A promise speaks of answers, not of the places of waits: where a server waits elsewhere
// than the rules have it, and answers right, nothing is wrong. So paths are looked for in
// two rounds, first those that keep to the places told, and only if none of them fits,
// all. What fits only then is no violation, but nothing vouches for it either.

// Round says which paths a replay tries whose engine LeavesPlaces.
type Round uint8

const (
	// BothRounds tries AsTold, and Anywhere if nothing fits.
	BothRounds Round = iota
	// AsTold keeps to the places of waiting that the server told.
	AsTold
	// Anywhere lets statements wait wherever the rules admit it.
	Anywhere
)

// In makes the replay try the paths of one round only.
func (r *Replay) In(round Round) *Replay {
	r.Trying = round
	return r
}

// Rounds returns the rounds that differ for a history.
func (r *Replay) Rounds() []Round {
	if !r.engine.LeavesPlaces() || !slices.ContainsFunc(r.History.Stmts, func(s history.Stmt) bool {
		return slices.ContainsFunc(s.Waits, func(w history.Wait) bool { return Legible(w.At) })
	}) {
		return []Round{Anywhere}
	}
	return []Round{AsTold, Anywhere}
}

// Legible tells whether a place says where a statement waits. A server does not print a
// record whose page is latched.
func Legible(at *history.Place) bool {
	return at != nil && (at.Kind != history.RecordLock || len(at.Fields) > 0)
}

// Elsewhere reports whether the path that the replay has found keeps to no places of
// waiting, although the server told some: with them none fits.
func (r *Replay) Elsewhere() bool { return r.AgainstPlaces }

// Place is where a server told that a statement waits.
type Place struct {
	At *history.Place
	// Table is nil if the case has none of that name; key is nil for the clustered index.
	Table     *solve.Table
	Key       *solve.Key
	Clustered *solve.Key
	// Exclusive tells a lock of mode X from one of mode S.
	Exclusive bool
}
