package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz"
	"github.com/txnfuzz/txnfuzz/oracle"
)

func newReplay() *cobra.Command {
	var targets []string
	var levels, jsonFile string
	cmd := &cobra.Command{
		Use:   "replay FILE|DIR... [flags]",
		Short: "Run saved cases and tell their verdicts",
		Long: `Runs each case once: at the level that its header names, or at each level asked
for, or at every level that the target has.

Status 1 says that a case violates what the target promises; a known deviation
does not.`,
		Example: `  txnfuzz replay corpus/known
  txnfuzz replay corpus/known/tidb-33315.sql --target mysql:9.7 --target mariadb:11.8
  txnfuzz replay corpus/found --levels RC,RR --json -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("want a file or a folder of cases; see %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := fuzz.ParseLevels(levels)
			if err != nil {
				return usagef("--levels: %w", err)
			}
			cases, err := loadCases(args)
			if err != nil {
				return err
			}
			var results []fuzz.Replayed
			var failed error
			for _, name := range targets {
				r, err := replayOn(cmd.Context(), name, cases, asked, cmd.ErrOrStderr())
				results = append(results, r...)
				failed = errors.Join(failed, err)
			}
			if len(results) == 0 && failed != nil {
				return failed
			}
			text := forPeople(jsonFile, cmd.OutOrStdout(), cmd.ErrOrStderr())
			failed = errors.Join(failed,
				fuzz.WriteReplayText(text, results),
				writeOutput(jsonFile, cmd.OutOrStdout(), func(w io.Writer) error { return fuzz.WriteReplayJSON(w, results) }))
			return replayStatus(results, failed)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&targets, "target", []string{fuzz.DefaultTarget}, "as for run; may be given several times")
	f.StringVar(&levels, "levels", "", "isolation levels for cases that name none (default: all that the target has)")
	f.StringVar(&jsonFile, "json", "", "write the verdicts as a JSON list; - is standard output")
	return cmd
}

// loadCases reads files and folders in the order given.
func loadCases(paths []string) ([]corpus.Stored, error) {
	var out []corpus.Stored
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, usagef("%w", err)
		}
		if info.IsDir() {
			stored, err := corpus.LoadDir(p)
			if err != nil {
				return nil, err
			}
			if len(stored) == 0 {
				return nil, usagef("%s holds no case (a file that ends in %s)", p, corpus.Ext)
			}
			out = append(out, stored...)
			continue
		}
		c, err := corpus.Load(p)
		if err != nil {
			return nil, err
		}
		out = append(out, corpus.Stored{Path: p, Case: c})
	}
	return out, nil
}

func replayOn(ctx context.Context, name string, cases []corpus.Stored, levels []corpus.Level, progress io.Writer) ([]fuzz.Replayed, error) {
	t, err := fuzz.OpenTarget(ctx, name, fuzz.TargetOptions{Progress: progress})
	if err != nil {
		return nil, err
	}
	if len(levels) == 0 {
		levels = t.Levels()
	}
	var out []fuzz.Replayed
	for _, s := range cases {
		out = append(out, t.Replay(ctx, s.Path, s.Case, levels)...)
	}
	if err := t.Close(); err != nil {
		return out, fmt.Errorf("close target %s: %w", t.Name, err)
	}
	return out, ctx.Err()
}

// replayStatus turns verdicts into the error that ends the command. A replay
// in which nothing got a verdict is a failure, never a pass.
func replayStatus(results []fuzz.Replayed, failed error) error {
	judged := 0
	for i := range results {
		switch results[i].Verdict {
		case oracle.Violation:
			if failed != nil {
				fmt.Fprintln(os.Stderr, "txnfuzz: "+failed.Error())
			}
			return errFound
		case oracle.OK, oracle.Known:
			judged++
		}
	}
	if failed != nil {
		return failed
	}
	if judged == 0 {
		return fuzz.ErrNothingJudged
	}
	return nil
}
