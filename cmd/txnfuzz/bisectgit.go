package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/gitbisect"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
)

// commits are the flags of bisect that search a repository in place of a list of builds.
type commits struct {
	repository, build, good, bad, program, cache string
	firstParent                                  bool
}

func (g *commits) add(f *pflag.FlagSet) {
	f.StringVar(&g.repository, "git", "", "search the commits of this `REPOSITORY`, a clone of the server's; your checkout in it is not touched")
	f.StringVar(&g.build, "build", "", "the `COMMAND` for sh that builds a commit, and installs it to $TXNFUZZ_PREFIX")
	f.StringVar(&g.good, "good", "", "a `REVISION` in which the finding is absent; older or younger than --bad")
	f.StringVar(&g.bad, "bad", "", "a `REVISION` in which it shows")
	f.StringVar(&g.program, "program", "", "`PATH` of the server's program below $TXNFUZZ_PREFIX or below the checkout (default: it is found by its name)")
	f.StringVar(&g.cache, "cache", "", "`FOLDER` for builds, their logs, and the worktree (default: txnfuzz/builds in your cache folder)")
	f.BoolVar(&g.firstParent, "first-parent", false, "pass over the commits that merges have brought")
}

// check reports flags that do not go together.
func (g *commits) check(f *pflag.FlagSet) error {
	if g.repository == "" {
		for _, name := range []string{"build", "good", "bad", "program", "cache", "first-parent"} {
			if f.Changed(name) {
				return usagef("--%s says how to search a repository: name that with --git", name)
			}
		}
		return nil
	}
	if f.Changed("builds") {
		return usagef("--git searches commits, --builds runs a list of builds: give one of them")
	}
	var missing []string
	for _, x := range []struct{ name, value string }{{"--build", g.build}, {"--good", g.good}, {"--bad", g.bad}} {
		if strings.TrimSpace(x.value) == "" {
			missing = append(missing, x.name)
		}
	}
	if len(missing) > 0 {
		return usagef("--git also needs %s", strings.Join(missing, ", "))
	}
	return nil
}

// find searches the repository and tells the result. With the result comes an error where several commits are left.
func (g *commits) find(cmd *cobra.Command, c *corpus.Case, name string, levels []corpus.Level, jsonFile string) (*gitbisect.Result, error) {
	if g.cache == "" {
		var err error
		if g.cache, err = gitbisect.DefaultCache(); err != nil {
			return nil, err
		}
	}
	line := &progressLine{w: cmd.ErrOrStderr()}
	r, err := gitbisect.Find(cmd.Context(), gitbisect.Options{
		Repository: g.repository, Build: g.build, Good: g.good, Bad: g.bad, Program: g.program, Cache: g.cache,
		FirstParent: g.firstParent, Name: name, Tell: line.tell, Pace: pace(os.Stderr),
		Try: func(ctx context.Context, program string) (findings.OnBuild, error) {
			return tryBuild(ctx, build{program: program}, c, levels, nil)
		},
	})
	line.clear()
	var wrong *gitbisect.NameError
	switch {
	case cmd.Context().Err() != nil:
		return nil, errors.New("interrupted; what was built is kept, so that the same command soon goes on from here")
	case errors.As(err, &wrong):
		return nil, usagef("%w", err)
	case err != nil:
		return nil, err
	}
	if jsonFile != "-" {
		tellCommits(cmd.OutOrStdout(), r)
	}
	if err := writeOutput(jsonFile, cmd.OutOrStdout(), func(w io.Writer) error { return writeIndented(w, r) }); err != nil {
		return r, err
	}
	if r.First == nil {
		return r, fmt.Errorf("git cannot tell which of %s it is", spelling.Count(len(r.Candidates), "commit"))
	}
	return r, nil
}

func tellCommits(w io.Writer, r *gitbisect.Result) {
	t := table.NewWriter()
	t.SetStyle(telling.TableStyle())
	t.AppendHeader(table.Row{"commit", "date", "subject", "version", "the finding", "runs", "verdict"})
	for i := range r.Tried {
		x := &r.Tried[i]
		t.AppendRow(table.Row{x.Short(), x.Date, x.Subject, x.Version, x.Presence, x.Runs, x.Said})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Name: "subject", WidthMax: 40}, {Name: "verdict", WidthMax: 60}})
	fmt.Fprintln(w, t.Render())
	verb := "comes"
	if r.Direction == gitbisect.Fixed {
		verb = "goes"
	}
	if r.First != nil {
		fmt.Fprintf(w, "it %s with commit %s\n", verb, r.First)
	} else {
		fmt.Fprintf(w, "it %s with one of these commits, which could not all be tested:\n", verb)
		for i := range r.Candidates {
			fmt.Fprintf(w, "  %s\n", &r.Candidates[i])
		}
	}
	fmt.Fprintln(w, "log of git bisect:", r.Log)
}

// progressLine tells what goes on. Where somebody looks, a passing line gives way to the next.
type progressLine struct {
	w       io.Writer
	passing bool
}

const eraseLine = "\r\x1b[K"

func (p *progressLine) tell(line string, passing bool) {
	p.clear()
	if p.passing = passing && isTerminal(p.w); p.passing {
		const most = 76 // a line that wraps could not be erased
		if r := []rune(line); len(r) > most {
			line = string(r[:most]) + "…"
		}
		fmt.Fprint(p.w, line)
		return
	}
	fmt.Fprintln(p.w, line)
}

func (p *progressLine) clear() {
	if p.passing {
		fmt.Fprint(p.w, eraseLine)
		p.passing = false
	}
}

func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // SQL and subjects are full of < and >
	return e.Encode(v)
}
