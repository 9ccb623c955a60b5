package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/isolationspec"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// errViolation says that a case shows a violation, which is a result.
var errViolation = errors.New("a case shows a violation")

func main() {
	name := flag.String("target", "postgres:18", "target, as txnfuzz run takes it")
	only := flag.String("only", "", "run the specs whose name holds this alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, *name, *only, flag.Args(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "isolation:", err)
	}
	switch {
	case errors.Is(err, errViolation):
		os.Exit(1)
	case err != nil:
		os.Exit(3)
	}
}

// tally counts what became of the permutations of one spec, or of all.
type tally struct {
	all, imported, ran, equal int
	// steps, rows, errors and waits count what was compared.
	steps, rows, errors, waits int
	violations                 int
	// verdicts is by level and verdict, unjudged by reason, refused by reason, fields by what differs.
	verdicts, unjudged, refused, differs map[string]int
}

func newTally() *tally {
	return &tally{
		verdicts: map[string]int{}, unjudged: map[string]int{}, refused: map[string]int{}, differs: map[string]int{},
	}
}

func run(ctx context.Context, name, only string, dirs []string, w io.Writer) error {
	if len(dirs) != 1 {
		return errors.New("want the folder src/test/isolation of PostgreSQL's sources")
	}
	specs, err := filepath.Glob(filepath.Join(dirs[0], "specs", "*"+isolationspec.Ext))
	if err != nil || len(specs) == 0 {
		return errors.Join(fmt.Errorf("no specs below %s", dirs[0]), err)
	}
	t, err := target.Open(ctx, name, target.Options{Clean: true, Progress: os.Stderr})
	if err != nil {
		return err
	}
	total := newTally()
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "spec\tpermutations\timported\trun\tas expected\n")
	for _, file := range specs {
		if !strings.Contains(filepath.Base(file), only) {
			continue
		}
		if err = one(ctx, t, dirs[0], file, total, table, w); err != nil {
			break
		}
	}
	err = errors.Join(err, t.Close())
	fmt.Fprintf(table, "all\t%d\t%d\t%d\t%d\n", total.all, total.imported, total.ran, total.equal)
	if err := errors.Join(err, table.Flush()); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d steps ran: %d rows, %d errors, %d waits\n", total.steps, total.rows, total.errors, total.waits)
	for _, part := range []struct {
		title  string
		counts map[string]int
	}{
		{"verdicts", total.verdicts}, {"not judged", total.unjudged}, {"not imported", total.refused},
		{"differences", total.differs},
	} {
		fmt.Fprintf(w, "\n%s:\n", part.title)
		var keys []string
		for k := range part.counts {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b string) int {
			return cmp.Or(cmp.Compare(part.counts[b], part.counts[a]), cmp.Compare(a, b))
		})
		for _, k := range keys {
			fmt.Fprintf(w, "%6d  %s\n", part.counts[k], k)
		}
	}
	if total.violations > 0 {
		return errViolation
	}
	return nil
}

// judged names a verdict and who gave it.
func judged(v *oracle.Verdict) string {
	if v.Oracle == "" || v.Outcome == oracle.Unknown {
		return string(v.Outcome)
	}
	return string(v.Outcome) + " by " + v.Oracle
}

func (t *tally) count(steps []seen) {
	for i := range steps {
		t.steps++
		t.rows += len(steps[i].rows)
		if steps[i].err != "" {
			t.errors++
		}
		if steps[i].waits {
			t.waits++
		}
	}
}

// one runs the permutations of a spec.
func one(ctx context.Context, t *target.Target, dir, file string, total *tally, table, w io.Writer) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	spec, err := isolationspec.Parse(file, text)
	if err != nil {
		return err
	}
	read, err := isolationspec.Cases(file, text)
	if err != nil {
		return err
	}
	want, err := expectations(dir, file)
	if err != nil {
		return err
	}
	ran, equal := 0, 0
	for _, r := range read.Refused {
		total.refused[r.Reason]++
	}
	for _, s := range read.Cases {
		_, number, _ := strings.Cut(s.Path, "#")
		i, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("the number of %s: %w", s.Path, err)
		}
		r := t.Judge(ctx, s.Case, target.LevelsFor(s.Case, corpus.ReadCommitted))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		total.verdicts[target.LevelName(r.Levels)+" "+judged(&r.Verdict)]++
		where := filepath.Base(s.Path)
		if r.Verdict.Outcome == oracle.Violation {
			total.violations++
			v := &r.Verdict
			fmt.Fprintf(w, "%s: violation %s: expected %s, got %s\n", where, v.Kind, v.Expected, v.Actual)
		}
		if r.Verdict.Outcome == oracle.Unknown {
			total.unjudged[r.Verdict.Reason]++
		}
		if r.History == nil {
			fmt.Fprintf(w, "%s: not run: %v\n", where, r.Err)
			continue
		}
		ran++
		got := observation(spec.Permutations[i-1], s.Case, r.History)
		total.count(got)
		differences := compared(spec.Permutations[i-1], got, want, i-1)
		if len(differences) == 0 {
			equal++
		}
		for _, d := range differences {
			total.differs[d.what]++
			fmt.Fprintf(w, "%s: %s\n    expected %s\n    got      %s\n", where, d.what, d.want, d.got)
		}
	}
	total.all, total.imported = total.all+len(spec.Permutations), total.imported+len(read.Cases)
	total.ran, total.equal = total.ran+ran, total.equal+equal
	fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\n", filepath.Base(file), len(spec.Permutations), len(read.Cases), ran, equal)
	return nil
}

// difference is one between what was expected of a step and what it showed.
type difference struct{ what, want, got string }

// compared returns the differences from the expected output that has the fewest.
func compared(p isolationspec.Permutation, got []seen, want [][][]seen, i int) (best []difference) {
	for n, out := range want {
		var differences []difference
		if i >= len(out) || len(out[i]) != len(got) {
			differences = append(differences, difference{what: "other steps"})
		} else {
			for j := range got {
				if what := got[j].differs(&out[i][j], len(p[j].Markers) > 0); what != "" {
					differences = append(differences, difference{what, out[i][j].String(), got[j].String()})
				}
			}
		}
		if n == 0 || len(differences) < len(best) {
			best = differences
		}
	}
	return best
}

// differs names what differs from what was expected, empty for nothing.
func (s *seen) differs(want *seen, marked bool) string {
	switch {
	case s.step != want.step:
		return "other step"
	case s.err != want.err && s.err == "":
		return "no error"
	case s.err != want.err && want.err == "":
		return "an error"
	case s.err != want.err:
		return "another error"
	case !slices.Equal(s.rows, want.rows):
		return "rows"
	case marked: // what a marker says is told, not seen
		return ""
	case s.waits != want.waits:
		return "wait"
	case s.until != want.until:
		return "end of a wait"
	}
	return ""
}
