// Package foresight guesses, without a server, whether a changed case would
// still show the known deviation that a run of it showed. The server stays the
// judge: a guess only orders what it is asked, or saves a question for later.
//
// A rule of the table says what a server does that deviates, so the answers of
// a case that was never run can be computed under it. What no rule can tell,
// who waits and for how long, is taken from the run of the case that the
// changed one was made of.
package foresight
