package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	run "github.com/txnfuzz/txnfuzz/fuzz/workload"
	"github.com/txnfuzz/txnfuzz/harness"
)

func newWorkload() *cobra.Command {
	var s run.Settings
	var sent sentBy
	var levels, txns string
	var out workloadOutputs
	var address string
	cmd := &cobra.Command{
		Use:   "workload FILE [flags]",
		Short: "Test whether an application stays correct at an isolation level",
		Long: `Reads a file that describes an application: its schema, its transactions, and its
invariants, which must always hold. Fills the tables, chooses parameters, and runs the
transactions concurrently at each isolation level, and then one after the other in every
serial order from the same state. It finds

  isolation anomaly      an invariant is broken, or no serial order gives the answers and
                         the final state, although every serial order is correct
  application bug        a serial order breaks an invariant, too
  finding of the server  the server does not do what it promises at its level

An anomaly is reduced and saved as a case, for txnfuzz replay, show and export, and for
txnfuzz workload explain. The report groups findings by cause. It names the weakest
stronger level at which one was not seen, and a SELECT that should be FOR UPDATE, if that
was tried often enough and helped. The workload with these changes is then run itself,
and the report says what it showed; a .diff beside it makes them in your own file.

docs/workloads/README.md describes the file.

Exit status: 0 nothing found, 1 something found, 2 wrong usage or a malformed file,
3 txnfuzz or the server failed.`,
		Example: `  txnfuzz workload corpus/workloads/bank.workload --target mariadb:11.8 --duration 30s
  txnfuzz workload shop.workload --target mysql:9.7 --levels RC,RR --txns 2..3 --html shop.html
  txnfuzz workload shop.workload --target 'root:secret@tcp(127.0.0.1:3306)/' --cases 10000 --json -`,
		Args: exactly(1, "the file of a workload"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if s.Levels, err = target.ParseLevels(levels); err != nil {
				return usagef("--levels: %w", err)
			}
			if s.Min, s.Max, err = parseTxns(txns); err != nil {
				return usagef("--txns: %w", err)
			}
			switch f := cmd.Flags(); {
			case s.Cases < 0:
				return usagef("--cases: want 0 or more, found %d", s.Cases)
			case s.Duration < 0:
				return usagef("--duration: want 0 or more, found %s", s.Duration)
			case s.Explain < 0:
				return usagef("--explain: want 0 or more, found %s", s.Explain)
			case s.Workers < 1:
				return usagef("--workers: want 1 or more, found %d", s.Workers)
			case s.Tries < 0:
				return usagef("--tries: want 0 or more, found %d", s.Tries)
			case f.Changed("cases") && f.Changed("duration"):
				return usagef("--cases and --duration exclude each other")
			case s.Cases > 0:
				s.Duration = 0
			}
			if err := wantFrameworks(out.snippets); err != nil {
				return err
			}
			if err := placesFor(out.json, out.junit, out.sarif, out.html); err != nil {
				return err
			}
			text, err := os.ReadFile(args[0])
			if err != nil {
				return usagef("%w", err)
			}
			w, err := workload.Parse(args[0], text)
			if err != nil {
				return err
			}
			if err := s.Fit(w); err != nil {
				return usagef("%s: %w", w.File, err)
			}
			if !cmd.Flags().Changed("seed") {
				s.Seed = uint64(rand.Uint32())
			}
			s.Protocol = sent.protocol.Seeded(s.Seed)
			return runWorkload(cmd, w, s, out, address)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.Target, "target", target.Default, "embedded, mariadb:11.8, mysql, tidb:2025-11, … or a DSN; see txnfuzz targets")
	addServerOpts(cmd, oneTarget(&s.Target))
	f.StringVar(&levels, "levels", "", "isolation levels, such as RC,RR (default: all that the target has)")
	f.StringVar(&txns, "txns", "2..3", "how many transactions run concurrently: 2, or 2..4")
	f.StringSliceVar(&s.Only, "only", nil, "names of the transactions that take part (default: all)")
	addProtocol(f, &sent, protocolUsage+" (default text)")
	f.DurationVar(&s.Duration, "duration", time.Minute, "end after this time; findings are reduced and explained after that, see --explain")
	f.IntVar(&s.Cases, "cases", 0, "end after this many concurrent runs")
	f.DurationVar(&s.Explain, "explain", 0, "time for reducing findings, looking for a fix and running the mended workload (default: half of what the cases took, at least 30s)")
	f.IntVar(&s.Workers, "workers", min(runtime.GOMAXPROCS(0), 8), "cases that run at a time")
	f.Uint64Var(&s.Seed, "seed", 0, "which cases are made (default: a random seed, which is printed)")
	f.IntVar(&s.Tries, "tries", 100, "a FOR UPDATE is proposed if at least this many runs with it, more for a rare anomaly, do not show the anomaly; 0: propose none")
	f.StringVar(&s.Out, "out", findings.DefaultOut, "folder for findings")
	f.StringVar(&out.json, "json", "", "write the report as JSON; - is standard output")
	f.StringVar(&out.junit, "junit", "", "write the report as JUnit XML to this file")
	f.StringVar(&out.sarif, "sarif", "", "write the findings as SARIF to this file")
	f.StringVar(&out.html, "html", "", "write the report as an HTML page to this file")
	addSnippets(f, &out.snippets, "none")
	addWeb(f, &address)
	cmd.AddCommand(newWorkloadImport(), newWorkloadExplain())
	return cmd
}

func newWorkloadImport() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "import LOG [flags]",
		Short: "Write a workload from a log of SQL statements",
		Long: `Reads a log with one statement a line, after the name of its session, and writes a
first version of a workload. What a session ran between BEGIN and COMMIT becomes a
transaction, its literals become parameters, and transactions that differ only in
literals become one. CREATE TABLE lines become the schema. Add by hand which values one
statement passes to the next (INTO :x) and what must hold (/* invariant */).`,
		Example: `  txnfuzz workload import app.log --out app.workload`,
		Args:    exactly(1, "a log of lines such as: s1 UPDATE t SET a = 1;"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return usagef("%w", err)
			}
			w, err := workload.ImportLog(args[0], text)
			if err != nil {
				return err
			}
			return writeOutput(out, cmd.OutOrStdout(), func(to io.Writer) error {
				_, err := to.Write(workload.Print(w))
				return err
			})
		},
	}
	cmd.Flags().StringVar(&out, "out", "-", "the file to write; - is standard output")
	return cmd
}

// workloadOutputs are the files that a report goes to.
type workloadOutputs struct {
	json, junit, sarif, html string
	snippets                 []string
}

var txnsPattern = regexp.MustCompile(`^([0-9])(?:\.\.([0-9]))?$`)

// parseTxns reads N or N..M.
func parseTxns(text string) (lo, hi int, err error) {
	m := txnsPattern.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, fmt.Errorf("want a number or a range such as 2..4, found %q", text)
	}
	lo, _ = strconv.Atoi(m[1])
	hi = lo
	if m[2] != "" {
		hi, _ = strconv.Atoi(m[2])
	}
	if lo < 2 || hi > 4 || lo > hi {
		return 0, 0, fmt.Errorf("want 2 to 4 transactions, found %q", text)
	}
	return lo, hi, nil
}

func runWorkload(cmd *cobra.Command, w *workload.Workload, s run.Settings, out workloadOutputs, address string) (err error) {
	name := s.Target
	s.Target = target.Redact(name)
	web, ctx, err := watch(cmd, address, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, web.end()) }()
	if web != nil {
		shown := s
		s.Live = func(r *run.Report, explained, all int) { web.server.Show(workloadBoard(&shown, r, explained, all)) }
	}
	s.Progress, s.Every = web.progress(cmd.ErrOrStderr()), pace(os.Stderr)
	fmt.Fprintf(s.Progress, "seed %d\n", s.Seed)
	b, err := target.OpenBackend(ctx, name, harness.Options{Progress: s.Progress})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	report, err := run.Run(ctx, w, b, s)
	var setting *run.SettingError
	if errors.As(err, &setting) {
		err = usagef("%s: %w", w.File, setting)
	}
	mistaken := exitCode(err) == exitUsage
	if report == nil || mistaken && report.Cases == 0 && !report.Found() {
		return err
	}
	stdout := cmd.OutOrStdout()
	err = errors.Join(err,
		report.WriteTextWith(forPeople(out.json, stdout, cmd.ErrOrStderr()), frameworks(out.snippets)),
		writeOutput(out.json, stdout, func(w io.Writer) error { return report.WriteJSON(w) }),
		writeOutput(out.junit, stdout, func(w io.Writer) error { return report.WriteJUnit(w) }),
		writeOutput(out.sarif, stdout, func(w io.Writer) error { return report.WriteSARIF(w, versionText()) }),
		writeOutput(out.html, stdout, func(w io.Writer) error { return report.WriteHTML(w) }))
	if report.Found() && !unwritten(err) && !mistaken {
		if err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "txnfuzz: "+err.Error())
		}
		return errFound
	}
	return err
}
