package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
)

func newShow() *cobra.Command {
	var name, levels string
	var facts bool
	var sent sentBy
	cmd := &cobra.Command{
		Use:   "show FILE [flags]",
		Short: "Show one case step by step: what was answered, what was expected, and why",
		Long: `Shows the statements of all sessions in a table, in the order in which they were sent,
with the server's answers and waits. Below a wrong answer stands what was expected. The
verdict and its reasons follow.

A finding is shown as it was recorded. With --target or --protocol, or if no record lies beside the
file, the case is run again. For a finding of txnfuzz workload that has an explanation,
its cause and what to change follow; txnfuzz workload explain tells more.

With --facts the server is asked, before each statement, for its plan and the
optimizer's trace of that, and behind each for the locks and read views of all
transactions: all that is printed below the table. Findings are recorded with these
facts; a case without is run again. TiDB tells its plans only; MySQL tells no read
views, MariaDB of locks only those that are waited for.`,
		Example: `  txnfuzz show corpus/known/mysql-104833.sql --target mysql --levels RC
  txnfuzz show corpus/found/tidb-no-op-update-unseen.sql
  txnfuzz show corpus/known/mysql-104833.sql --target mysql --levels RC --facts`,
		Args: exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			asked, err := target.ParseLevels(levels)
			if err != nil {
				return usagef("--levels: %w", err)
			}
			if strings.HasSuffix(args[0], ".jsonl") {
				return usagef("%s is a history of many clients; txnfuzz check %s tells what is wrong with it", args[0], args[0])
			}
			c, err := loadCase(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer func() {
				if err == nil || errors.Is(err, errFound) {
					hint(cmd.OutOrStdout(), args[0], c)
				}
			}()
			if !cmd.Flags().Changed("target") && len(asked) == 0 && !sent.given {
				run, ok, err := findings.Recorded(args[0], c)
				if err != nil {
					return err
				}
				if ok && (!facts || run.History.Facts != nil) {
					return show(cmd.OutOrStdout(), run, "", facts)
				}
			}
			c = sent.override(c)
			tellOwnLevels(cmd.ErrOrStderr(), []corpus.Stored{{Path: args[0], Case: c}}, asked)
			if name == "" {
				name = findings.Home(c)
			}
			t, err := target.Open(cmd.Context(), name, target.Options{Clean: true, Facts: facts, Progress: cmd.ErrOrStderr()})
			if err != nil {
				return err
			}
			if len(asked) == 0 {
				asked = t.Levels()
			}
			results := findings.Replay(cmd.Context(), t, args[0], c, asked)
			for i := range results {
				if err := show(cmd.OutOrStdout(), results[i].Run(), results[i].ServerVersion, facts); err != nil {
					return err
				}
			}
			if err := t.Close(); err != nil {
				return fmt.Errorf("close target %s: %w", t.Name, err)
			}
			return replayStatus(cmd.ErrOrStderr(), results, campaign.FailAny, cmd.Context().Err())
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "target", "", "as for run; empty: the one that the file's header names, else embedded")
	addServerOpts(cmd, oneTarget(&name))
	addAllowKill(cmd.Flags())
	addPromise(cmd.Flags())
	f.BoolVar(&facts, "facts", false, "print all that the server tells of plans, locks and read views")
	addProtocol(f, &sent, recordedProtocolUsage)
	f.StringVar(&levels, "levels", "", "isolation levels for a case that names none (default: all that the target has)")
	return cmd
}

// show writes a run and, if wanted, all that the server told of it.
func show(w io.Writer, run timeline.Run, version string, facts bool) error {
	if err := telling.Show(w, run, version); err != nil || !facts {
		return err
	}
	return telling.ShowFacts(w, run)
}
