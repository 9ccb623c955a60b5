package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/answers"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

func promisedCommand(dir *string) *cobra.Command {
	var examples, limit int
	c := &cobra.Command{
		Use:   "promised SET…",
		Short: "Compare the verdicts of recorded histories with their dependency graphs",
		Long: `Judges recorded histories by what anomalies the server promises to exclude, and
counts by verdict how many show one. A verdict that is ok and a graph that shows what is
forbidden contradict each other: status 1. Of histories whose values are unique, what is read off
the answers is held against the promise as well, and against the graph: what one of the two has
and not the other is a contradiction, too. Counts the anomalies that only a reader sees, which
snapshot isolation allows.`,
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
	type key struct {
		outcome oracle.Outcome
		what    string
	}
	counts, readers, read := map[key]int{}, map[string]int{}, map[string]int{}
	err = eachRecord(file, func(n int, r *oracle.Record) error {
		if limit > 0 && n > limit {
			return errEnough
		}
		c, err := corpus.Parse(file, []byte(r.Case))
		if err != nil {
			return err
		}
		v := oracle.Check(c, r.History)
		p, deps := oracle.Forbidden(c, r.History, &v)
		for _, line := range readOff(c, r.History, &v, read) {
			contradictions++
			if contradictions <= examples {
				fmt.Fprintf(out, "%s:%d: %s\n%s\n", filepath.Base(file), n, line, r.Case)
			}
		}
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
		return nil
	})
	if err != nil {
		return 0, err
	}
	for levels, n := range readers {
		fmt.Fprintf(out, "%8d read-only anomalies at %s\n", n, levels)
	}
	for what, n := range read {
		fmt.Fprintf(out, "%8d %s\n", n, what)
	}
	for k, n := range counts {
		fmt.Fprintf(out, "%8d %-9s %s\n", n, k.outcome, k.what)
	}
	return contradictions, nil
}

// readOff counts what answers tell of a history, and returns in what that contradicts a
// verdict that is ok, or the dependencies of the replay.
func readOff(c *corpus.Case, h *history.History, v *oracle.Verdict, count map[string]int) (out []string) {
	if !answers.Unique(c) {
		return nil
	}
	r := answers.Read(c, h)
	if r == nil {
		count["read off: nothing, the end of a run or of a transaction is not told"]++
		return nil
	}
	count["read off, verdict "+string(v.Outcome)]++
	for _, e := range r.Edges {
		count["dependencies read off: "+e.Kind.String()]++
	}
	if v.Outcome == oracle.Unknown {
		return nil
	}
	if a := oracle.JudgeAnswers(c, h); v.Outcome == oracle.OK && a.Outcome == oracle.Violation {
		out = append(out, a.Actual)
	}
	if r.Odd != nil {
		count["read off: "+string(r.Odd.Kind)+", verdict "+string(v.Outcome)+" "+strings.Join(v.Rules, " + ")]++
	}
	if v.Outcome == oracle.Violation {
		return out
	}
	_, d := oracle.Phenomena(c, h, v)
	if d == nil {
		return out
	}
	count["read off and compared"]++
	return append(out, r.Differs(d)...)
}
