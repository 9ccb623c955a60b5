package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

const sqlUsage = "how much SQL only the server can compute (JSON, REGEXP, windows, UNION, outer joins, common table expressions and the like): known (none), mixed (in one of some two hundred cases; the default), or wide (in every third; such a case takes as long as some ten others), on PostgreSQL all but known have what only PostgreSQL has; and in how many cases sessions are killed and disconnected: kill (in every one), nokill (in none), by default in one of 64 on a server that txnfuzz started; and how many cases have tables with foreign keys, triggers, checks and generated columns: constraints (every one), noconstraints (none), by default one of 256 on a MySQL or MariaDB that txnfuzz started; as in known,kill"

func newRun() *cobra.Command {
	var s campaign.Settings
	var levels, conflict, txns, breadth, solver, jsonFile, state, address string
	var forRaces bool
	var sent sentBy
	var ci surfaces
	cmd := &cobra.Command{
		Use:   "run [flags] [CASE...]",
		Short: "Make random cases, run them, and save what is wrong",
		Long: `Makes random cases, runs them on a target, and compares each answer with what the
target promises. A case with a wrong answer (a finding) is saved at once, confirmed by
ten more runs on a server that has run nothing else, reduced to a few statements, and
listed at the end. Without --cases and --duration it goes on until Ctrl-C.

Findings are confirmed and reduced while further cases run. One that is not done when
the time is up, or at Ctrl-C, stays as it was saved; the header of its file holds the
command that does the rest.

The same --seed, --workers and --cases make the same cases; without --seed each run
makes new ones. With --corpus they also depend on what was seen: an input (what a
random case is made from) whose case showed new behaviour is kept, and new inputs are
made by changing those whose behaviour is rarest. --resume continues such a campaign,
even after its process was killed. With --conflict pattern they depend on the patterns that
were seen.

With --against each case runs on a second target, too. The two runs are compared
statement by statement: rows, errors, counts, warnings, waits and what the tables hold in
the end. When a statement waits on one of the two only, the rest of the case is not
compared. Servers may differ, so each difference is put down to what is known of the
two, and counted: a rule that holds on one of them only, another number for the same
error, another dialect, or a choice that what they promise leaves to both. What is left
is unattributed. It is run ten more times on both, and is a finding if at least nine of
these show it; the rest comes by chance. Two builds of one series, such as 9.7, should
decide alike, so there nothing counts as a choice: that makes a release gate.

  --target mysql:9.7 --against mysql:9.7,binlog=off   the same server, another setting
  --binary ~/build/mysqld --against mysql:9.7         your build and the release

On a target with a replica (mysql:9.7,replica=row; see txnfuzz targets) cases run on the
primary. Behind each the replica is waited for until it has applied all that was
committed, and the tables of the two are compared. Rows that differ are a finding, and so
is a replica that stops; its case replays on the same topology.

With --protocol statements are sent prepared: a server then takes other ways through its
program, and keeps plans and what it knows of tables from one execution to the next. The
header of a finding says how its statements were sent (protocol: prepare), and replay
sends them so. What the server cannot prepare (it answers with error 1295), such as BEGIN
on MySQL, goes as text; the summary counts both.

With --races one statement of each case is held inside of the server, at an instruction of
its own program (in the built-in TiDB: at a request to its store), while the other sessions
go on: so a race shows each time that a load test meets once in an hour. The file of a
finding says where it was held, and replay holds it there again. With CASE it searches that
case, at many more places: at the statement that the header of the file names, or at each in
turn. It knows the flags --target, --levels, --duration, --cases, --seed, --out, --baseline,
--json, --reduce and --state.`,
		Example: `  txnfuzz run --duration 10m
  txnfuzz run --duration 5m --fail-on new --junit junit.xml --sarif findings.sarif
  txnfuzz run --target mysql:9.7 --levels RC,RR --cases 10000 --json -
  txnfuzz run --target mariadb:11.8 --server-opt innodb_snapshot_isolation=OFF --cases 1000
  txnfuzz run --target mariadb:10.11 --against mariadb:11.8 --cases 2000
  txnfuzz run --target mariadb:11.8 --corpus /tmp/inputs --duration 2h --resume
  txnfuzz run --target mysql:9.7 --schema shop.sql --duration 5m
  txnfuzz run --target mysql:9.7,replica=row,workers=4 --duration 10m
  txnfuzz run --target tidb:2025-11 --protocol execute --cases 2000
  txnfuzz run --target mariadb:11.8 --races --duration 5m
  txnfuzz run --target mysql:9.7 --races torn.sql
  txnfuzz run --target postgres:18 --races --levels SER --state search.json
  txnfuzz run --target embedded --races --duration 5m
  txnfuzz run --target 'root:secret@tcp(127.0.0.1:3306)/' --workers 4 --out /tmp/found`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) > 0 && !forRaces {
				return usagef("unexpected argument %q: run makes its own cases; replay runs a stored one, and run --races searches it", files[0])
			}
			var err error
			s.Protocol = sent.protocol
			if s.Levels, err = target.ParseLevels(levels); err != nil {
				return usagef("--levels: %w", err)
			}
			if s.Conflict, err = mutate.ParseConflict(conflict); err != nil {
				return usagef("--conflict: %w", err)
			}
			said, err := campaign.ParseSQL(breadth)
			if err != nil {
				return usagef("--sql: %w", err)
			}
			s.SQL = campaign.MixedSQL
			if said.Breadth != nil {
				s.SQL = *said.Breadth
			}
			if said.Ends != nil {
				s.Ends = *said.Ends
			}
			if said.Constraints != nil {
				s.Constraints = *said.Constraints
			}
			others := target.IsDSN(s.Target) || target.IsDSN(s.Against)
			switch {
			case s.Ends != campaign.None && others && !killsAllowed():
				return usagef("--sql kill: %s", errKillOthers)
			case s.Ends != campaign.None && s.Unique:
				return usagef("--sql kill and --unique-values exclude each other")
			case s.Constraints != campaign.None && s.Unique:
				return usagef("--sql constraints and --unique-values exclude each other")
			case s.Schema != "" && (s.Constraints != campaign.None || s.Unique || cmd.Flags().Changed("known")):
				return usagef("--schema makes cases on its own tables: it and --known, --unique-values and --sql constraints exclude each other")
			}
			if !others && s.Against == "" && !s.Unique {
				if said.Ends == nil {
					s.Ends = campaign.SomeEnds
				}
				if said.Constraints == nil {
					s.Constraints = campaign.SomeConstraints
				}
			}
			if s.Solver, err = target.ParseSolver(solver); err != nil {
				return usagef("--solver: %w", err)
			}
			if said.Breadth == nil && (s.Solver == judging.BySolver || s.Against != "" || s.Unique) {
				s.SQL = campaign.KnownSQL // servers print what they compute in ways of their own, and no other judge knows such SQL
			}
			if txns != "" {
				if s.Transactions.Min, s.Transactions.Max, err = parseTxns(txns); err != nil {
					return usagef("--txns: %w", err)
				}
			}
			switch {
			case s.Cases < 0:
				return usagef("--cases: want 0 or more, found %d", s.Cases)
			case s.Duration < 0:
				return usagef("--duration: want 0 or more, found %s", s.Duration)
			case s.Workers < 1:
				return usagef("--workers: want 1 or more, found %d", s.Workers)
			case cmd.Flags().Changed("cases") && cmd.Flags().Changed("duration"):
				return usagef("--cases and --duration exclude each other")
			}
			if s.Resume && s.Against != "" {
				return usagef("--resume and --against exclude each other")
			}
			if s.Resume && s.Corpus == "" {
				return usagef("--resume: want --corpus, the folder of the campaign to go on with")
			}
			if state != "" && !forRaces {
				return usagef("--state: want --races, a search whose state it keeps")
			}
			failOn, err := ci.failOn()
			if err != nil {
				return err
			}
			machines, err := ci.onStdout(jsonFile)
			if err != nil {
				return err
			}
			if err := placesFor(jsonFile, ci.junit, ci.sarif); err != nil {
				return err
			}
			if f := cmd.Flags(); f.Changed("known") {
				if info, err := os.Stat(s.Known); err != nil || !info.IsDir() {
					return usagef("--known: there is no folder %s", s.Known)
				}
			}
			if !cmd.Flags().Changed("seed") {
				s.Seed = uint64(rand.Uint32()) // short enough to be typed
			}
			if !s.Resume { // which goes on with the seed of the campaign
				fmt.Fprintf(cmd.ErrOrStderr(), "seed %d\n", s.Seed)
			}
			web, ctx, err := watch(cmd, address, s.Target)
			if err != nil {
				return err
			}
			if forRaces {
				return errors.Join(runRaces(cmd, ctx, s, web, state, jsonFile, files), web.end())
			}
			if web != nil {
				s.Live = func(r *campaign.Report) { web.server.Show(campaignBoard(&s, r)) }
			}
			s.Every = pace(os.Stderr)
			var shown *status
			if isTerminal(os.Stderr) && !s.Phases {
				shown = newStatus(os.Stderr)
				s.Progress, s.Area = web.progress(shown), true
			} else {
				s.Progress = web.progress(os.Stderr)
			}
			begun := time.Now()
			report, err := campaign.Run(ctx, s)
			interrupted := ctx.Err() // before the pages end, which ends it, too
			if shown != nil {
				shown.end()
			}
			err = errors.Join(err, web.end())
			var schema *campaign.SchemaError
			if errors.As(err, &schema) {
				return usagef("--schema: %w", schema)
			}
			if report == nil {
				if exitCode(err) == exitUsage {
					return err
				}
				failed := campaign.NotRun(s, begun)
				failed.End = campaign.NewEnd(exitFailure, failOn, err, interrupted)
				return errors.Join(err, writeOutput(jsonFile, cmd.OutOrStdout(), failed.WriteJSON), ci.writeRun(cmd, s.Target, nil, failOn, err))
			}
			status := exitCode(err)
			if failOn.Report(report) && !unwritten(err) {
				status = exitFound
			}
			report.End = campaign.NewEnd(status, failOn, err, interrupted)
			report.ShowPhases = s.Phases
			text := forPeople(machines, cmd.OutOrStdout(), cmd.ErrOrStderr())
			err = errors.Join(err,
				telling.WriteReport(text, report),
				writeOutput(jsonFile, cmd.OutOrStdout(), report.WriteJSON),
				ci.writeRun(cmd, s.Target, report, failOn, err))
			if failOn.Report(report) && !unwritten(err) {
				if err != nil {
					fmt.Fprintln(cmd.ErrOrStderr(), "txnfuzz: "+err.Error())
				}
				return errFound
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.Target, "target", target.Default, "embedded, mariadb:11.8, mysql, postgres:18, tidb:2025-11, … or a DSN; see txnfuzz targets")
	f.StringVar(&s.Against, "against", "", "a second target: each case runs there, too; what the two do differently is counted, and a finding if nothing explains it")
	addServerOpts(cmd, oneTarget(&s.Target))
	f.DurationVar(&s.Duration, "duration", 0, "end after this time, for example 90s or 2h; the server's start counts, too")
	f.IntVar(&s.Cases, "cases", 0, "end after this many cases")
	f.StringVar(&levels, "levels", "", "isolation levels, such as RC,RR (default: all that the target has)")
	f.StringVar(&txns, "txns", "", "how many transactions a case has, 2 to 4, or a range such as 2..4, whose numbers are equally frequent (default: two, and in one case of eight three or four)")
	f.StringVar(&conflict, "conflict", string(mutate.Mix), "how statements are made to conflict: none, fsf, psf or ctc (the strategies of the Fucci paper), pattern (the transactions follow one of the shortest patterns of an anomaly, of those not yet seen at their level one that was tried least), or mix of the first four")
	f.StringVar(&breadth, "sql", "", sqlUsage)
	addAllowKill(f)
	addPromise(f)
	addWeb(f, &address)
	f.StringVar(&solver, "solver", "both", solverUsage)
	f.BoolVar(&s.Unique, "unique-values", false, "two more columns make every written value unique: then who read from whom is read off the answers, too, without the rules")
	f.IntVar(&s.Workers, "workers", min(runtime.GOMAXPROCS(0), 8), "cases that run at a time")
	f.Uint64Var(&s.Seed, "seed", 0, "which cases are made (default: a random seed, which is printed)")
	addProtocol(f, &sent, protocolUsage+" (default text)")
	f.StringVar(&s.Out, "out", findings.DefaultOut, "folder for findings")
	f.BoolVar(&s.Strict, "strict", false, "known deviations are findings, too")
	f.StringVar(&s.Baseline, "baseline", "", "file of confirmed bugs that are not reported, one a line: fingerprint | reason | link | last day")
	f.StringVar(&jsonFile, "json", "", "write the summary as JSON; - is standard output")
	ci.add(f)
	f.StringVar(&s.Schema, "schema", "", "make all cases on the tables of this dump, such as mysqldump --no-data or pg_dump --schema-only writes it, in place of random tables")
	f.StringVar(&s.Known, "known", findings.StoredDir, "folder of stored cases from which new ones are made; if it is not there, the cases in the program")
	f.StringVar(&s.Corpus, "corpus", "", "keep inputs that show new behaviour in this folder, and make new ones from them")
	f.BoolVar(&s.Resume, "resume", false, "continue the campaign of --corpus; --cases and --duration count from its start")
	f.BoolVar(&s.Phases, "phases", false, "print what each phase of a run costs (--json always holds it)")
	f.BoolVar(&forRaces, "races", false, "hold one statement of each case inside of the server, at an instruction of its own program, or, in the built-in TiDB, at a request to its store, while other sessions go on: embedded, or MySQL, MariaDB and PostgreSQL that txnfuzz starts itself, on Linux on amd64")
	f.StringVar(&state, "state", "", "with --races: go on with the search of this file, which is kept up to date")
	f.DurationVar(&s.Reduce, "reduce", time.Minute, "the longest time for reducing one finding; 0: do not reduce")
	return cmd
}
