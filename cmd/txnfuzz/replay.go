package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

func newReplay() *cobra.Command {
	var targets []string
	var levels, only, jsonFile, htmlFile, against, solver string
	var ci surfaces
	var sent sentBy
	cmd := &cobra.Command{
		Use:   "replay FILE|DIR... [flags]",
		Short: "Run saved cases again and print their verdicts",
		Long: `Runs each case on each target: at the level that its header names, else at each level
of --levels, else at every level that the target has. A case runs once. A finding that
does not show in every run (its header says, for example, reproduced: 9/10) is run
again in new databases until it shows, or until the chance that it was merely missed is
below 1 %. Several cases or targets are shown as a matrix. With --json each result is
written as it comes.

Cases that would show nothing elsewhere run on the target that their header names, unless
--target names another: those of several servers (target: mysql:9.7,replica=row), and those
that hold a statement inside of the server.

The verdict is on the server. If the header of a finding of txnfuzz workload holds an
invariant, replay also says whether the run broke it; this does not change the status.

With --against each case runs on a second target, too. The answers that differ are shown
side by side, with what they are put down to; see txnfuzz run --help. What nothing explains
is run ten more times on both, and gives status 1 if it shows in at least nine of them.

Reads cases of txnfuzz (.sql), and cases in the format in which Troc, DT2 and Fucci
publish theirs (.txt).

A program of txnfuzz load (.load) is run on its own target, unless --target names others:
until it shows its finding (status 1), or until the chance to miss that is below 1 % at
the rate that the program names (status 0).

Exit status: 0 nothing found; 1 a case shows a violation (a known deviation is none);
2 wrong usage, or nothing found but a file could not be read (the others run); 3 a case
could not be run, or one of its statements does not fit its tables (no such table or
column), and its header does not record that.
With --fail-on new the status is 1 only for a violation that the case's header does not
record for the target and level, or for a known deviation where the header records
another verdict.`,
		Example: `  txnfuzz replay corpus/known
  txnfuzz replay corpus/known --target all --html matrix.html
  txnfuzz replay corpus/known/tidb-33315.sql --target mysql:9.7 --target mariadb:11.8
  txnfuzz replay corpus/known/maria-34108.sql --target mysql:9.7 --against mariadb:11.8
  txnfuzz replay corpus/known --target mysql:9.7 --protocol prepare
  txnfuzz replay corpus/found --only '^tidb-' --levels RC,RR --json -`,
		Args: wantCases,
		RunE: func(cmd *cobra.Command, args []string) error {
			if programs, err := programsAmong(args); programs || err != nil {
				if err != nil {
					return err
				}
				return runReplayPrograms(cmd, args, targets, jsonFile)
			}
			asked, err := target.ParseLevels(levels)
			if err != nil {
				return usagef("--levels: %w", err)
			}
			by, err := target.ParseSolver(solver)
			if err != nil {
				return usagef("--solver: %w", err)
			}
			failOn, err := ci.failOn()
			if err != nil {
				return err
			}
			machines, err := ci.onStdout(jsonFile)
			if err != nil {
				return err
			}
			if err := placesFor(jsonFile, htmlFile, ci.junit, ci.sarif); err != nil {
				return err
			}
			cases, unread, err := chosenCases(args, only, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			for _, e := range unread {
				fmt.Fprintln(cmd.ErrOrStderr(), "txnfuzz: not run: "+e.Error())
			}
			if !cmd.Flags().Changed("target") {
				targets = theirOwn(cases, targets)
			}
			for i := range cases {
				cases[i].Case = sent.override(cases[i].Case)
			}
			tellOwnLevels(cmd.ErrOrStderr(), cases, asked)
			begun := time.Now()
			list := &jsonList{path: jsonFile, stdout: cmd.OutOrStdout()}
			results, failed := replayAll(cmd, expanded(cmd.Context(), targets), against, by, cases, asked, list.add)
			if exitCode(failed) == exitUsage && len(results) == 0 {
				return failed
			}
			failed = errors.Join(failed, list.close(), ci.writeReplay(cmd, results, failOn, failed))
			if len(results) == 0 && failed != nil {
				return failed
			}
			people := forPeople(machines, cmd.OutOrStdout(), cmd.ErrOrStderr())
			matrix := telling.NewMatrix(results)
			failed = errors.Join(failed, writeReplay(people, matrix, results, time.Since(begun)),
				writeOutput(htmlFile, cmd.OutOrStdout(), func(w io.Writer) error { return matrix.WriteHTML(w, cases) }))
			return withUnread(replayStatus(cmd.ErrOrStderr(), results, failOn, failed), unread)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&targets, "target", []string{target.Default},
		"as for run, or all for all that are available here; may be given several times. Without it, cases of a replica or "+
			"cluster, and those that hold a statement, run on the target that their header names")
	addServerOpts(cmd, eachTarget(&targets))
	addAllowKill(cmd.Flags())
	addPromise(cmd.Flags())
	f.StringVar(&against, "against", "", "a second target: each case runs there, too, and what the two do differently is shown side by side")
	f.StringVar(&levels, "levels", "", "isolation levels for cases that name none (default: all that the target has)")
	f.StringVar(&only, "only", "", "run only the cases whose file name matches this regular expression")
	addProtocol(f, &sent, recordedProtocolUsage)
	f.StringVar(&solver, "solver", "both", solverUsage)
	f.StringVar(&jsonFile, "json", "", "write the verdicts as a JSON list; - is standard output")
	ci.add(f)
	f.StringVar(&htmlFile, "html", "", "write the matrix and the cases as one HTML page")
	return cmd
}

const solverUsage = "who computes what statements answer on the rows that they see: model (the oracle's own solver; SQL that it does not know is not judged), server (the tested server, asked alone; slow; where the solver's verdict is another one, the case is told as solver-disagreement), or both (the solver, and the server where that does not know)"

func wantCases(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("want a file or a folder of cases; see %s --help", cmd.CommandPath())
	}
	return nil
}

// theirOwn returns the target that all cases name in their header if none of them would show elsewhere what it was stored
// for: that target is several servers, or each case holds a statement inside of the server.
func theirOwn(cases []corpus.Stored, otherwise []string) []string {
	home := findings.Home(cases[0].Case)
	for _, s := range cases {
		if held, _ := s.Case.Held(); findings.Home(s.Case) != home || held < 0 && !target.OfSeveral(home) {
			return otherwise
		}
	}
	return []string{home}
}

// expanded replaces "all" by the targets to be had here.
func expanded(ctx context.Context, names []string) []string {
	var out []string
	for _, name := range names {
		more := []string{name}
		if name == target.All {
			more = target.Installed(ctx)
		}
		for _, n := range more {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// withUnread turns the error of a replay that has nothing else to tell into wrong
// usage if some files could not be read. Those have been named already.
func withUnread(err error, unread []error) error {
	if len(unread) == 0 || err != nil && !errors.Is(err, campaign.ErrNothingJudged) {
		return err
	}
	if len(unread) == 1 {
		return usagef("a file could not be read and was not run")
	}
	return usagef("%d files could not be read and were not run", len(unread))
}

func chosenCases(paths []string, only string, warnings io.Writer) ([]corpus.Stored, []error, error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return nil, nil, usagef("--only: %w", err)
	}
	cases, unread, err := loadReadable(paths, warnings)
	if err != nil {
		return nil, nil, err
	}
	all := len(cases)
	cases = slices.DeleteFunc(cases, func(s corpus.Stored) bool { return !pattern.MatchString(filepath.Base(s.Path)) })
	if len(cases) == 0 {
		return nil, nil, usagef("--only %s matches none of %d cases", only, all)
	}
	return cases, unread, nil
}

// replayAll runs the cases on one target after the other: two servers at a time
// would only make each other slow. A target that cannot be had does not keep the
// others from being tried.
func replayAll(cmd *cobra.Command, targets []string, against string, by judging.Solver, cases []corpus.Stored, levels []corpus.Level, told func([]findings.Replayed) error) ([]findings.Replayed, error) {
	meter := newMeter(cmd.ErrOrStderr(), len(targets))
	defer meter.stop()
	var out []findings.Replayed
	var failed error
	var other *target.Target
	if against != "" {
		var err error
		if other, err = target.OpenAgainst(cmd.Context(), against, target.Options{Clean: true, Solver: by, Progress: meter.log()}); err != nil {
			return nil, err
		}
		defer func() { // nothing is written through it any more
			if err := other.Close(); err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "txnfuzz: close target %s: %v\n", other.Name, err)
			}
		}()
	}
	for _, name := range targets {
		r, err := replayOn(cmd.Context(), name, other, by, cases, levels, meter, told)
		out = append(out, r...)
		failed = errors.Join(failed, err)
		if cmd.Context().Err() != nil {
			break
		}
	}
	return out, failed
}

func replayOn(ctx context.Context, name string, other *target.Target, by judging.Solver, cases []corpus.Stored, levels []corpus.Level, meter *meter, told func([]findings.Replayed) error) ([]findings.Replayed, error) {
	t, err := target.Open(ctx, name, target.Options{Clean: true, Solver: by, Progress: meter.log()})
	if err != nil {
		return nil, err
	}
	t.GivesUpWith(ctx)
	if len(levels) == 0 {
		levels = t.Levels()
	}
	begin := meter.begin(t.Name, len(cases))
	var out []findings.Replayed
	var failed error
	for _, s := range cases {
		if ctx.Err() != nil || failed != nil {
			break
		}
		results := findings.Replay(ctx, t, s.Path, s.Case, levels)
		for i := range results {
			if other != nil && ctx.Err() == nil {
				findings.ReplayAgainst(ctx, t, other, &results[i])
			}
		}
		out = append(out, results...)
		failed = told(results)
		begin.step(len(out))
	}
	begin.end()
	if err := t.Close(); err != nil {
		failed = errors.Join(failed, fmt.Errorf("close target %s: %w", t.Name, err))
	}
	return out, errors.Join(failed, ctx.Err())
}

// writeReplay shows a single case on a single target in full, more as a matrix.
func writeReplay(w io.Writer, m *telling.Matrix, results []findings.Replayed, took time.Duration) error {
	if len(m.Files) == 1 && len(m.Targets) == 1 {
		return errors.Join(telling.WriteReplayText(w, results), telling.WriteAgainst(w, results))
	}
	if err := m.WriteText(w, isTerminal(w)); err != nil {
		return err
	}
	if err := errors.Join(telling.WriteInvariants(w, results), telling.WriteAgainst(w, results)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s. %.1f s, %.0f runs a second, servers' starts included.\n", m.Summary(), took.Seconds(), float64(m.Runs)/took.Seconds())
	return err
}

// replayStatus turns verdicts into the error that ends the command. A replay
// in which nothing got a verdict is a failure, never a pass; so is one with a
// case that could not be run, if its header does not say so, be it by naming a
// server of another dialect.
func replayStatus(stderr io.Writer, results []findings.Replayed, failOn campaign.FailOn, failed error) error {
	judged, found := 0, 0
	for i := range results {
		r := &results[i]
		if r.Verdict != oracle.Unknown {
			judged++
		}
		if failOn.Replayed(r) {
			found++
		}
		if r.NotRun() && r.Recorded != r.Verdictline() && !r.Foreign() {
			failed = errors.Join(failed, fmt.Errorf("%s on %s at %s could not be run: %s: %s", r.File, r.Target, r.Level, r.Reason, r.Actual))
		}
	}
	switch {
	case found > 0 && unwritten(failed):
		return failed
	case found > 0 && failed != nil:
		fmt.Fprintln(stderr, "txnfuzz: "+failed.Error())
		return errFound
	case found > 0:
		return errFound
	case failed != nil:
		return failed
	case judged == 0:
		return campaign.ErrNothingJudged
	}
	return nil
}
