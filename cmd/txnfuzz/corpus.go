package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
)

func newCorpus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corpus COMMAND",
		Short: "Check, extend and count the stored cases",
		Long: `Works on folders of stored cases (corpus/known, corpus/found, corpus/audit) and on
the inputs that go test -fuzz keeps.`,
		Example: `  txnfuzz corpus verify --target all
  txnfuzz corpus import ../Troc/cases`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("no command; see %s --help", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newCorpusVerify(), newCorpusImport(), newCorpusStats(), newCorpusDecode(), newCorpusSeed(), newCorpusMerge())
	return cmd
}

// storedIn reads folders, or by default those of the project that exist.
func storedIn(args []string, warnings io.Writer) ([]corpus.Stored, error) {
	if len(args) > 0 {
		return loadCases(args, warnings)
	}
	for _, dir := range []string{findings.KnownDir, findings.DefaultOut, findings.AuditDir} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			args = append(args, dir)
		}
	}
	if len(args) == 0 {
		return nil, usagef("no %s here: name a file or a folder of cases", findings.KnownDir)
	}
	return loadCases(args, warnings)
}

func newCorpusVerify() *cobra.Command {
	var targets []string
	cmd := &cobra.Command{
		Use:   "verify [FILE|DIR...] [flags]",
		Short: "Run the stored cases, and compare the verdicts with the recorded ones",
		Long: `Reads the cases (default: corpus/known, corpus/found and corpus/audit), looks for
duplicates (the same statements, or findings with the same fingerprint), runs each
case on the targets, and compares its verdict with the one in its header.

Exit status: 1 a verdict is not the recorded one, or a case is there twice; 2 a case
is malformed, or has an unknown header line (other commands only warn of those);
3 a case could not be run.`,
		Example: `  txnfuzz corpus verify
  txnfuzz corpus verify corpus/known --target all`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cases, err := storedIn(args, io.Discard)
			if err != nil {
				return err
			}
			if doubts := headerDoubts(cases); len(doubts) > 0 {
				return &usageError{errors.Join(doubts...)}
			}
			w := cmd.OutOrStdout()
			bad := 0
			for _, d := range telling.Duplicates(cases) {
				bad++
				fmt.Fprintln(w, d)
			}
			runs := 0
			for _, name := range expanded(cmd.Context(), targets) {
				n, wrong, err := verifyOn(cmd, name, cases)
				if err != nil {
					return err
				}
				runs, bad = runs+n, bad+wrong
			}
			fmt.Fprintf(w, "%s read, %d run; %s\n", campaign.Count(len(cases), "case"), runs, campaign.Count(bad, "complaint"))
			if bad > 0 {
				return errFound
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&targets, "target", []string{target.Default}, "as for replay")
	addServerOpts(cmd, eachTarget(&targets))
	return cmd
}

// verifyOn runs the cases on one target and returns how many, and how many
// complaints there were.
func verifyOn(cmd *cobra.Command, name string, cases []corpus.Stored) (runs, bad int, err error) {
	t, err := target.Open(cmd.Context(), name, target.Options{Clean: true, Progress: cmd.ErrOrStderr()})
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if e := t.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("close target %s: %w", t.Name, e))
		}
	}()
	for _, s := range cases {
		if !findings.Steady(s.Case) || !findings.Due(s.Case, t.Name) {
			continue
		}
		results, err := findings.Verify(cmd.Context(), t, s)
		if err != nil {
			return runs, bad, err
		}
		runs++
		for i := range results {
			v := &results[i]
			switch {
			case v.Changed():
				bad++
				fmt.Fprintln(cmd.OutOrStdout(), v.Explain(""))
			case v.Unsteady():
				fmt.Fprintf(cmd.OutOrStdout(), "%s on %s at %s: the recorded verdict in %d of %d runs only, else: %s\n", v.File, v.Target, v.Level, v.Agreed, v.Runs, v.Now)
			}
		}
	}
	return runs, bad, nil
}

func newCorpusStats() *cobra.Command {
	return &cobra.Command{
		Use:     "stats [FILE|DIR...]",
		Short:   "Count the cases, their statements, and their recorded verdicts",
		Example: `  txnfuzz corpus stats corpus/known`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cases, err := storedIn(args, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return telling.Stats(cases).WriteText(cmd.OutOrStdout())
		},
	}
}

func newCorpusDecode() *cobra.Command {
	var name, known, levels, out string
	cmd := &cobra.Command{
		Use:   "decode [FILE|DIR...] [flags]",
		Short: "Print the cases that inputs of go test -fuzz stand for",
		Long: `Reads inputs of FuzzTxnPair (default: all in Go's cache and in
fuzz/testdata/fuzz/FuzzTxnPair) and prints the cases that fuzzing makes of them.
What an input becomes depends on the family of the target, on the levels, and on
the folder of stored cases.`,
		Example: `  txnfuzz corpus decode
  txnfuzz corpus decode fuzz/testdata/fuzz/FuzzTxnPair/0a1b2c3d --out /tmp/cases`,
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := target.ParseLevels(levels)
			if err != nil {
				return usagef("--levels: %w", err)
			}
			if len(args) == 0 {
				if args, err = campaign.EntryDirs(cmd.Context()); err != nil {
					return err
				}
			}
			entries, err := campaign.LoadEntries(args)
			if err != nil {
				return &usageError{err}
			}
			if len(entries) == 0 {
				return usagef("no inputs of FuzzTxnPair here; go test -fuzz=FuzzTxnPair ./fuzz makes some")
			}
			cases, err := campaign.LoadKnown(known)
			if err != nil {
				return err
			}
			t, err := target.Open(cmd.Context(), name, target.Options{Progress: cmd.ErrOrStderr()})
			if err != nil {
				return err
			}
			if len(asked) == 0 {
				asked = t.Levels()
			}
			campaign.DecodeEntries(t, entries, cases, asked)
			return errors.Join(writeEntries(cmd.OutOrStdout(), out, entries), t.Close())
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "target", target.Default, "the target that the inputs were made for")
	f.StringVar(&known, "corpus", findings.StoredDir, "folder of stored cases that inputs select from")
	f.StringVar(&levels, "levels", "", "the levels that were fuzzed (default: all that the target has)")
	f.StringVar(&out, "out", "", "write the cases to this folder instead of standard output")
	return cmd
}

func writeEntries(w io.Writer, dir string, entries []campaign.Entry) error {
	for _, e := range entries {
		for i, c := range e.Cases {
			name := fmt.Sprintf("%s-%d", filepath.Base(e.Path), i+1)
			if dir != "" {
				path, err := corpus.Save(dir, name, c)
				if err != nil {
					return err
				}
				fmt.Fprintln(w, path)
				continue
			}
			fmt.Fprintf(w, "-- input: %s, case %d of %d\n%s\n", e.Path, i+1, len(e.Cases), corpus.Print(c, corpus.Text))
		}
	}
	return nil
}

func newCorpusSeed() *cobra.Command {
	var known, out string
	cmd := &cobra.Command{
		Use:   "seed FILE [flags]",
		Short: "Turn a stored case into an input from which go test -fuzz starts",
		Long: `Writes an input that selects this case among the stored ones and changes it as
little as possible, into the folder where go test -fuzz looks for inputs. Which case it
selects depends on how many there are, so write it again when the folder has changed.`,
		Example: `  txnfuzz corpus seed corpus/known/mysql-104833.sql`,
		Args:    exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadCase(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			cases, err := campaign.LoadKnown(known)
			if err != nil {
				return err
			}
			data, ok := campaign.SeedOf(c, cases)
			if !ok {
				return usagef("%s is none of the %d cases in %s that may be mutated; import it, or see its header line `seed`", args[0], len(cases), known)
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			path := filepath.Join(out, strings.TrimSuffix(filepath.Base(args[0]), corpus.Ext))
			if err := wholefile.Write(path, campaign.EncodeEntry(data)); err != nil {
				return fmt.Errorf("write the input: %w", err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), path)
			return nil
		},
	}
	cmd.Flags().StringVar(&known, "corpus", findings.StoredDir, "folder of stored cases that inputs select from")
	cmd.Flags().StringVar(&out, "out", campaign.SeedDir, "folder to write to")
	return cmd
}

func newCorpusMerge() *cobra.Command {
	return &cobra.Command{
		Use:   "merge INTO FROM...",
		Short: "Merge what several campaigns have kept and found",
		Long: `Adds to the folder INTO what it does not hold yet. From folders of inputs (run
--corpus) it takes the inputs that show a new behaviour. From folders of findings (run
--out) it takes the smallest finding for each fingerprint, family of servers and
level.`,
		Example: `  txnfuzz corpus merge all/corpus shard-1/corpus shard-2/corpus
  txnfuzz corpus merge all/found shard-1/found shard-2/found`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("want a folder to merge into and at least one other")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := findings.Merge(args[0], args[1:])
			fmt.Fprintf(cmd.OutOrStdout(), "%d inputs, %d taken; %d findings, %d new, %d smaller\n", m.Inputs, m.Taken, m.Findings, m.New, m.Smaller)
			return err
		},
	}
}
