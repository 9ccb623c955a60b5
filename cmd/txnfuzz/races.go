package main

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/races"
)

// racesFlags are the flags of run that a search for races knows.
var racesFlags = []string{
	"races", "state", "target", "server-opt", "binary", "duration", "cases", "levels", "seed", "out", "baseline", "json", "reduce", "web", "help",
}

// runRaces is run --races. s holds what its flags say.
func runRaces(
	cmd *cobra.Command, ctx context.Context, s campaign.Settings, web *watched, state, jsonFile string, files []string,
) error {
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if wrong == nil && !slices.Contains(racesFlags, f.Name) {
			wrong = usagef("--races and --%s exclude each other", f.Name)
		}
	})
	if wrong != nil {
		return wrong
	}
	if err := placesFor(jsonFile); err != nil {
		return err
	}
	var given []*corpus.Case
	if len(files) > 0 {
		stored, err := loadCases(files, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		for _, s := range stored {
			if p := s.Case.Protocol(); !p.IsText() {
				return usagef("%s: its statements are sent by protocol %s, and one that is held is sent as text: want a case "+
					"without the line protocol in its header", s.Path, p)
			}
			given = append(given, s.Case)
		}
	}
	var live func(*races.Report)
	if web != nil {
		live = func(r *races.Report) { web.server.Show(racesBoard(&s, r)) }
	}
	report, err := races.Run(ctx, races.Settings{
		Live: live, Target: s.Target, Given: given, Levels: s.Levels, Cases: s.Cases, Duration: s.Duration, Seed: s.Seed, Out: s.Out,
		Baseline: s.Baseline, Reduce: s.Reduce, State: state, Progress: web.progress(os.Stderr), Every: pace(os.Stderr),
	})
	if report == nil {
		return err
	}
	status := exitCode(err)
	if report.Found() && err == nil {
		status = exitFound
	}
	report.End = campaign.NewEnd(status, campaign.FailAny, err, ctx.Err())
	err = errors.Join(err,
		report.WriteText(forPeople(jsonFile, cmd.OutOrStdout(), cmd.ErrOrStderr())),
		writeOutput(jsonFile, cmd.OutOrStdout(), report.WriteJSON))
	if report.Found() && err == nil {
		return errFound
	}
	return err
}
