package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/workload"
)

const pageTop = `# The examples, measured

This page is written by ` + "`go run -tags notidb ./scripts/examples page`" + ` from runs of ` + "`examples times`" + ` and
` + "`examples mended`" + `. What each example is expected to show was written down in
[expected.tsv](../../scripts/examples/expected.tsv), before the runs.

## How soon each expected anomaly was seen

Each example ran with %s for at most %s, on a machine with two cores and little else to do. A cell is the median time until the
anomaly was first seen, in seconds, with the shortest and the longest time in brackets; a seed that did not show the anomaly counts
as later than all others. *k of n*: seen with k seeds, fewer than half. A dash: not expected at that level, or the server has no such
level. *any*: an anomaly of any kind. At SERIALIZABLE nothing is expected, so it has no column. The last column is the number of
statements, besides BEGIN and COMMIT, of the smallest case that txnfuzz made of it; it is empty if there was no time to make one small. A
server has no row for an anomaly that is expected at none of its levels, nor for one whose measurement was not finished.

`

const mendedTop = `## Whether the proposals hold

The report of a first run proposes which reads must be FOR UPDATE, and the weakest level at which a finding was not seen. Then a
workload ran for %s with other inputs. *With every FOR UPDATE*: with all that were proposed at this level. *As it is*:
unchanged, at a level that was proposed for some findings at weaker levels. The last column lists what is *refuted*, findings that
should have been gone and were seen, and what is *new*, anomalies that the first run had not seen at all. A finding is not listed if the
first run saw it at this level and nothing that is tried here was proposed for it. The machine often had other work. An older
version made the runs of bank on MySQL; of TPC-C on MySQL, RR with every FOR UPDATE, RC and RR as it is; and of SmallBank on MariaDB,
RR and SER as it is.

| example | server | level | what was run | cases | refuted, or new |
| --- | --- | --- | --- | ---: | --- |
`

// page writes what was measured as a page of the documentation.
func (o *options) page(w io.Writer) error {
	runs, err := o.kept()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, pageTop, spelling.Count(o.seeds, "seed"), plainDuration(o.duration))
	for _, name := range o.workloads {
		fmt.Fprintf(w, "### %s\n\n| transactions | what | server | RU | RC | RR | statements |\n| --- | --- | --- | --- | --- | --- | --- |\n", name)
		for _, target := range o.targets {
			expected, err := parseExpected(expectedText, target)
			if err != nil {
				return err
			}
			mine := slices.DeleteFunc(expected, func(e expectation) bool { return e.Workload != name })
			writeTimes(w, mine, o.last(runs, name, target), o.seeds)
		}
		fmt.Fprintln(w)
	}
	return o.writeMended(w, runs)
}

// last returns the longest run of each seed of an example.
func (o *options) last(runs []*run, name, target string) []*run {
	var out []*run
	for seed := 1; seed <= o.seeds; seed++ {
		var best *run
		for _, r := range runs {
			if r.Workload == name && r.Target == target && r.Seed == seed && r.Levels == "" && strings.HasSuffix(r.Key, "tries=0") && (best == nil || r.Seconds > best.Seconds) {
				best = r
			}
		}
		if best != nil {
			out = append(out, best)
		}
	}
	return out
}

// writeTimes writes a row for each anomaly that is expected on a server of which all seeds
// have run.
func writeTimes(w io.Writer, expected []expectation, runs []*run, seeds int) {
	if len(runs) < seeds {
		return // a measurement that was cut off
	}
	done := map[string]bool{}
	for i := range expected {
		e := &expected[i]
		key := strings.Join(e.Transactions, " × ") + "\x00" + e.Kind
		if done[key] {
			continue
		}
		done[key] = true
		what, smallest := e.Kind, 0
		if what == "*" {
			what = "any"
		}
		fmt.Fprintf(w, "| %s | %s | %s |", strings.Join(e.Transactions, " × "), what, e.Target)
		for _, l := range []string{"RU", "RC", "RR"} {
			k := slices.IndexFunc(expected, func(x expectation) bool {
				return x.Level == l && x.Kind == e.Kind && slices.Equal(x.Transactions, e.Transactions)
			})
			if k < 0 {
				fmt.Fprint(w, " – |")
				continue
			}
			t := timesOf(&expected[k], runs)
			if m, ok := t.median(); ok {
				fmt.Fprintf(w, " %.1f (%.1f to %.1f) |", m, t.Seconds[0], t.Seconds[len(t.Seconds)-1])
			} else {
				fmt.Fprintf(w, " %d of %d |", len(t.Seconds), t.Seeds)
			}
			if t.Statements > 0 && (smallest == 0 || t.Statements < smallest) {
				smallest = t.Statements
			}
		}
		if smallest == 0 {
			fmt.Fprintln(w, " |")
			continue
		}
		fmt.Fprintf(w, " %d |\n", smallest)
	}
}

// writeMended writes what the mended workloads and the stronger levels showed.
func (o *options) writeMended(w io.Writer, runs []*run) error {
	fmt.Fprintf(w, mendedTop, plainDuration(o.long))
	for i, r := range runs {
		if r.Seconds != o.long.Seconds() {
			continue
		}
		example, what := r.Workload, "as it is"
		if name, _, ok := strings.Cut(r.Workload, "-mended-"); ok {
			example, what = name, "with every FOR UPDATE"
		}
		seen, err := o.stillSeen(runs[:i], example, r)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %d | %s |\n", example, r.Target, r.Levels, what, r.Report.Cases, seen)
	}
	return nil
}

// stillSeen says which proposals a long run refutes: those of the last run before it that
// made some.
func (o *options) stillSeen(before []*run, example string, long *run) (string, error) {
	var first *workload.Report
	for _, r := range before {
		if r.Workload == example && r.Target == long.Target && r.Seed == 1 && (r.Levels == "" || r.Levels == long.Levels) && strings.HasSuffix(r.Key, fmt.Sprintf("tries=%d", tries)) {
			first = r.Report
		}
	}
	if first == nil {
		return "", fmt.Errorf("%s: the run that proposed it is not kept", long.Key)
	}
	var out []string
	if long.Workload != example {
		for _, m := range first.Mended {
			if m.Level == long.Levels && strings.TrimSuffix(filepath.Base(m.File), ".workload") == long.Workload {
				refuted, found := stillShown(first, m, long.Report)
				for _, s := range found {
					out = append(out, s+" (new)")
				}
				out = append(refuted, out...)
			}
		}
	} else {
		for _, f := range first.Findings {
			if f.Weakest == long.Levels && shows(long.Report, long.Levels, f) {
				out = append(out, fmt.Sprintf("%s, %s", strings.Join(f.Transactions, " × "), f.Kind))
			}
		}
	}
	if len(out) == 0 {
		return "nothing", nil
	}
	return strings.Join(out, "; "), nil
}

func plainDuration(d time.Duration) string {
	if d%time.Minute == 0 {
		return spelling.Count(int(d/time.Minute), "minute")
	}
	return d.String()
}
