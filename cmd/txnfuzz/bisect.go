package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/gitbisect"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/server"
)

func newBisect() *cobra.Command {
	var builds []string
	var levels, jsonFile string
	var write bool
	var git commits
	cmd := &cobra.Command{
		Use:   "bisect FILE [--builds BUILD]... | FILE --git REPOSITORY --build COMMAND --good REVISION --bad REVISION",
		Short: "Tell which versions, or which commit of a server, brought a finding",
		Long: `Runs a case on many builds of a server, and tells in which it shows what its header
tells, by its fingerprint or its kind. All are tried, since a finding may come and go:
where it does is told along each branch, which is what gets fixes of its own
(PostgreSQL 15; MariaDB 10.11), and from one branch to the next. A finding that shows in
some runs only (reproduced: 3/10) is run until the chance that it was merely missed is
below 1 %.

A build is a target (postgres:15.3); a family, such as postgres, which stands for all
of its versions that are installed (scripts/servers fetches more); a program of your
own (~/build/bin/postgres); or a folder, for all such programs below it. Without
--builds it is the family of the server on which the case was found. Families and
programs run with the same replica or cluster if the case was found on one.

With --git it searches the commits of a repository, by git bisect, for the one with
which the finding came; or with which it went, if --bad is older than --good. This runs
in a worktree of its own: your checkout is not touched. For each commit --build runs
there, with its output in a log. What it installs to $TXNFUZZ_PREFIX, a folder for this
commit and this command, is kept for the next finding. (Of a TiDB the program alone is
enough; of the others what is only in the worktree is not kept.) A commit that does not
build, or cannot run the case, is skipped. If another bug shows there instead, the
finding counts as absent. --good and --bad are tried first.

With --write the result is put into the header of the file (versions: absent in 11.22;
shows in 12.22 to 18.4; or introduced: COMMIT, fixed: COMMIT), which reports quote.

Exit status: 0 if a build could tell, or the commit is found; 2 wrong usage; 3 if not.`,
		Example: `  txnfuzz bisect corpus/found/postgres-recheck-loses-union-row.sql
  txnfuzz bisect corpus/known/postgres-tid-scan.sql --builds postgres:17.6 --builds postgres:18
  txnfuzz bisect finding.sql --builds ~/builds --write
  txnfuzz bisect finding.sql --git ~/src/postgres --good REL_15_1 --bad REL_15_3 \
      --build 'git clean -fdxq && ./configure --prefix=$TXNFUZZ_PREFIX && make -j8 install'
  txnfuzz bisect finding.sql --git ~/src/tidb --good v8.1.0 --bad v8.5.0 --build 'make server'`,
		Args: exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := target.ParseLevels(levels)
			if err != nil {
				return usagef("--levels: %w", err)
			}
			if err := errors.Join(git.check(cmd.Flags()), placesFor(jsonFile)); err != nil {
				return err
			}
			c, err := loadCase(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			set := func(key, value string) error {
				if !write {
					return nil
				}
				c.Set(key, value)
				if err := wholefile.Write(args[0], corpus.Print(c, corpus.Text)); err != nil {
					return fmt.Errorf("write the result: %w", err)
				}
				return nil
			}
			if git.repository != "" {
				r, err := git.find(cmd, c, corpus.NameOf(args[0]), asked, jsonFile)
				if r == nil {
					return err
				}
				return errors.Join(err, set(keysOfCommits[r.Direction], r.Header()))
			}
			results, err := onBuilds(cmd, builds, c, asked)
			if err != nil {
				return err
			}
			if err := tellBuilds(cmd.OutOrStdout(), results, jsonFile); err != nil {
				return err
			}
			if !slices.ContainsFunc(results, func(b findings.OnBuild) bool { return b.Presence != findings.Untestable }) {
				return errors.New("no build could tell")
			}
			return set(timeline.KeyVersions, findings.InVersions(results))
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&builds, "builds", nil, "a target, a family, a program or a folder of programs; may be given several times")
	git.add(f)
	f.StringVar(&levels, "levels", "", "isolation levels for a case that names none (default: all that a build has)")
	f.BoolVar(&write, "write", false, "put the result into the header of the file")
	f.StringVar(&jsonFile, "json", "", "write the results as JSON, a list of builds or one object with --git; - is standard output")
	addAllowKill(f)
	return cmd
}

// keysOfCommits are the header keys for what a search of a repository finds.
var keysOfCommits = map[gitbisect.Direction]string{
	gitbisect.Introduced: timeline.KeyIntroduced,
	gitbisect.Fixed:      timeline.KeyFixed,
}

// onBuilds runs the case on the builds that were named, else on those of the server on which it was found, and returns
// them in the order of their versions.
func onBuilds(cmd *cobra.Command, builds []string, c *corpus.Case, levels []corpus.Level) ([]findings.OnBuild, error) {
	if len(builds) == 0 {
		home := findings.Home(c)
		if target.IsDSN(home) {
			return nil, usagef("it was found on a server that somebody else runs: name builds with --builds")
		}
		builds = []string{familyOf(home)}
	}
	list, err := buildsOf(cmd.Context(), builds, findings.Home(c))
	if err != nil {
		return nil, err
	}
	results, err := tryBuilds(cmd, list, c, levels)
	if err != nil {
		return nil, err
	}
	if a, b := apart(results); a != "" {
		return nil, usagef("--builds: versions of %s and of %s have no order", a, b)
	}
	findings.SortBuilds(results)
	return results, nil
}

// apart returns two builds of different servers; "" if there are none.
func apart(builds []findings.OnBuild) (a, b string) {
	var first *findings.OnBuild
	for i := range builds {
		switch x := &builds[i]; {
		case x.DBMS == "":
		case first == nil:
			first = x
		case x.DBMS != first.DBMS:
			return first.Build, x.Build
		}
	}
	return "", ""
}

// familyOf is a target without its version and options.
func familyOf(name string) string {
	server, _, _ := strings.Cut(name, ",")
	family, _, _ := strings.Cut(server, ":")
	return family
}

// likeHome makes a server the replica or cluster that the target is which a case was found on, if it is one: a server
// alone has no other node on which the finding could show.
func likeHome(server, home string) string {
	if !target.OfSeveral(home) {
		return server
	}
	if familyOf(home) == "galera" { // as which no program tells itself
		server = strings.Replace(server, "mariadb", "galera", 1)
	}
	if _, options, some := strings.Cut(home, ","); some {
		server += "," + options
	}
	return server
}

// build is what --builds names: a target, or the program of a server of one's own.
type build struct{ target, program string }

// buildsOf returns what is named. home is the target that the case was found on.
func buildsOf(ctx context.Context, names []string, home string) (list []build, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			programs := []string{name}
			if info.IsDir() {
				if programs, err = gitbisect.ServersBelow(name); err != nil {
					return nil, err
				}
				if len(programs) == 0 {
					return nil, usagef("--builds %s: no %s is below it", name, strings.Join(gitbisect.Servers, ", "))
				}
			}
			for _, p := range programs {
				list = append(list, build{program: p})
			}
			continue
		}
		before := len(list)
		for _, t := range harness.Available(ctx) {
			if t.Available && strings.HasPrefix(t.Name, name+":") {
				list = append(list, build{target: likeHome(t.Name, home)})
			}
		}
		if len(list) == before {
			list = append(list, build{target: name})
		}
	}
	return list, nil
}

// tryBuilds runs the case on one build after the other. One that cannot be started does not keep the others from being
// tried.
func tryBuilds(cmd *cobra.Command, list []build, c *corpus.Case, levels []corpus.Level) ([]findings.OnBuild, error) {
	meter := newMeter(cmd.ErrOrStderr(), len(list))
	defer meter.stop()
	var out []findings.OnBuild
	for _, b := range list {
		progress := meter.begin(b.target+b.program, 1)
		r, err := tryBuild(cmd.Context(), b, c, levels, meter.log())
		progress.step(r.Runs)
		progress.end()
		if cmd.Context().Err() != nil {
			return nil, cmd.Context().Err()
		}
		if err != nil {
			r = findings.OnBuild{Build: b.target + b.program, Presence: findings.Untestable, Said: target.OneLine(err.Error())}
		}
		out = append(out, r)
	}
	return out, nil
}

func tryBuild(
	ctx context.Context, b build, c *corpus.Case, levels []corpus.Level, progress io.Writer,
) (r findings.OnBuild, err error) {
	name := b.target
	if b.program != "" {
		var value string
		before := os.Getenv(harness.EnvBinary)
		if name, value, err = server.OwnBinary(ctx, b.program); err != nil {
			return r, err
		}
		if err := os.Setenv(harness.EnvBinary, value); err != nil {
			return r, err
		}
		defer os.Setenv(harness.EnvBinary, before)
		name = likeHome(name, findings.Home(c))
	}
	t, err := target.Open(ctx, name, target.Options{Clean: true, Progress: progress})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if len(levels) == 0 {
		levels = t.Levels()
	}
	r = findings.TryOn(ctx, t, c, levels)
	if b.program != "" {
		r.Build = b.program
	}
	return r, nil
}

func tellBuilds(people io.Writer, results []findings.OnBuild, jsonFile string) error {
	if jsonFile == "-" {
		return writeIndented(people, results)
	}
	t := table.NewWriter()
	t.SetStyle(telling.TableStyle())
	t.AppendHeader(table.Row{"build", "version", "the finding", "runs", "verdict"})
	for _, b := range results {
		t.AppendRow(table.Row{b.Build, b.Version, b.Presence, b.Runs, b.Said})
	}
	fmt.Fprintln(people, t.Render())
	for _, b := range results {
		if b.Turn != "" {
			fmt.Fprintf(people, "it %s between %s and %s\n", b.Turn, b.After, b.Build)
		}
	}
	fmt.Fprintln(people, findings.InVersions(results))
	return writeOutput(jsonFile, people, func(w io.Writer) error { return writeIndented(w, results) })
}
