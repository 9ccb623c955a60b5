package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/races"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
)

// Exit statuses, a fixed contract. Any error that is none of the types below
// is a failure of the harness or the server.
const (
	exitClean   = 0
	exitFound   = 1
	exitUsage   = 2
	exitFailure = 3
)

// errFound ends a command that found something and has already told so.
var errFound = errors.New("")

// usageError is a mistake on the command line or in a file given there.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	var (
		usage    *usageError
		parse    *corpus.ParseError
		baseline *findings.BaselineError
		level    *target.LevelError
		noTarget *target.Error
		resume   *campaign.ResumeError
		state    *races.StateError
		unheld   *harness.UnheldError
	)
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, errFound):
		return exitFound
	case errors.As(err, &usage), errors.As(err, &parse), errors.As(err, &baseline), errors.As(err, &level), errors.As(err, &noTarget), errors.As(err, &resume), errors.As(err, &state), errors.As(err, &unheld):
		return exitUsage
	}
	return exitFailure
}

// unwritten says that a file could not be written: what was found may not be where
// status 1 says that it is.
func unwritten(err error) bool {
	var file *wholefile.Error
	return errors.As(err, &file) || errors.Is(err, syscall.ENOSPC)
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	return usagef("unknown command or argument %q%s; see %s --help", args[0], spelling.Hint(args[0], known), cmd.CommandPath())
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("want %s; see %s --help", what, cmd.CommandPath())
		}
		return nil
	}
}
