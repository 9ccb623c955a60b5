package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/reduce"
)

func newReduce() *cobra.Command {
	var name, strategy, out string
	var how findings.Reducing
	var learn bool
	cmd := &cobra.Command{
		Use:   "reduce FILE [flags]",
		Short: "Make a case smaller while it still shows the same bug",
		Long: `Deletes and simplifies statements, expressions and constants as long as the case
still shows the same on the target: the finding keeps its fingerprint. Without --out
the result goes to standard output. A case whose header names no level is reduced at
the weakest level of the target at which it shows a finding.

Of several servers (galera:11.8,nodes=3; mysql:9.7,replica=row,workers=4) the simplest
topology is taken that shows the finding: fewer nodes, no option that says how they work
together, or one server alone. The header of the result names it.`,
		Example: `  txnfuzz reduce corpus/found/tidb-no-op-update-unseen.sql --out small.sql
  txnfuzz reduce big.sql --target mariadb:11.8 --strategy probability-table`,
		Args: exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if how.Strategy, err = reduce.ParseStrategy(strategy); err != nil {
				return usagef("--strategy: %w", err)
			}
			how.Logf = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...) }
			c, err := loadCase(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if name == "" {
				name = findings.Home(c)
			}
			// Tables that hold something of earlier candidates could show what the file alone does not.
			t, err := target.Open(cmd.Context(), name, target.Options{Progress: cmd.ErrOrStderr(), Clean: true})
			if err != nil {
				return err
			}
			t.GivesUpWith(cmd.Context())
			result, err := reduceOn(cmd.Context(), t, c, how, learn)
			if e := t.Close(); e != nil {
				err = errors.Join(err, fmt.Errorf("close target %s: %w", t.Name, e))
			}
			if errors.Is(err, reduce.ErrNotReproduced) {
				return fmt.Errorf("%s shows nothing on %s that could be kept", args[0], t.Name)
			}
			if err != nil && result.Useful == 0 {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d → %d characters, %d → %d lines; %d candidates ran, %d of use; minimal: %t\n",
				result.Fingerprint, result.CharactersBefore, result.CharactersAfter,
				result.Before.Statements, result.After.Statements, result.Attempts, result.Useful, result.Minimal)
			if on := findings.Home(result.Case); target.OfSeveral(t.Name) && on != t.Name {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s → %s\n", t.Name, on)
			}
			return errors.Join(err, writeCase(out, cmd.OutOrStdout(), result.Case))
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "target", "", "as for run; empty: the one that the file's header names, else embedded")
	addServerOpts(cmd, oneTarget(&name))
	addAllowKill(cmd.Flags())
	addPromise(cmd.Flags())
	f.StringVar(&strategy, "strategy", reduce.EpsilonGreedy.String(), "how the next simplification is chosen: epsilon-greedy, probability-table or random")
	f.StringVar(&out, "out", "", "file for the reduced case")
	f.BoolVar(&learn, "experience", false, "use and extend what earlier reductions on this DBMS learnt; the result then depends on it, too")
	f.BoolVar(&how.KeepsTopology, "keep-topology", false,
		"leave the number of servers and how they work together as they are")
	f.Uint64Var(&how.Seed, "seed", 1, "seed of the strategy's choices")
	return cmd
}

func reduceOn(
	ctx context.Context, t *target.Target, c *corpus.Case, how findings.Reducing, learn bool,
) (reduce.Result, error) {
	if !learn {
		return findings.Reduce(ctx, t, c, how)
	}
	file, err := t.ExperienceFile()
	if err != nil {
		return reduce.Result{}, err
	}
	if how.Experience, err = reduce.LoadExperience(file); err != nil {
		return reduce.Result{}, err
	}
	result, err := findings.Reduce(ctx, t, c, how)
	if err != nil {
		return result, err
	}
	return result, how.Experience.Save(file)
}

func writeCase(out string, stdout io.Writer, c *corpus.Case) error {
	if out == "" || out == "-" {
		_, err := stdout.Write(corpus.Print(c, corpus.Text))
		return err
	}
	if filepath.Ext(out) != corpus.Ext {
		out += corpus.Ext
	}
	_, err := corpus.Save(filepath.Dir(out), filepath.Base(out), c)
	return err
}
