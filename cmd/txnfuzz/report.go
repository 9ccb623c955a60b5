package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/report"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
)

func newReport() *cobra.Command {
	var html, svg, target string
	var runFiles []string
	cmd := &cobra.Command{
		Use:   "report {DIR|FILE... | --runs DIR} --html FILE [flags]",
		Short: "Write findings, or a series of runs, as an HTML page",
		Long: `Writes one HTML page, which needs no other files, with all cases: for each a timeline
of its statements, the expected and the actual answer, the versions of the rows at the
wrong step, how it was reduced, and the command that reproduces it.

Findings are shown as they were recorded; with --target the cases are run again. A case
that has no record and is not run appears with its text only. --svg draws a single
case, for a bug tracker.

With --runs it writes another page: of all runs whose JSON files (run --json) lie in a
folder or below it. The page tells how the last run of each target ended, what it found
that no earlier one had, which entries of its baseline suppressed something or have
expired, its numbers from run to run, cases by level and kind, and all findings. A run is
compared with those of the same target. Files are told apart by what is in them: records
of findings and the like are passed over, and what is no file of txnfuzz is named, on the
page and here. Pages that lie beside the file of a run (of report, or of replay --html),
and the cases of findings below the folder, are linked to. A run of an older version lacks
some of this; the page says what is not recorded. The status is 2 if there is no run.`,
		Example: `  txnfuzz report out/found --html report.html
  txnfuzz report corpus/known --target mariadb:11.8 --html known.html
  txnfuzz report out/found/tidb-wrong-read-rr-0a1b2c3d.sql --svg case.svg
  txnfuzz report --runs nights --html nights/index.html`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(runFiles) > 0 && len(args) > 0:
				return usagef("cases and --runs exclude each other: they are two pages")
			case len(runFiles) > 0 && (svg != "" || target != ""):
				return usagef("--runs runs and draws no cases: it excludes --svg and --target")
			case len(runFiles) > 0 && html == "":
				return usagef("want --html FILE; see %s --help", cmd.CommandPath())
			case len(runFiles) > 0:
				return placesFor(html)
			case len(args) == 0:
				return usagef("want a folder or files of cases, or --runs DIR; see %s --help", cmd.CommandPath())
			case html == "" && svg == "":
				return usagef("want --html FILE or --svg FILE; see %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(runFiles) > 0 {
				return reportRuns(cmd, runFiles, html)
			}
			cases, err := casesOf(args, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if svg != "" && len(cases) != 1 {
				return usagef("--svg draws one case, found %d", len(cases))
			}
			items, err := itemsOf(cmd.Context(), cases, target, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if svg != "" {
				if items[0].History == nil {
					return usagef("%s: nothing was recorded; name a --target", cases[0].Path)
				}
				if err := writeOutput(svg, cmd.OutOrStdout(), func(w io.Writer) error { return report.SVG(w, timeline.Of(items[0].Run)) }); err != nil {
					return err
				}
			}
			return writeOutput(html, cmd.OutOrStdout(), func(w io.Writer) error {
				return report.Write(w, "txnfuzz: "+strings.Join(args, ", "), items)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&html, "html", "", "page to write; - is standard output")
	f.StringVar(&svg, "svg", "", "drawing to write")
	f.StringArrayVar(&runFiles, "runs", nil, "write a page of the runs whose JSON files lie in this folder or below it, or in this file; may be given several times")
	f.StringVar(&target, "target", "", "run the cases on this target, as for run; empty: as recorded")
	addServerOpts(cmd, oneTarget(&target))
	return cmd
}

// casesOf reads files, and folders without the folders below them that hold
// what did not reproduce.
func casesOf(paths []string, warnings io.Writer) ([]corpus.Stored, error) {
	var out []corpus.Stored
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, usagef("%w", err)
		}
		if !info.IsDir() {
			c, err := loadCase(p, warnings)
			if err != nil {
				return nil, err
			}
			out = append(out, corpus.Stored{Path: p, Case: c})
			continue
		}
		known := len(out)
		stored, err := corpus.LoadDir(p)
		if err != nil {
			return nil, err
		}
		for _, s := range stored {
			if filepath.Dir(s.Path) == filepath.Clean(p) {
				out = append(out, s)
			}
		}
		warn(warnings, headerDoubts(out[known:]))
	}
	return out, nil
}

// itemsOf takes each case's recorded run, or runs it where a target is named:
// then it gives one item for each level that shows something.
func itemsOf(ctx context.Context, cases []corpus.Stored, name string, progress io.Writer) ([]report.Item, error) {
	var out []report.Item
	if name == "" {
		for _, s := range cases {
			run, ok, err := findings.Recorded(s.Path, s.Case)
			if err != nil {
				return nil, err
			}
			if !ok {
				run = findings.Unrecorded(s.Path, s.Case)
			}
			out = append(out, item(run, s.Case))
		}
		return out, nil
	}
	t, err := target.Open(ctx, name, target.Options{Clean: true, Progress: progress})
	if err != nil {
		return nil, err
	}
	for _, s := range cases {
		for _, r := range findings.Replay(ctx, t, s.Path, s.Case, t.Levels()) {
			if r.Verdict == oracle.Known || r.Verdict == oracle.Violation || len(cases) == 1 {
				out = append(out, item(r.Run(), s.Case))
			}
		}
	}
	if err := errors.Join(ctx.Err(), t.Close()); err != nil {
		return nil, fmt.Errorf("run cases on %s: %w", t.Name, err)
	}
	return out, nil
}

func item(run timeline.Run, c *corpus.Case) report.Item {
	return report.Item{Run: run, Reproduced: findings.Reproduced(c)}
}
