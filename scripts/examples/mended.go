package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/workload"
)

// tries is the command's default.
const tries = 100

// mended takes what the reports propose, reads FOR UPDATE and stronger levels, and runs it
// for long.
func (o *options) mended(ctx context.Context) error {
	var wrong []string
	for _, target := range o.targets {
		for _, name := range o.workloads {
			file := filepath.Join("corpus", "workloads", name+".workload")
			first, err := o.once(ctx, file, target, o.level, 1, o.duration, o.explain, tries)
			if err != nil {
				return err
			}
			if n := first.Report.Pending; n > 0 {
				warn("%s on %s: %d findings were not explained; give more with --explain", name, target, n)
			}
			for _, m := range first.Report.Mended {
				r, err := o.once(ctx, m.File, target, m.Level, 2, o.long, sample, 0)
				if err != nil {
					return err
				}
				refuted, found := stillShown(first.Report, m, r.Report)
				for _, s := range refuted {
					wrong = append(wrong, fmt.Sprintf("%s on %s at %s, mended: %s", name, target, m.Level, s))
				}
				for _, s := range found {
					warn("%s on %s at %s, mended: not seen in the run that proposed it: %s", name, target, m.Level, s)
				}
			}
			// A level is proposed where a finding of a weaker one was not seen at it.
			levels := []string{}
			for _, f := range first.Report.Findings {
				if o.level == "" && f.Weakest != "" && !slices.Contains(levels, f.Weakest) {
					levels = append(levels, f.Weakest)
				}
			}
			slices.Sort(levels)
			for _, l := range levels {
				r, err := o.once(ctx, file, target, l, 3, o.long, sample, 0)
				if err != nil {
					return err
				}
				for _, f := range first.Report.Findings {
					if f.Weakest == l && shows(r.Report, l, f) {
						wrong = append(wrong, fmt.Sprintf("%s on %s: %s, %s is said to need %s, and shows there", name, target, strings.Join(f.Transactions, " × "), f.Kind, l))
					}
				}
			}
		}
	}
	for _, w := range wrong {
		fmt.Println(w)
	}
	if len(wrong) > 0 {
		return &difference{fmt.Sprintf("%d proposals did not hold", len(wrong))}
	}
	fmt.Println("every proposal held")
	return nil
}

// stillShown lists what a mended workload shows: refuted, although its report proposed
// what mends it, and found, what the run that proposed it had not seen. What no FOR UPDATE
// was known for is left out, and so is what the report says that the file still shows.
func stillShown(first *workload.Report, m *workload.Mended, long *workload.Report) (refuted, found []string) {
	for _, cell := range long.Cells {
		for k, n := range cell.Anomalies {
			text := fmt.Sprintf("%s, %s in %d of %d runs", strings.Join(cell.Transactions, " × "), k, n, cell.Runs)
			seen, mended := false, true
			for _, f := range first.Findings {
				if f.Level == m.Level && f.Kind == k && f.Within(cell.Transactions) {
					seen, mended = true, mended && len(f.Mend) > 0
				}
			}
			told := len(m.Runs) > 0 && slices.ContainsFunc(m.Runs[len(m.Runs)-1].Seen, func(s workload.MendedSeen) bool {
				return s.Kind == k && (&workload.Finding{Transactions: s.Transactions}).Within(cell.Transactions)
			})
			switch {
			case told:
			case !seen:
				found = append(found, text)
			case mended:
				refuted = append(refuted, text)
			}
		}
	}
	slices.Sort(refuted)
	slices.Sort(found)
	return refuted, found
}

// shows reports whether a run at a level showed what a finding is.
func shows(r *workload.Report, level string, f *workload.Finding) bool {
	return slices.ContainsFunc(r.Cells, func(c *workload.Cell) bool {
		return c.Level == level && c.Anomalies[f.Kind] > 0 && slices.Equal(c.Transactions, f.Transactions)
	})
}
