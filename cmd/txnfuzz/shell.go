package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
)

func newShell() *cobra.Command {
	var levels string
	var named func([]string) []*string
	cmd := &cobra.Command{
		Use:   "shell [TARGET] [flags]",
		Short: "Type statements into several sessions and see who waits",
		Long: `Runs the statements that you type in several sessions. Each statement is shown with
its answer, or with the session that it waits for; when a waiting statement goes on, its
answer is shown then. The lines before the first one with a session's number set up the
tables.

  init> CREATE TABLE t (a INT)     a line of the set-up
  init> 1> BEGIN                   a statement of session 1
  1> 2> UPDATE t SET a = 2         a statement of session 2
  2> check                         are all answers so far allowed?
  2> save FILE                     write what was typed as a case

The lines can also come from a file or a pipe. Then the exit status is 2 if a line could
not be used, else 1 if the last check found a violation.`,
		Example: `  txnfuzz shell mariadb:11.8
  txnfuzz shell mysql:9.7 --levels RC < session.txt`,
		Args: targetArgument(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := cmp.Or(*named(args)[0], target.Default)
			var l corpus.Level
			if levels != "" {
				var err error
				if l, err = corpus.ParseLevel(levels); err != nil {
					return usagef("--levels: %w", err)
				}
			}
			t, err := target.Open(cmd.Context(), name, target.Options{Workers: 2, Progress: cmd.ErrOrStderr()})
			if err != nil {
				return err
			}
			piped := !isTerminal(os.Stdin)
			r, err := telling.Shell(cmd.Context(), t, telling.ShellOptions{In: os.Stdin, Out: cmd.OutOrStdout(), Echo: piped, Level: l})
			if e := t.Close(); e != nil {
				err = errors.Join(err, fmt.Errorf("close target %s: %w", t.Name, e))
			}
			switch {
			case err != nil || !piped:
				return err
			case r.Refused > 0:
				return usagef("%d lines could not be used", r.Refused)
			case r.Violation:
				return errFound
			}
			return nil
		},
	}
	named = firstArgument(cmd)
	addServerOpts(cmd, named)
	addAllowKill(cmd.Flags())
	addPromise(cmd.Flags())
	cmd.Flags().StringVar(&levels, "levels", "", "the isolation level of all sessions (default: RR)")
	return cmd
}
