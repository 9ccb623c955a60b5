package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/export"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
)

func newExport() *cobra.Command {
	var format, as, target, levels, out string
	cmd := &cobra.Command{
		Use:   "export FILE --format FORMAT [flags]",
		Short: "Write a case as a bug report or a regression test",
		Long: `Writes a case with what was promised and what the server answered instead, as

` + export.About() + `

A finding is written as it was recorded. With --target, or if nothing was recorded,
the case is run again. The .result and .opt files of mtr are written beside --out.

An exported test expects what is promised: it fails as long as the bug is there, and
is skipped on servers with other settings. With --as demo it expects what the server
answered, and passes as long as the bug is there.`,
		Example: `  txnfuzz export corpus/found/tidb-no-op-update-unseen.sql --format markdown
  txnfuzz export corpus/known/mysql-104833.sql --target mysql --levels RC --format mtr --out t/semi_consistent.test`,
		Args: exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(export.Formats(), format) {
				return usagef("--format: unknown format %q%s; want one of %s", format, spelling.Hint(format, export.Formats()), strings.Join(export.Formats(), ", "))
			}
			if !slices.Contains(export.Kinds(), as) {
				return usagef("--as: want one of %s, found %q", strings.Join(export.Kinds(), ", "), as)
			}
			run, err := runOf(cmd.Context(), args[0], target, levels, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if run.History == nil {
				return fmt.Errorf("%s could not be run: %s: %s", args[0], run.Verdict.Reason, run.Verdict.Actual)
			}
			files, err := export.Write(timeline.Of(run), format, export.As(as))
			if err != nil {
				// Nothing failed: the format cannot hold this case.
				return &usageError{err}
			}
			switch v := &run.Verdict; {
			case !export.Reports(format) || v.Outcome == oracle.Violation:
			case v.Outcome == oracle.Known:
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s is known, and need not be reported again: %s\n",
					args[0], v.Kind, strings.Join(v.Rules, ", "))
			default:
				return fmt.Errorf("nothing to report: %s is %s here%s (--format two-terminals writes its statements all the same)",
					args[0], v.Outcome, told(v.Reason))
			}
			return writeExport(files, out, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "markdown", strings.Join(export.Formats(), ", "))
	f.StringVar(&as, "as", string(export.Test), "what an exported test expects: test (what is promised) or demo (what the server answered)")
	f.StringVar(&target, "target", "", "run it on this target, as for run; empty: as recorded")
	addServerOpts(cmd, oneTarget(&target))
	addAllowKill(cmd.Flags())
	addPromise(cmd.Flags())
	f.StringVar(&levels, "levels", "", "isolation levels to try for a case that names none; the first that shows something is exported (default: all that the target has)")
	f.StringVar(&out, "out", "", "file to write; empty: standard output")
	return cmd
}

// told is a reason behind what it is for; "" for none.
func told(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// runOf returns the recorded run of a case or, where a target is named or
// nothing was recorded, a new one: at the first level that shows something.
func runOf(ctx context.Context, file, name, levels string, progress io.Writer) (timeline.Run, error) {
	asked, err := target.ParseLevels(levels)
	if err != nil {
		return timeline.Run{}, usagef("--levels: %w", err)
	}
	c, err := loadCase(file, progress)
	if err != nil {
		return timeline.Run{}, err
	}
	if name == "" && len(asked) == 0 {
		if run, ok, err := findings.Recorded(file, c); err != nil || ok {
			return run, err
		}
	}
	tellOwnLevels(progress, []corpus.Stored{{Path: file, Case: c}}, asked)
	if name == "" {
		name = findings.Home(c)
	}
	t, err := target.Open(ctx, name, target.Options{Clean: true, Facts: true, Progress: progress})
	if err != nil {
		return timeline.Run{}, err
	}
	if len(asked) == 0 {
		asked = t.Levels()
	}
	results := findings.Replay(ctx, t, file, c, asked)
	if err := errors.Join(ctx.Err(), t.Close()); err != nil {
		return timeline.Run{}, fmt.Errorf("run %s on %s: %w", file, t.Name, err)
	}
	best := 0
	for i := range results {
		if shows(results[i].Verdict) > shows(results[best].Verdict) {
			best = i
		}
	}
	return results[best].Run(), nil
}

// shows ranks verdicts by what there is to tell.
func shows(o oracle.Outcome) int {
	return slices.Index([]oracle.Outcome{oracle.Unknown, oracle.OK, oracle.Known, oracle.Violation}, o)
}

func writeExport(files export.Files, out string, stdout io.Writer) error {
	if out == "" || out == "-" {
		_, err := stdout.Write(files.Text)
		return err
	}
	all := map[string][]byte{out: files.Text}
	for ending, text := range files.Beside {
		all[strings.TrimSuffix(out, filepath.Ext(out))+ending] = text
	}
	if err := wholefile.WriteAll(all); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}
