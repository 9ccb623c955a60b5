package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/workload"
)

// sample is how long the first, short run of a seed takes: what shows in it needs no
// longer one, and most does.
const sample = 12 * time.Second

// times runs every example with every seed, and says what came late, or not at all.
func (o *options) times(ctx context.Context) error {
	var late []string
	for _, target := range o.targets {
		expected, err := parseExpected(expectedText, target)
		if err != nil {
			return err
		}
		for _, name := range o.workloads {
			mine := slices.DeleteFunc(slices.Clone(expected), func(e expectation) bool { return e.Workload != name })
			var runs []*run
			for seed := 1; seed <= o.seeds; seed++ {
				r, err := o.soonest(ctx, name, target, seed, mine)
				if err != nil {
					return err
				}
				runs = append(runs, r)
			}
			for i := range mine {
				t := timesOf(&mine[i], runs)
				fmt.Println(t)
				if !t.inTime(o.duration) || t.Statements > 10 || t.Transactions > len(mine[i].Transactions) {
					late = append(late, t.String())
				}
			}
			for _, u := range unexpected(mine, runs) {
				fmt.Println("not expected:", u)
				if strings.Contains(u, "SER") || strings.Contains(u, string(workload.Server)) {
					late = append(late, u)
				}
			}
		}
	}
	if len(late) > 0 {
		return &difference{"not as expected:\n" + strings.Join(late, "\n")}
	}
	return nil
}

// soonest runs an example for a short time, and if that does not show all that is expected,
// for the whole.
func (o *options) soonest(ctx context.Context, name, target string, seed int, expected []expectation) (*run, error) {
	file := filepath.Join("corpus", "workloads", name+".workload")
	short, err := o.once(ctx, file, target, "", seed, min(sample, o.duration), o.explain, 0)
	if err != nil {
		return nil, err
	}
	for i := range expected {
		if _, ok := firstSeen(&expected[i], short.Report); !ok && o.duration > sample {
			return o.once(ctx, file, target, "", seed, o.duration, o.explain, 0)
		}
	}
	return short, nil
}

// firstSeen is when an expected anomaly was first seen, in seconds.
func firstSeen(e *expectation, r *workload.Report) (float64, bool) {
	first, ok := 0.0, false
	for _, f := range r.Findings {
		if e.meets(f) && (!ok || f.FirstSeen < first) {
			first, ok = f.FirstSeen, true
		}
	}
	return first, ok
}

// taken is how long an anomaly took to show over several seeds.
type taken struct {
	*expectation
	// Seconds has one entry for each seed that showed it; Seeds counts all.
	Seconds []float64
	Seeds   int
	// Statements and Transactions are the smallest to which it was made small.
	Statements, Transactions int
}

func timesOf(e *expectation, runs []*run) *taken {
	t := &taken{expectation: e, Seeds: len(runs)}
	for _, r := range runs {
		if s, ok := firstSeen(e, r.Report); ok && s <= r.Seconds {
			t.Seconds = append(t.Seconds, s)
		}
		for _, f := range r.Report.Findings {
			if e.meets(f) && f.Reduced && (t.Statements == 0 || f.Statements < t.Statements) {
				t.Statements, t.Transactions = f.Statements, len(f.Transactions)
			}
		}
	}
	slices.Sort(t.Seconds)
	return t
}

// median is that of all seeds, those that did not show it counted as later than all others.
func (t *taken) median() (float64, bool) {
	if m := (t.Seeds - 1) / 2; m < len(t.Seconds) {
		return t.Seconds[m], true
	}
	return 0, false
}

func (t *taken) inTime(limit time.Duration) bool {
	m, ok := t.median()
	return ok && m <= limit.Seconds()
}

func (t *taken) String() string {
	what := fmt.Sprintf("%s %s %s: %s, %s", t.Workload, t.Target, t.Level, strings.Join(t.expectation.Transactions, " × "), t.Kind)
	m, ok := t.median()
	if !ok {
		return fmt.Sprintf("%s: in %d of %d seeds", what, len(t.Seconds), t.Seeds)
	}
	return fmt.Sprintf("%s: median %.1f s (%.1f to %.1f, %d of %d seeds), %d statements", what, m, t.Seconds[0], t.Seconds[len(t.Seconds)-1], len(t.Seconds), t.Seeds, t.Statements)
}

// unexpected lists what was found and is not in the table, with the number of seeds.
func unexpected(expected []expectation, runs []*run) []string {
	seeds := map[string]int{}
	for _, r := range runs {
		here := map[string]bool{}
		for _, f := range r.Report.Findings {
			if !slices.ContainsFunc(expected, func(e expectation) bool { return e.meets(f) }) {
				here[fmt.Sprintf("%s %s %s: %s, %s (%s)", r.Workload, r.Target, f.Level, strings.Join(f.Transactions, " × "), f.Kind, f.Class)] = true
			}
		}
		for k := range here {
			seeds[k]++
		}
	}
	var out []string
	for k, n := range seeds {
		out = append(out, fmt.Sprintf("%s, %d of %d seeds", k, n, len(runs)))
	}
	slices.Sort(out)
	return out
}

// warn is for what does not stop a measurement.
func warn(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
