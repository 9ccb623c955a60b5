package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle/model"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

func newLoad() *cobra.Command {
	var s load.Settings
	var sent sentBy
	var level, reads, opened, faults, backup, history, jsonFile, address string
	var models []string
	var declared, program, adapter string
	var nodes []string
	cmd := &cobra.Command{
		Use:   "load [flags]",
		Short: "Run many clients at full speed, and check what they read and wrote",
		Long: `Runs many clients that work on the same rows at full speed, records what each of
them read and wrote, and checks the record while they go on. So it finds races, which
txnfuzz run cannot show: that sends one statement at a time. The work is cut into
epochs of some thousand transactions. After each all clients pause, every key is read,
and the epoch is checked while the next one runs.

Workloads, whose values show which version of a key came first:
  append     lists that only grow; a read shows all appends before it
  chain      as append; most transactions read all keys in one SELECT, the others write early
             and commit late, beside many connections with an open transaction (--bystanders)
  register   unique values; most writes follow a read of the same key
  mini       two reads and two writes at most, each write after a read of its key
  mixed      a few rows and every kind of statement: reads by primary key, range, secondary
             and covering index, upserts, UPDATE, REPLACE, DELETE and INSERT again
  predicate  rows that come and go, SELECTs by a condition
  bank       transfers between accounts; the total stays

Transactions begin in several ways (--openings): with BEGIN, with a consistent snapshot,
read only, as one statement without BEGIN; some roll back to a savepoint. What was rolled
back must never be seen.

Workloads whose invariants need no order of versions (txnfuzz check reads none of them):
  queue         jobs taken with FOR UPDATE SKIP LOCKED are done once, none is lost
  index         all indexes of a table give the same rows
  parent-child  foreign keys with CASCADE, SET NULL and RESTRICT leave no orphan
  counter       upserts add up to what was acknowledged
  sequence      AUTO_INCREMENT, identity and SEQUENCE give no value twice
  trigger       what triggers write equals their table
  ddl           columns, indexes, names and partitions change beside reads and writes
  xa            what is prepared is there until it is ended, once

A finding is an anomaly that the server's manual excludes at the level, or that the
model of --model excludes. The other anomalies are only counted. A connection that is
lost in COMMIT, or a timeout there, counts as an unknown outcome, every other error as
an abort. A finding is saved at once in --found, reduced to the fewest transactions
that show it. txnfuzz check reads these files, and the --out file (with --follow while
it grows).

After the run each finding is made into a program, within --program-time: a few clients
with a few statements that are run again and again, and checked in the same way, until
it is known how often they show the finding. txnfuzz replay repeats a program (.load):
until it shows the finding, or until the chance to miss that is below 1 %.

--fault needs a private server. kill ends it with SIGKILL and starts it again on the
same data; it has durable settings and a real file system. powerloss undoes what the
server had not synced, too, as if the machine's power had failed (MySQL, MariaDB and
PostgreSQL on Linux; needs a C compiler). pause stops its process for a while. What the
server acknowledged must still be there afterwards.

In a cluster that txnfuzz starts (galera:11.8,nodes=3, mysql:9.7,group=3; three nodes or
more) kill and pause are done to one node at a time, and partition takes the network of one
away for a while. The others go on without it; it comes back by itself, which is waited
for. What a node acknowledged must be on all nodes when the epoch ends. partition needs
Linux, and leave to make user namespaces and network namespaces.

A primary and its replica (mysql:9.7,replica=row, postgres:18,standby=1) take the same faults.
Nobody takes the primary's place: while it is away its clients wait, and the replica comes to
what it lacks by itself. With sync=on the standby must hold all that was acknowledged, too,
when the primary has been killed.

A target of several servers (mysql:9.7,replica=row, postgres:18,standby=1, galera:11.8,nodes=3)
has clients on all of them: those on replicas only read. What the nodes show together is held
against what their manuals promise of that, and when an epoch ends all must hold the same.

--target DSN --node DSN,DSN,ro:DSN loads a cluster that runs already; a node with ro: before
it is only read from. There nothing is killed, stopped, reset or set. txnfuzz starts clusters
of its own for targets such as galera:11.8,nodes=3 and mysql:9.7,group=3.

--backup backs a private server up again and again while clients work. dump has mysqldump,
mariadb-dump or pg_dump write the table out, which must be one snapshot among theirs. clone
(MySQL), mariadb-backup and pg_basebackup copy the server's files; a second server is started
on each copy, and must hold all that was committed to some moment while the copy was taken,
and nothing else. scripts/servers fetches these programs, for PostgreSQL as pg-client:18.

--adapter tests what speaks neither MySQL's nor PostgreSQL's protocol: txnfuzz starts
CMD once for each client, writes one operation a line to its standard input, as JSON, and
reads one answer a line. See docs/adapter.md, which has an example for SQLite.

At the end the run tells how rare what it did not find must be: of so many transactions
that could have shown an anomaly none did.

Exit status: 0 nothing found, 1 something found, 2 wrong usage, 3 txnfuzz or the server
failed, nothing was committed, or something could not be decided.`,
		Example: `  txnfuzz load --target mysql:9.7 --duration 10s
  txnfuzz load --target mysql:9.7 --level SER --workload append --clients 16 --duration 5m --out history.jsonl
  txnfuzz load --target mariadb:11.8 --level RR --workload register --model serializable
  txnfuzz load --target mariadb:11.8 --fault kill --fault-every 2s --faults 100 --workload bank
  txnfuzz load --target mysql:9.7 --fault kill --server-opt innodb_flush_log_at_trx_commit=0   is expected to lose commits
  txnfuzz load --target postgres:18 --fault powerloss --faults 20 --workload xa
  txnfuzz load --target galera:11.8,nodes=3 --fault kill,pause,partition --faults 20 --workload register
  txnfuzz load --target postgres:18,standby=1,sync=on --fault kill,pause,partition --faults 20
  txnfuzz load --target mysql:9.7 --fault powerloss --server-opt sync_binlog=0   is expected to lose commits
  txnfuzz load --target postgres:18 --level RC --workload predicate
  txnfuzz load --target mysql:9.7 --workload index --duration 5m
  txnfuzz load --target postgres:18 --workload xa --fault kill --faults 20
  txnfuzz load --target mariadb:11.8 --workload mixed --clients 64 --duration 10m
  txnfuzz load --target mariadb:11.8 --workload chain --clients 48 --duration 10m --until-found
  txnfuzz load --target postgres:18,standby=1,sync=remote_apply --duration 5m
  txnfuzz load --target mysql:9.7 --backup dump --workload bank
  txnfuzz load --target mariadb:11.8 --backup mariadb-backup --duration 5m
  txnfuzz load --target mariadb:11.8 --workload append --openings snapshot --reads update
  txnfuzz load --target 'root:secret@tcp(127.0.0.1:3306)/' --workload mini --json -
  txnfuzz load --target 'u:p@tcp(a:3306)/' --node 'u:p@tcp(b:3306)/,ro:u:p@tcp(c:3306)/' --duration 1m
  txnfuzz load --adapter 'python3 docs/adapters/sqlite.py /tmp/test.db' --level SER --model serializable --workload bank
  txnfuzz load --program corpus/found/load-mysql-rr-append-lost-update-0a1b2c3d.load --target mysql:9.7`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if program != "" {
				return runLoadProgram(cmd, s, program, jsonFile)
			}
			var err error
			if s.Level, err = corpus.ParseLevel(level); err != nil {
				return usagef("--level: %w", err)
			}
			if s.Faults, err = load.ParseFaults(faults); err != nil {
				return usagef("--fault: %w", err)
			}
			if s.Backup, err = load.ParseBackup(backup); err != nil {
				return usagef("--backup: %w", err)
			}
			for _, m := range models {
				parsed, err := model.Parse(m)
				if err != nil {
					return usagef("--model: %w", err)
				}
				s.Models = append(s.Models, parsed)
			}
			if declared != "" {
				if len(models) > 0 {
					return usagef("--promise and --model: one of them says what is checked")
				}
				levels, err := promise.ParseDeclared(declared)
				if err != nil {
					return usagef("--promise: %w", err)
				}
				if s.Declared = levels[s.Level]; s.Declared == "" {
					return usagef("--promise: nothing is declared of level %s", s.Level.Short())
				}
			}
			if cmd.Flags().Changed("adapter") {
				if err := checkAdapter(cmd, adapter, len(models) > 0 || declared != ""); err != nil {
					return err
				}
				s.Target = load.AdapterScheme + adapter
			}
			others, err := target.ParseNodes(nodes)
			if err != nil {
				return usagef("--node: %w", err)
			}
			s.Reads = load.Reads(reads)
			if s.Openings, err = load.ParseOpenings(opened); err != nil {
				return usagef("--openings: %w", err)
			}
			if err := checkLoad(cmd, &s); err != nil {
				return err
			}
			if err := placesFor(history, jsonFile); err != nil {
				return err
			}
			if jsonFile == "-" && history == "-" {
				return usagef("--json and --out cannot both be standard output")
			}
			if !cmd.Flags().Changed("seed") {
				s.Seed = rand.Uint64()
			}
			s.Protocol = sent.protocol.Seeded(s.Seed)
			return runLoad(cmd, s, others, history, jsonFile, address)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.Target, "target", target.Default, "embedded, mariadb:11.8, mysql, postgres:18, tidb:2025-11, … or a DSN; see txnfuzz targets")
	addServerOpts(cmd, oneTarget(&s.Target))
	f.StringArrayVar(&nodes, "node", nil,
		"`DSN`s, separated by commas, of the other nodes of a cluster that runs already; ro: before one: it is only read from")
	f.StringVar(&adapter, "adapter", "",
		"instead of a target, the `CMD` that stands for one client of what is tested; needs --model or --promise")
	f.StringVar(&s.Workload, "workload", "append", strings.Join(load.AllWorkloads(), ", "))
	f.IntVar(&s.Clients, "clients", 0,
		"connections that run transactions at a time (default: 4 for each processor, and at least 16)")
	f.IntVar(&s.Bystanders, "bystanders", 0,
		"more connections, each with an open transaction that has written a row nobody else touches, so that a snapshot "+
			"has more to go through (default: for workload chain on private servers as many as there is room for, else none)")
	f.StringVar(&level, "level", "RR", "isolation level: RU, RC, RR or SER")
	f.StringVar(&reads, "reads", string(load.AutoReads),
		"form of the SELECTs: plain, share (LOCK IN SHARE MODE or FOR SHARE), update (FOR UPDATE), nowait, skip-locked or "+
			"mixed, which is all of them; auto is mixed for workload mixed and plain for the others, "+
			"but FOR UPDATE before the write of a register where plain SELECTs read a snapshot")
	f.StringVar(&opened, "openings", "auto",
		"how transactions begin, some of begin, snapshot (WITH CONSISTENT SNAPSHOT, at RR), read-only, autocommit, "+
			"savepoint; auto: all that the server and the workload allow")
	addProtocol(f, &sent, loadProtocolUsage)
	f.DurationVar(&s.Duration, "duration", time.Minute, "end after this time; 0: at Ctrl-C")
	f.Int64Var(&s.Transactions, "transactions", 0, "end with the epoch in which there are as many")
	f.BoolVar(&s.UntilFound, "until-found", false, "end with the epoch in which something is found")
	f.IntVar(&s.Keys, "keys", 0,
		"keys in use at a time, each as often as the others (default: few, the first of them most often)")
	f.IntVar(&s.Epoch, "epoch", 0, "transactions of an epoch (default: depends on the workload)")
	f.DurationVar(&s.Timeout, "timeout", usualTimeout,
		"give up a connection that does not answer for this time; with --fault pause on one server or a replica 1s, unless it is given")
	f.StringVar(&faults, "fault", "",
		"what happens to the private server, or to one of several, at random: kill, powerloss (of one alone), pause, "+
			"partition (of several) or a list such as kill,powerloss")
	f.StringVar(&backup, "backup", "",
		"back the private server up again and again, by dump, clone (MySQL), mariadb-backup or pg_basebackup; each backup is "+
			"a read that is checked")
	f.DurationVar(&s.FaultEvery, "fault-every", 3*time.Second, "time between two faults, on average")
	f.IntVar(&s.MaxFaults, "faults", 0, "end after this many faults")
	f.StringArrayVar(&models, "model", nil, "check this consistency model instead of what the server promises; may be given several times")
	f.StringVar(&declared, "promise", "", "what the level promises on a server that no rule knows, such as RR=SI; see txnfuzz run --help")
	f.StringVar(&history, "out", "", "write the whole history to this file, as JSON Lines; - is standard output")
	f.StringVar(&s.Found, "found", findings.DefaultOut, "folder for findings")
	f.DurationVar(&s.Programs, "program-time", 30*time.Second,
		"time for making programs of all findings, after the run; 0: none are made")
	f.StringVar(&program, "program", "",
		"replay this program of a finding instead, as txnfuzz replay does; on its own target, unless --target names another")
	f.Uint64Var(&s.Seed, "seed", 0, "which transactions are made (default: a random seed); how they interleave differs from run to run")
	f.StringVar(&jsonFile, "json", "", "write the report as JSON; - is standard output")
	addWeb(f, &address)
	return cmd
}

// usualTimeout is how long an answer may take.
const usualTimeout = 10 * time.Second

const mostClients = 150 // private servers take 200 connections

func defaultClients() int { return min(max(16, 4*runtime.NumCPU()), mostClients) }

// checkLoad reports numbers that cannot be.
func checkLoad(cmd *cobra.Command, s *load.Settings) error {
	if !cmd.Flags().Changed("clients") {
		s.Clients = defaultClients()
	}
	switch {
	case s.Clients < 1 || s.Clients > mostClients:
		return usagef("--clients: want 1 to %d, found %d", mostClients, s.Clients)
	case s.Bystanders < 0 || s.Bystanders > load.MostBystanders:
		return usagef("--bystanders: want 0 to %d, found %d", load.MostBystanders, s.Bystanders)
	case s.Duration < 0:
		return usagef("--duration: want 0 or more, found %s", s.Duration)
	case s.Transactions < 0:
		return usagef("--transactions: want 0 or more, found %d", s.Transactions)
	case s.Keys < 0:
		return usagef("--keys: want 0 or more, found %d", s.Keys)
	case s.Epoch < 0:
		return usagef("--epoch: want 0 or more, found %d", s.Epoch)
	case s.MaxFaults < 0:
		return usagef("--faults: want 0 or more, found %d", s.MaxFaults)
	case s.Programs < 0:
		return usagef("--program-time: want 0 or more, found %s", s.Programs)
	case s.Timeout <= 0:
		return usagef("--timeout: want more than 0, found %s", s.Timeout)
	case s.FaultEvery <= 0:
		return usagef("--fault-every: want more than 0, found %s", s.FaultEvery)
	}
	flags := cmd.Flags()
	for _, name := range []string{"fault-every", "faults"} {
		if flags.Changed(name) && len(s.Faults) == 0 {
			return usagef("--%s: there is no --fault", name)
		}
	}
	if (s.MaxFaults > 0 || s.Transactions > 0) && !flags.Changed("duration") {
		s.Duration = 0
	}
	for _, f := range s.Faults {
		if f == load.Pause && !flags.Changed("timeout") {
			s.Timeout = time.Second
		}
	}
	return nil
}

func runLoad(cmd *cobra.Command, s load.Settings, others []target.Node, history, jsonFile, address string) (err error) {
	name := s.Target
	s.Target = redacted(name)
	for _, n := range others {
		s.Nodes = append(s.Nodes, n.String())
	}
	web, ctx, err := watch(cmd, address, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, web.end()) }()
	if web != nil {
		shown := s
		s.Live = func(r *load.Report) { web.server.Show(loadBoard(&shown, r)) }
	}
	s.Progress, s.Every = web.progress(cmd.ErrOrStderr()), pace(os.Stderr)
	fmt.Fprintf(s.Progress, "seed %d\n", s.Seed)
	b, err := openForLoad(ctx, name, others, s)
	var alone *harness.NoNetworkError
	if errors.As(err, &alone) {
		s.Faults = slices.DeleteFunc(s.Faults, func(f load.FaultKind) bool { return f == load.Partition })
		if len(s.Faults) == 0 {
			return fmt.Errorf("--fault partition: %w", alone)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "no --fault partition here, the other faults remain: %v\n", alone)
		b, err = openForLoad(ctx, name, others, s)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if c, several := b.(harness.Clustered); several && c.Topology().Kind.ByMajority() && !cmd.Flags().Changed("timeout") {
		s.Timeout = usualTimeout // the sound nodes do not answer either until they have noticed
	}
	if !cmd.Flags().Changed("bystanders") {
		s.Bystanders = load.BystandersFor(b, s)
	}
	var report *load.Report
	switch history {
	case "", "-":
		if history != "" {
			s.History = cmd.OutOrStdout()
		}
		report, err = load.Run(ctx, b, s)
	default:
		unwritten := wholefile.Stream(history, func(w io.Writer) error {
			s.History = w
			report, err = load.Run(ctx, b, s)
			return nil // what a run that failed has recorded stays
		})
		err = errors.Join(err, unwritten)
	}
	err = loadUsage(err)
	if report == nil {
		return err
	}
	text := forPeople(jsonFile, cmd.OutOrStdout(), cmd.ErrOrStderr())
	if history == "-" {
		text = cmd.ErrOrStderr()
	}
	err = errors.Join(err, report.WriteText(text),
		writeOutput(jsonFile, cmd.OutOrStdout(), func(w io.Writer) error { return report.WriteJSON(w) }))
	if report.Found() && !unwritten(err) {
		if err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "txnfuzz: "+err.Error())
		}
		return errFound
	}
	return errors.Join(err, report.Problem())
}

// runLoadProgram is load --program.
func runLoadProgram(cmd *cobra.Command, s load.Settings, file, jsonFile string) error {
	if err := checkProgramFlags(cmd, "program", "duration", "timeout", "clients", "found", "seed"); err != nil {
		return err
	}
	if err := checkLoad(cmd, &s); err != nil {
		return err
	}
	if err := placesFor(jsonFile); err != nil {
		return err
	}
	if !cmd.Flags().Changed("duration") {
		s.Duration = 0
	}
	if !cmd.Flags().Changed("found") {
		s.Found = ""
	}
	var targets []string
	if cmd.Flags().Changed("target") {
		targets = []string{s.Target}
	}
	return replayPrograms(cmd, []string{file}, targets, s, jsonFile)
}
