package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// worktree stands for the files as they are, committed or not.
const worktree = "worktree"

func compareCommand(dir *string) *cobra.Command {
	var before, after string
	var untold bool
	var examples int
	c := &cobra.Command{
		Use:   "compare [FILE...]",
		Short: "List each verdict, rule and reason on which two builds differ",
		Long: `Judges recorded histories with the oracle of two revisions and lists what changed,
grouped by the change, with the numbers of the first records of each group. Without
FILE: every file of the folder. What a revision said is kept and not asked again;
the working tree is always asked.

Status 0: no verdict changed; 1: some did; 3: something failed.`,
		Example: `  verdicts compare --old HEAD                   the working tree against its last commit
  verdicts compare --old v1 --new v2 r.jsonl.zst
  verdicts compare --new HEAD --untold          what the told places and plans change`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 {
				var err error
				if files, err = filepath.Glob(filepath.Join(*dir, "*"+ending)); err != nil {
					return err
				}
			}
			if len(files) == 0 {
				return fmt.Errorf("no records in %s; `verdicts record` makes them", *dir)
			}
			return compare(cmd.Context(), *dir, before, untold, after, files, examples, cmd.OutOrStdout())
		},
	}
	c.Flags().StringVar(&before, "old", "HEAD", "revision of git, or worktree")
	c.Flags().StringVar(&after, "new", worktree, "revision of git, or worktree")
	c.Flags().BoolVar(&untold, "untold", false, "the old judge is not shown the places of waits and the plans that servers told")
	c.Flags().IntVar(&examples, "examples", 3, "records named of each change")
	return c
}

// change is one way in which verdicts differ.
type change struct{ from, to string }

// changes holds the records of each change.
type changes map[change][]string

// add compares what two builds said of the same records.
func (cs changes) add(old, young []judged) {
	for i := range old {
		if c := (change{old[i].words(), young[i].words()}); c.from != c.to {
			cs[c] = append(cs[c], old[i].ID)
		}
	}
}

// print lists the changes, the most frequent first, and returns how many
// verdicts changed.
func (cs changes) print(out io.Writer, examples int) (changed int) {
	list := slices.SortedFunc(maps.Keys(cs), func(a, b change) int {
		return cmp.Or(len(cs[b])-len(cs[a]), strings.Compare(a.from, b.from), strings.Compare(a.to, b.to))
	})
	for _, c := range list {
		ids := cs[c]
		changed += len(ids)
		fmt.Fprintf(out, "%d × %s\n    -> %s\n       %s\n", len(ids), c.from, c.to, strings.Join(ids[:min(examples, len(ids))], " "))
	}
	return changed
}

func compare(ctx context.Context, dir, before string, untold bool, after string, files []string, examples int, out io.Writer) error {
	work, err := os.MkdirTemp("", "verdicts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	old, err := newJudge(ctx, before, filepath.Join(work, "old"))
	if err != nil {
		return err
	}
	old.untold = untold
	young, err := newJudge(ctx, after, filepath.Join(work, "new"))
	if err != nil {
		return err
	}
	seen, total := changes{}, 0
	for _, file := range files {
		a, err := old.verdicts(ctx, dir, file)
		if err != nil {
			return err
		}
		b, err := young.verdicts(ctx, dir, file)
		if err != nil {
			return err
		}
		if len(a) != len(b) {
			return fmt.Errorf("%s: %s judged %d records, %s %d", file, before, len(a), after, len(b))
		}
		total += len(a)
		seen.add(a, b)
	}
	if total == 0 {
		return errors.New("the files hold no record")
	}
	changed := seen.print(out, examples)
	fmt.Fprintf(out, "%d histories, %d verdicts changed in %d ways\n", total, changed, len(seen))
	if changed > 0 {
		return errChanged
	}
	return nil
}

// judged is what scripts/verdicts/judge prints of one record.
type judged struct {
	ID      string         `json:"id"`
	Verdict oracle.Verdict `json:"verdict"`
	Failed  string         `json:"failed"`
}

// words say what must not change unexplained: the outcome, its rules, where it
// differs and the reason of an unknown. The sentence that explains a violation and
// the share of what was judged may be put otherwise.
func (j *judged) words() string {
	v := &j.Verdict
	switch {
	case j.Failed != "":
		first, _, _ := strings.Cut(j.Failed, "\n")
		return "failed: " + first
	case v.Outcome == oracle.Unknown:
		return "unknown: " + v.Reason
	case v.Outcome == oracle.OK:
		return "ok"
	case v.Outcome == oracle.Known:
		return fmt.Sprintf("known %s (%s)", strings.Join(v.Rules, "+"), v.Kind)
	}
	return fmt.Sprintf("%s %s %s", v.Outcome, v.Kind, strings.Join(v.Rules, "+"))
}

// judge is the oracle of one revision, as a program.
type judge struct {
	revision string // what its verdicts are kept under; empty: they are not kept
	binary   string
	untold   bool // hide what servers told
}

// newJudge builds the program that judges from a revision, in a working tree of
// its own. A revision older than that program gets today's source of it.
func newJudge(ctx context.Context, revision, work string) (*judge, error) {
	run := func(dir, name string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir
		b, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, b)
		}
		return strings.TrimSpace(string(b)), nil
	}
	top, err := run("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	j := &judge{binary: work + "-judge"}
	from, module := top, "-mod=readonly"
	if revision != worktree {
		if j.revision, err = run(top, "git", "rev-parse", "--verify", revision+"^{commit}"); err != nil {
			return nil, err
		}
		if _, err := run(top, "git", "worktree", "add", "--detach", work, j.revision); err != nil {
			return nil, err
		}
		defer func() {
			_, _ = run(top, "git", "worktree", "remove", "--force", work)
		}()
		source := filepath.Join("scripts", "verdicts", "judge")
		if err := os.CopyFS(filepath.Join(work, source), os.DirFS(filepath.Join(top, source))); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("give revision %s the program that judges: %w", revision, err)
		}
		from, module = work, "-mod=mod" // an old go.mod may name what it needs as indirect
	}
	if _, err := run(from, "go", "build", module, "-tags", "notidb", "-o", j.binary, "./scripts/verdicts/judge"); err != nil {
		return nil, err
	}
	return j, nil
}

// verdicts judges a file of records, or reads what this revision said of it
// before.
func (j *judge) verdicts(ctx context.Context, dir, file string) ([]judged, error) {
	kept, suffix, args := "", "", []string{file}
	if j.untold {
		suffix, args = "-untold", []string{"-untold", file}
	}
	if j.revision != "" {
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s-%d-%d.jsonl", strings.TrimSuffix(filepath.Base(file), ending), info.Size(), info.ModTime().Unix())
		kept = filepath.Join(dir, "judged", j.revision[:12]+suffix, name)
		if b, err := os.ReadFile(kept); err == nil {
			return parseJudged(b)
		}
	}
	cmd := exec.CommandContext(ctx, j.binary, args...)
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("judge %s: %w", file, err)
	}
	if kept != "" {
		if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(kept+".part", b, 0o644); err != nil {
			return nil, err
		}
		if err := os.Rename(kept+".part", kept); err != nil {
			return nil, err
		}
	}
	return parseJudged(b)
}

func parseJudged(b []byte) ([]judged, error) {
	var out []judged
	for d := json.NewDecoder(strings.NewReader(string(b))); d.More(); {
		var j judged
		if err := d.Decode(&j); err != nil {
			return nil, fmt.Errorf("read verdict %d: %w", len(out)+1, err)
		}
		out = append(out, j)
	}
	return out, nil
}
