package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// ending of a file of records: JSON lines, compressed, about 600 bytes each.
const ending = ".jsonl.zst"

//go:embed sets.tsv
var setsTable string

// set names cases to record: which target runs them, and which seed makes them.
type set struct {
	target       string
	seed         uint64
	cases        int
	transactions campaign.Range // of a case; zero: the campaign's own mix
	unique       bool           // every written value is unique
	facts        bool           // the server is asked for plans, locks and read views
}

// file is the set's file below dir. The name tells the set, so a file that is
// there need not be recorded again.
func (s set) file(dir string) string {
	of := ""
	if s.transactions.Max > 0 {
		of = fmt.Sprintf("-txns%d-%d", s.transactions.Min, s.transactions.Max)
	}
	if s.unique {
		of += "-unique"
	}
	if s.facts {
		of += "-facts"
	}
	return filepath.Join(dir, fmt.Sprintf("%s-seed%d-%d%s%s", strings.NewReplacer(":", "-", ",", "-", "=", "-").Replace(s.target), s.seed, s.cases, of, ending))
}

// parseSets reads lines of target, seed, cases and, if it matters, the range of
// transactions in a case or one of the words unique and facts, separated by tabs.
func parseSets(table string) ([]set, error) {
	var out []set
	for n, l := range strings.Split(strings.TrimSpace(table), "\n") {
		f := strings.Split(l, "\t")
		if len(f) != 3 && len(f) != 4 {
			return nil, fmt.Errorf("sets.tsv:%d: %d fields, want target, seed, cases and perhaps unique, facts or the number of transactions", n+1, len(f))
		}
		seed, err := strconv.ParseUint(f[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("sets.tsv:%d: seed: %w", n+1, err)
		}
		cases, err := strconv.Atoi(f[2])
		if err != nil || cases < 1 {
			return nil, fmt.Errorf("sets.tsv:%d: %q is no number of cases", n+1, f[2])
		}
		one := set{target: f[0], seed: seed, cases: cases}
		switch {
		case len(f) == 4 && f[3] == "unique":
			one.unique = true
		case len(f) == 4 && f[3] == "facts":
			one.facts = true
		case len(f) == 4:
			if _, err := fmt.Sscanf(f[3], "%d..%d", &one.transactions.Min, &one.transactions.Max); err != nil {
				return nil, fmt.Errorf("sets.tsv:%d: transactions: want unique, facts or a range such as 3..4, found %q", n+1, f[3])
			}
		}
		out = append(out, one)
	}
	return out, nil
}

func recordCommand(dir *string) *cobra.Command {
	var target string
	var seed uint64
	var workers int
	c := &cobra.Command{
		Use:   "record",
		Short: "Run the sets of sets.tsv on live servers and keep their histories",
		Long: `Runs the sets of sets.tsv on live servers and keeps what was seen. Sets whose file
is there are not run again; remove the file to record a set anew.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sets, err := parseSets(setsTable)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(*dir, 0o755); err != nil {
				return fmt.Errorf("make the folder of records: %w", err)
			}
			found := false
			for _, s := range sets {
				if target != "" && s.target != target || seed != 0 && s.seed != seed {
					continue
				}
				found = true
				file := s.file(*dir)
				if _, err := os.Stat(file); err == nil {
					fmt.Printf("%s: there already\n", file)
					continue
				}
				begun := time.Now()
				n, err := record(cmd.Context(), s, workers, file)
				if err != nil {
					return fmt.Errorf("record %s: %w", s.target, err)
				}
				fmt.Printf("%s: %d histories in %s\n", file, n, time.Since(begun).Round(time.Second))
			}
			if !found {
				return errors.New("sets.tsv has no such target or seed")
			}
			return nil
		},
	}
	c.Flags().StringVar(&target, "target", "", "record the sets of this target only")
	c.Flags().Uint64Var(&seed, "seed", 0, "record the sets of this seed only")
	c.Flags().IntVar(&workers, "workers", 1, "cases that run at a time")
	return c
}

// record runs a set and writes its histories to a file, which is there only once
// it is whole. It returns how many there are.
func record(ctx context.Context, s set, workers int, file string) (n int, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".record-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(f.Name())) }()
	defer f.Close()
	z, err := zstd.NewWriter(f)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "verdicts")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var asked *target.Target
	if s.facts {
		if asked, err = target.Open(ctx, s.target, target.Options{Workers: workers, AskForAll: true}); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, asked.Close()) }()
	}
	var mu sync.Mutex
	var writeErr error
	enc := json.NewEncoder(z)
	_, err = campaign.RunHere(ctx, campaign.Settings{
		Target: s.target, Cases: s.cases, Seed: s.seed, Workers: workers, Transactions: s.transactions, Unique: s.unique,
		Known: findings.StoredDir, Out: dir,
		Observe: func(t *target.Trial, input string) {
			if t.History != nil && asked != nil {
				again := asked.JudgeForFacts(ctx, t.Case, t.Levels)
				if again.History != nil && again.History.Facts != nil {
					again.History.Facts.Traces = nil // long, and no judge reads them
				}
				t = &again
			}
			if t.History == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			n++
			r := oracle.Record{Note: input, Case: string(corpus.Print(t.Case, corpus.Text)), History: t.History, Verdict: t.Verdict}
			writeErr = errors.Join(writeErr, enc.Encode(&r))
		},
	})
	if err = errors.Join(err, writeErr, ctx.Err()); err != nil {
		return n, err
	}
	if n == 0 {
		return 0, errors.New("no case gave a history")
	}
	if err := z.Close(); err != nil {
		return n, err
	}
	if err := f.Close(); err != nil {
		return n, err
	}
	return n, os.Rename(f.Name(), file)
}
