package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz"
)

func newShow() *cobra.Command {
	var target, levels string
	cmd := &cobra.Command{
		Use:   "show FILE [flags]",
		Short: "Show one case step by step: what was answered, what was expected, and why",
		Long: `Shows the statements of all sessions in a table, in the order in which they were sent,
with the server's answers and waits. Below a wrong answer stands what was expected. The
verdict and its reasons follow.

A finding is shown as it was recorded. With --target, or if no record lies beside the
file, the case is run again.`,
		Example: `  txnfuzz show corpus/known/mysql-104833.sql --target mysql --levels RC
  txnfuzz show corpus/found/tidb-no-op-update-unseen.sql`,
		Args: exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := fuzz.ParseLevels(levels)
			if err != nil {
				return usagef("--levels: %w", err)
			}
			c, err := loadCase(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("target") && len(asked) == 0 {
				run, ok, err := fuzz.Recorded(args[0], c)
				if err != nil {
					return err
				}
				if ok {
					return fuzz.Show(cmd.OutOrStdout(), run, "")
				}
			}
			tellOwnLevels(cmd.ErrOrStderr(), []corpus.Stored{{Path: args[0], Case: c}}, asked)
			if target == "" {
				target = fuzz.Home(c)
			}
			t, err := fuzz.OpenTarget(cmd.Context(), target, fuzz.TargetOptions{Clean: true, Progress: cmd.ErrOrStderr()})
			if err != nil {
				return err
			}
			if len(asked) == 0 {
				asked = t.Levels()
			}
			results := t.Replay(cmd.Context(), args[0], c, asked)
			for i := range results {
				if err := fuzz.Show(cmd.OutOrStdout(), results[i].Run(), results[i].ServerVersion); err != nil {
					return err
				}
			}
			if err := t.Close(); err != nil {
				return fmt.Errorf("close target %s: %w", t.Name, err)
			}
			return replayStatus(cmd.ErrOrStderr(), results, fuzz.FailAny, cmd.Context().Err())
		},
	}
	f := cmd.Flags()
	f.StringVar(&target, "target", "", "as for run; empty: the one that the file's header names, else embedded")
	addServerOpts(cmd, oneTarget(&target))
	f.StringVar(&levels, "levels", "", "isolation levels for a case that names none (default: all that the target has)")
	return cmd
}
