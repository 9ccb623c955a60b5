package reduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/foresight"
)

var (
	// ErrNotReproduced says that the case given did not show the bug, in any
	// of its runs.
	ErrNotReproduced = errors.New("the case does not show the bug")
	// ErrRejected is for Try to wrap: the server cannot run this candidate, for
	// example because its set-up fails. Any other error ends the reduction.
	ErrRejected = errors.New("the case cannot be run")
)

// Options says what to reduce by and how.
type Options struct {
	// Try runs a case and judges it. It must not change the case, whose trees
	// other candidates share. An error that does not wrap ErrRejected means
	// that nothing can be tried any more.
	Try func(context.Context, *corpus.Case) (oracle.Verdict, error)
	// Want is the verdict to keep; a zero one is taken from the first run of
	// the case.
	Want oracle.Verdict
	// Same reports whether a verdict shows the bug; nil: its fingerprint is
	// that of Want and not empty.
	Same func(oracle.Verdict) bool
	// Foresee, if not nil, guesses without a run whether a case would show the
	// bug. What it says decides what is tried first, never what is kept, and the
	// closing pass does not ask it.
	Foresee func(*corpus.Case) foresight.Guess

	Strategy Strategy
	// Seed makes the choices of the strategy. Equal options and equal answers
	// of Try give an equal result.
	Seed uint64
	// Budget is the largest number of candidates to try; 0: no limit.
	Budget int
	// Repeats is how often a candidate runs before it counts as free of the
	// bug; less than 2: once. For bugs that do not show each time.
	Repeats int
	// Experience, if not nil, is read at the start and added to at the end.
	Experience *Experience
	// Progress, if not nil, is called after each attempt.
	Progress func(Step)
}

// Step is one attempt.
type Step struct {
	// Attempt counts from 1; the check of the case itself is 1.
	Attempt int    `json:"attempt"`
	Layer   string `json:"layer,omitempty"`
	Arm     string `json:"arm,omitempty"`
	// Kept says that the candidate shows the bug and became the best case.
	Kept bool `json:"kept"`
	// Size and Characters are those of the best case after the attempt.
	Size       Size `json:"size"`
	Characters int  `json:"characters"`
}

// Count is attempts and how many of them made the case smaller.
type Count struct {
	Name     string `json:"name"`
	Attempts int    `json:"attempts"`
	Useful   int    `json:"useful"`
	// Closing and ClosingUseful are those of them that the closing pass made:
	// most of these fail, since their failure is what proves a result minimal.
	Closing       int `json:"closing"`
	ClosingUseful int `json:"closing_useful"`
}

// Result is a reduced case and how it came about.
type Result struct {
	// Case is the smallest case found that shows the bug. It has the header of
	// the original, less notes on what the original's statements returned, and
	// comments only if nothing was reduced.
	Case *corpus.Case
	// Verdict is what Try said of Case, Fingerprint its fingerprint.
	Verdict     oracle.Verdict
	Fingerprint string

	Before, After Size
	// CharactersBefore and CharactersAfter count the text of the statements.
	CharactersBefore, CharactersAfter int

	// Attempts counts candidates that ran, Runs their runs, Useful those that
	// were kept, Cached those not run because their text had been tried.
	Attempts, Runs, Useful, Cached int
	// PerLayer and PerArm split Attempts and Useful, without the first check.
	PerLayer, PerArm []Count
	Trace            []Step

	// Complete says that the reduction ended by itself, and was not cut off by
	// the budget, the context or an error.
	Complete bool
	// Minimal says that no single operation makes a smaller case that shows
	// the bug. Never set with Repeats above 1: a bug that shows by chance may
	// have been missed.
	Minimal bool
}

// Reduce returns the smallest case that it can find with the bug of c. When
// the context or the budget ends first, the result is the best case so far
// and not Complete; when Try fails, the same with the error. The result always
// has a Case.
func Reduce(ctx context.Context, c *corpus.Case, o Options) (Result, error) {
	result := Result{Case: c.Clone()}
	if o.Try == nil {
		return result, errors.New("reduce: Options.Try is nil")
	}
	start, err := newDraft(newLibrary(), c)
	if err != nil {
		return result, fmt.Errorf("reduce: %w", err)
	}
	r := &reducer{
		ctx: ctx, o: o, result: &result,
		best: start, header: c.Header, allowed: start.faults(),
		tried:  map[string]bool{start.text(): true},
		bandit: newBandit(o.Strategy, o.Seed, o.Experience.copy()),
	}
	result.Before, result.CharactersBefore = start.measure(), start.chars()
	err = r.run()
	r.finish(start)
	return result, err
}
