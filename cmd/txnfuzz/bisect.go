package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
	"github.com/txnfuzz/txnfuzz/harness/server"
)

func newBisect() *cobra.Command {
	var builds []string
	var levels, jsonFile string
	var write bool
	cmd := &cobra.Command{
		Use:   "bisect FILE [--builds BUILD]... [flags]",
		Short: "Tell which versions of a server show a finding",
		Long: `Runs a case on many builds of a server, and tells in which it shows what its header
tells, by its fingerprint or its kind: the first that does, and the last before that
which does not. All are tried, since a finding may come and go. A finding that shows in
some runs only (reproduced: 3/10) is run until the chance that it was merely missed is
below 1 %.

A build is a target (postgres:15.3); a family, such as postgres, which stands for all
of its versions that are installed (scripts/servers fetches more); a program of your
own (~/build/bin/postgres); or a folder, for all such programs below it. Without
--builds it is the family of the server on which the case was found.

With --write the result is put into the header of the file (versions: absent in 11.22;
shows in 12.22 to 18.4), which reports quote.

Exit status: 0 if a build could tell, 3 if none could.`,
		Example: `  txnfuzz bisect corpus/found/postgres-recheck-loses-union-row.sql
  txnfuzz bisect corpus/known/postgres-tid-scan.sql --builds postgres:17.6 --builds postgres:18
  txnfuzz bisect finding.sql --builds ~/builds --write`,
		Args: exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := target.ParseLevels(levels)
			if err != nil {
				return usagef("--levels: %w", err)
			}
			c, err := loadCase(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if len(builds) == 0 {
				home := findings.Home(c)
				if target.IsDSN(home) {
					return usagef("it was found on a server that somebody else runs: name builds with --builds")
				}
				family, _, _ := strings.Cut(home, ":")
				builds = []string{family}
			}
			list, err := buildsOf(cmd.Context(), builds)
			if err != nil {
				return err
			}
			results, err := tryBuilds(cmd, list, c, asked)
			if err != nil {
				return err
			}
			if a, b := apart(results); a != "" {
				return usagef("--builds: versions of %s and of %s have no order", a, b)
			}
			findings.SortBuilds(results)
			if err := tellBuilds(cmd.OutOrStdout(), results, jsonFile); err != nil {
				return err
			}
			if !slices.ContainsFunc(results, func(b findings.OnBuild) bool { return b.Presence != findings.Untestable }) {
				return errors.New("no build could tell")
			}
			if write {
				c.Set(findings.KeyVersions, findings.InVersions(results))
				if err := wholefile.Write(args[0], corpus.Print(c, corpus.Text)); err != nil {
					return fmt.Errorf("write the result: %w", err)
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&builds, "builds", nil, "a target, a family, a program or a folder of programs; may be given several times")
	f.StringVar(&levels, "levels", "", "isolation levels for a case that names none (default: all that a build has)")
	f.BoolVar(&write, "write", false, "put the result into the header of the file")
	f.StringVar(&jsonFile, "json", "", "write the results as a JSON list; - is standard output")
	addAllowKill(f)
	return cmd
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

// build is what --builds names: a target, or the program of a server of one's own.
type build struct{ target, program string }

func buildsOf(ctx context.Context, names []string) (list []build, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			programs := []string{name}
			if info.IsDir() {
				if programs, err = serversBelow(name); err != nil {
					return nil, err
				}
			}
			for _, p := range programs {
				list = append(list, build{program: p})
			}
			continue
		}
		family := func(t string) bool { return strings.HasPrefix(t, name+":") && !strings.Contains(t, ",") }
		versions := slices.DeleteFunc(target.Installed(ctx), func(t string) bool { return !family(t) })
		if len(versions) == 0 {
			versions = []string{name}
		}
		for _, v := range versions {
			list = append(list, build{target: v})
		}
	}
	return list, nil
}

// servers are the names of programs that a folder of builds is searched for.
var servers = []string{"postgres", "mysqld", "mariadbd", "tidb-server"}

func serversBelow(dir string) (out []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && slices.Contains(servers, d.Name()) {
			out = append(out, path)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = usagef("--builds %s: no %s is below it", dir, strings.Join(servers, ", "))
	}
	return out, err
}

// tryBuilds runs the case on one build after the other. One that cannot be started does not keep the others from being
// tried.
func tryBuilds(cmd *cobra.Command, list []build, c *corpus.Case, levels []corpus.Level) ([]findings.OnBuild, error) {
	meter := newMeter(cmd.ErrOrStderr(), len(list))
	defer meter.stop()
	var out []findings.OnBuild
	for _, b := range list {
		r, err := tryBuild(cmd.Context(), b, c, levels, meter)
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
	ctx context.Context, b build, c *corpus.Case, levels []corpus.Level, meter *meter,
) (r findings.OnBuild, err error) {
	name := b.target
	if b.program != "" {
		var value string
		before := os.Getenv(server.EnvBinary)
		if name, value, err = server.OwnBinary(ctx, b.program); err != nil {
			return r, err
		}
		if err := os.Setenv(server.EnvBinary, value); err != nil {
			return r, err
		}
		defer os.Setenv(server.EnvBinary, before)
	}
	t, err := target.Open(ctx, name, target.Options{Clean: true, Progress: meter.log()})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if len(levels) == 0 {
		levels = t.Levels()
	}
	progress := meter.begin(t.Name, 1)
	r = findings.TryOn(ctx, t, c, levels)
	progress.step(1)
	if b.program != "" {
		r.Build = b.program
	}
	return r, nil
}

func tellBuilds(people io.Writer, results []findings.OnBuild, jsonFile string) error {
	if jsonFile == "-" {
		return writeBuilds(people, results)
	}
	t := table.NewWriter()
	t.SetStyle(telling.TableStyle())
	t.AppendHeader(table.Row{"build", "version", "the finding", "runs", "verdict"})
	for _, b := range results {
		t.AppendRow(table.Row{b.Build, b.Version, b.Presence, b.Runs, b.Said})
	}
	fmt.Fprintln(people, t.Render())
	turns := findings.Turns(results)
	for _, turn := range turns {
		verb := "comes"
		if turn[1].Presence != findings.Shows {
			verb = "goes"
		}
		fmt.Fprintf(people, "it %s between %s and %s\n", verb, turn[0].Build, turn[1].Build)
	}
	fmt.Fprintln(people, findings.InVersions(results))
	if jsonFile == "" {
		return nil
	}
	return writeOutput(jsonFile, people, func(w io.Writer) error { return writeBuilds(w, results) })
}

func writeBuilds(w io.Writer, results []findings.OnBuild) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(results)
}
