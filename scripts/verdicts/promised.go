package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

func promisedCommand(dir *string) *cobra.Command {
	var examples, limit int
	c := &cobra.Command{
		Use:   "promised SET…",
		Short: "Compare the verdicts of recorded histories with their dependency graphs",
		Long: `Judges recorded histories by what anomalies the server promises to exclude, and
counts by verdict how many show one. A verdict that is ok and a graph that shows what is
forbidden contradict each other: status 1. Counts the anomalies that only a reader sees,
too, which snapshot isolation allows.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, sets []string) error {
			contradictions := 0
			for _, s := range sets {
				n, err := promised(filepath.Join(*dir, strings.TrimSuffix(s, ending)+ending), examples, limit, cmd.OutOrStdout())
				if err != nil {
					return err
				}
				contradictions += n
			}
			if contradictions > 0 {
				return errChanged
			}
			return nil
		},
	}
	c.Flags().IntVar(&examples, "examples", 3, "how many contradictions to print")
	c.Flags().IntVar(&limit, "limit", 0, "how many histories of a set to read; 0: all")
	return c
}

func promised(file string, examples, limit int, out io.Writer) (contradictions int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return 0, err
	}
	defer z.Close()
	type key struct {
		outcome oracle.Outcome
		what    string
	}
	counts, readers := map[key]int{}, map[string]int{}
	d := json.NewDecoder(z)
	for n := 1; limit == 0 || n <= limit; n++ {
		r := new(oracle.Record)
		if err := d.Decode(r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, fmt.Errorf("%s: record %d: %w", file, n, err)
		}
		c, err := corpus.Parse(file, []byte(r.Case))
		if err != nil {
			return 0, fmt.Errorf("%s: record %d: %w", file, n, err)
		}
		v := oracle.Check(c, r.History)
		p, deps := oracle.Forbidden(c, r.History, &v)
		k := key{v.Outcome, "nothing forbidden"}
		switch {
		case deps == nil:
			k.what = "no graph"
		case deps.Coarse:
			k.what = "a condition that cannot be evaluated row by row"
		case p != nil:
			k.what = p.Name()
			if v.Outcome == oracle.OK {
				contradictions++
				if contradictions <= examples {
					fmt.Fprintf(out, "%s:%d: %s\n%s\n", filepath.Base(file), n, p.Line(deps, r.History), r.Case)
				}
			}
			if v.Outcome == oracle.Known {
				k.what += " under " + strings.Join(v.Rules, " + ")
			}
		}
		counts[k]++
		if deps != nil && !deps.Coarse && v.Outcome == oracle.OK && readOnlyAnomaly(deps) {
			readers[fmt.Sprint(mvcc.Levels(c, r.History))]++
		}
	}
	for levels, n := range readers {
		fmt.Fprintf(out, "%8d read-only anomalies at %s\n", n, levels)
	}
	for k, n := range counts {
		fmt.Fprintf(out, "%8d %-9s %s\n", n, k.outcome, k.what)
	}
	return contradictions, nil
}
