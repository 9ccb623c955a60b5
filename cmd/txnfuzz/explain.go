package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	run "github.com/txnfuzz/txnfuzz/fuzz/workload"
)

// sourceWorkload is what the header of a case names as its source if txnfuzz workload saved it.
const sourceWorkload = "txnfuzz workload"

func newWorkloadExplain() *cobra.Command {
	var name string
	var snippets []string
	var diff bool
	cmd := &cobra.Command{
		Use:   "explain FILE [flags]",
		Short: "Explain a saved finding of a workload: its cause, and what to change",
		Long: `Prints what a run of txnfuzz workload told of a finding that it saved: the cause, with
the other findings that have it; the schedule; which SELECT to lock or which level to
use, and in how many runs that was tried; this as a change of the workload's file; and
the same in the words of Spring, Django, Rails and Go.

Nothing is run: all of it lies beside the file, in FILE.explain.json, .sql left out. For
a finding without it, what the file's header says is printed, and the case is run again
on the target that the header names. With --target it is run again in any case.

Exit status: 0 it was explained, 2 wrong usage, 3 txnfuzz or the server failed. If the
case is run again, 1 if the server then does what it may not.`,
		Example: `  txnfuzz workload explain corpus/found/bank-invariant-no-overdraft-rc-mariadb-0a1b2c3d.sql
  txnfuzz workload explain found/shop-1.sql --snippets django
  txnfuzz workload explain found/shop-1.sql --diff | patch -p0`,
		Args: exactly(1, "the file of a saved finding"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wantFrameworks(snippets); err != nil {
				return err
			}
			c, err := loadCase(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if from, _ := c.Get("source"); from != sourceWorkload {
				return usagef("%s is no finding of txnfuzz workload: see txnfuzz show", args[0])
			}
			x, ok, err := run.ReadExplanation(args[0], c)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case diff && (!ok || x.Group.Diff == ""):
				return usagef("%s: no change of the workload's file is known for it", args[0])
			case diff:
				_, err := io.WriteString(out, x.Group.Diff)
				return err
			case ok:
				err = x.WriteText(out, frameworks(snippets))
			default:
				err = explainByHeader(out, c)
			}
			if err != nil || ok && name == "" {
				return err
			}
			fmt.Fprintln(out)
			return again(cmd, args[0], c, name)
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "target", "", "run it again on this target, too")
	addServerOpts(cmd, oneTarget(&name))
	f.BoolVar(&diff, "diff", false, "print only the change of the workload's file, for patch -p0 or git apply -p0")
	addSnippets(f, &snippets, "all")
	return cmd
}

// addSnippets adds the flag that names frameworks.
func addSnippets(f *pflag.FlagSet, to *[]string, otherwise string) {
	f.StringSliceVar(to, "snippets", []string{otherwise},
		"print what mends a cause for these: "+strings.Join(run.Frameworks(), ", ")+"; all or none")
}

// wantFrameworks is an error of usage if a name is of no framework.
func wantFrameworks(names []string) error {
	known := append(run.Frameworks(), "all", "none")
	for _, n := range names {
		if !slices.Contains(known, n) {
			return usagef("--snippets: unknown framework %q%s; want some of %s",
				n, spelling.Hint(n, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// frameworks are those that --snippets names.
func frameworks(names []string) []string {
	if slices.Contains(names, "all") {
		return run.Frameworks()
	}
	return names
}

// explainByHeader prints what the header of a finding says, which has no more.
func explainByHeader(w io.Writer, c *corpus.Case) error {
	var b strings.Builder
	b.WriteString("no explanation lies beside this file; its header says\n")
	keys := []string{
		"workload", "calls", "kind", "anomaly", "named by", "transactions needed", "observe", "not seen with",
	}
	for _, key := range keys {
		if value, ok := c.Get(key); ok {
			if key == "not seen with" {
				key = "not seen with FOR UPDATE on"
			}
			fmt.Fprintf(&b, "  %s: %s\n", key, value)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// again runs a finding again and shows its steps.
func again(cmd *cobra.Command, file string, c *corpus.Case, name string) error {
	if name == "" {
		name = findings.Home(c)
	}
	t, err := target.Open(cmd.Context(), name, target.Options{Clean: true, Progress: cmd.ErrOrStderr()})
	if err != nil {
		return err
	}
	results := findings.Replay(cmd.Context(), t, file, c, t.Levels())
	for i := range results {
		if err := show(cmd.OutOrStdout(), results[i].Run(), results[i].ServerVersion, false); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return fmt.Errorf("close target %s: %w", t.Name, err)
	}
	return replayStatus(cmd.ErrOrStderr(), results, campaign.FailAny, cmd.Context().Err())
}

// hint prints below a case that is shown what its explanation says in short, if it has one.
func hint(w io.Writer, file string, c *corpus.Case) {
	if x, ok, err := run.ReadExplanation(file, c); err == nil && ok {
		fmt.Fprintf(w, "\n%s\n", x.Hint(file))
	}
}
