package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// checkFlags is what the command line of check asks for.
type checkFlags struct {
	models             []string
	format, convert    string
	jsonFile, drawings string
	out                string
	examples           int
	conflicts          int
	follow, cut        bool
}

func newCheck() *cobra.Command {
	var o checkFlags
	cmd := &cobra.Command{
		Use:   "check FILE|DIR... [flags]",
		Short: "Check recorded histories of any database for isolation anomalies",
		Long: `Reads histories, which say what each transaction of a database read and wrote as
its clients recorded it, and prints which consistency models they satisfy. From a
history it builds a graph of the transactions: who read or overwrote what another
one wrote. Each cycle in the graph is an anomaly, and has a name.

Without --model it checks all models, names the strongest that hold and the weakest
that fail, and exits with status 0. A file can also say itself what was promised,
by models or by a target and a level; then these are checked.

Reads the JSON Lines of txnfuzz, EDN and JSON of Jepsen and Elle, the r(…)/w(…)
lines of Plume, PolySI and IsoVista, a folder of Cobra's logs, and history.bincode
of DBCop, and recognises them by their content. Keys can hold lists with appends,
registers with unique values (a write whose transaction did not read the key before
is a blind write; the order of these is searched for), sets, bank accounts, and rows
that are selected by a condition.

Models: ` + strings.Join(model.Names(), ", ") + `,
or promised:TARGET, which is what the target promises at the level that the file names.

Exit status: 0 the models hold, 1 a model that was asked for fails, 2 wrong usage or
a file could not be read (one whose end is missing counts as such), 3 it could not
be decided whether a model holds, and none fails.`,
		Example: `  txnfuzz check history.edn
  txnfuzz check history.jsonl --model serializable --model promised:mysql:9.7
  txnfuzz check logs/tpcc-10000 --model strong-session-serializable --json -
  txnfuzz check history.edn --draw pictures          draw the cycles
  txnfuzz check history.txt --convert edn --out history.edn
  txnfuzz check running.jsonl --model snapshot-isolation --follow`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("want a file, or a folder of logs; see %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.models, "model", nil, "a consistency model that the history must satisfy, or promised:TARGET; may be given several times")
	f.StringVar(&o.format, "format", "", "jsonl, edn, json, text, cobra or dbcop (default: recognised by the content)")
	f.StringVar(&o.convert, "convert", "", "write the history as jsonl, edn, json or text instead of judging it")
	f.StringVar(&o.out, "out", "-", "file that --convert writes; - is standard output")
	f.StringVar(&o.jsonFile, "json", "", "write the verdicts as a JSON list; - is standard output")
	f.StringVar(&o.drawings, "draw", "", "write each cycle that is printed as a DOT and an SVG file into this folder")
	f.IntVar(&o.examples, "examples", 3, "how many anomalies of each kind are printed; all are counted")
	f.IntVar(&o.conflicts, "conflicts", infer.DefaultConflicts, "effort of the search for the order of blind writes: dead ends after which it is left undecided")
	f.BoolVar(&o.follow, "follow", false, "check a growing file again and again, until its last line is there")
	f.BoolVar(&o.cut, "cut", false, "check a JSON Lines file that ends before its last line, as far as it goes")
	return cmd
}

// asked reads --model; promised:TARGET depends on the file.
func (o *checkFlags) asked(h kv.Header) ([]model.Model, error) {
	var out []model.Model
	for _, list := range o.models {
		m, err := oneModel(list, h)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if len(out) > 0 {
		return out, nil
	}
	for _, name := range h.Promised {
		m, err := model.Parse(name)
		if err != nil {
			return nil, usagef("the header's promise: %w", err)
		}
		out = append(out, m)
	}
	if len(out) == 0 && h.Target != "" && h.Level != "" {
		// A target of which nothing is recorded promises nothing.
		if p, err := model.Promised(h.Target, h.Level, h.Settings); err == nil {
			out = append(out, p.Model)
		}
	}
	return out, nil
}

func oneModel(s string, h kv.Header) (model.Model, error) {
	if target, ok := strings.CutPrefix(s, "promised:"); ok {
		p, err := model.Promised(target, h.Level, h.Settings)
		if err != nil {
			return "", usagef("--model %s: %w", s, err)
		}
		return p.Model, nil
	}
	m, err := model.Parse(s)
	if err != nil {
		return "", usagef("--model: %w%s", err, spelling.Hint(s, model.Names()))
	}
	return m, nil
}

// garbage is the percentage by which the heap may grow before the collector runs
// (GOGC). Reading a long history makes little garbage: a lower value would cost a
// tenth of the time and save nothing.
const garbage = 150

func (o *checkFlags) run(cmd *cobra.Command, args []string) error {
	debug.SetGCPercent(garbage)
	format, err := kv.ParseFormat(o.format, kv.Formats)
	if err != nil {
		return usagef("--format: %w", err)
	}
	into, err := kv.ParseFormat(o.convert, kv.Writable)
	switch {
	case err != nil:
		return usagef("--convert: %w", err)
	case o.examples < 1:
		return usagef("--examples: want 1 or more, not %d", o.examples)
	case o.conflicts < 1:
		return usagef("--conflicts: want 1 or more, not %d", o.conflicts)
	case o.follow && len(args) > 1:
		return usagef("--follow: want one file")
	case into != "" && len(args) > 1:
		return usagef("--convert: want one file")
	}
	// What is wrong with --model is told before a long file is read.
	for _, m := range o.models {
		if !strings.HasPrefix(m, "promised:") {
			if _, err := oneModel(m, kv.Header{}); err != nil {
				return err
			}
		}
	}
	if err := placesFor(o.jsonFile, o.out); err != nil {
		return err
	}
	if o.drawings != "" {
		if err := os.MkdirAll(o.drawings, 0o755); err != nil {
			return usagef("--draw: %w", err)
		}
	}
	if into != "" {
		return o.convertFile(cmd, args[0], format, into)
	}
	people := forPeople(o.jsonFile, cmd.OutOrStdout(), cmd.ErrOrStderr())
	var reports []checkReport
	var failed error
	for _, path := range args {
		var r checkReport
		if o.follow {
			r, err = o.followFile(cmd.Context(), path, format, people)
		} else {
			r, err = o.checkFile(cmd, path, format)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if err := r.write(people); err != nil {
			return err
		}
		reports = append(reports, r)
	}
	err = writeOutput(o.jsonFile, cmd.OutOrStdout(), func(w io.Writer) error { return writeCheckJSON(w, reports) })
	if err = errors.Join(failed, err); err != nil {
		for _, r := range reports {
			if r.Verdict == infer.Fails {
				fmt.Fprintln(cmd.ErrOrStderr(), "txnfuzz: "+err.Error())
				return errFound
			}
		}
		return err
	}
	return checkStatus(reports)
}

// checkStatus: a model that fails weighs more than one that is undecided.
func checkStatus(reports []checkReport) error {
	var undecided error
	for _, r := range reports {
		switch r.Verdict {
		case infer.Fails:
			return errFound
		case infer.Undecided:
			undecided = fmt.Errorf("%s: undecided", r.File)
		}
	}
	return undecided
}

// unreadable makes a file that cannot be read a mistake of the command line.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

func (o *checkFlags) convertFile(cmd *cobra.Command, path string, format, into kv.Format) error {
	h, err := o.load(cmd, path, format)
	if err != nil {
		return err
	}
	if err := writeOutput(o.out, cmd.OutOrStdout(), func(w io.Writer) error { return kv.WriteHistory(w, h, into) }); err != nil {
		return unreadable(err)
	}
	return nil
}

// load reads a file and tells how far it is, where that takes long.
func (o *checkFlags) load(cmd *cobra.Command, path string, format kv.Format) (*kv.History, error) {
	in, err := kv.Open(path, format)
	if err != nil {
		return nil, unreadable(err)
	}
	defer in.Close()
	h := kv.NewHistory(in.Header(), in.Names())
	h.File, h.Binary = path, in.Format == kv.Cobra || in.Format == kv.DBCop
	var r kv.Record
	every := pace(os.Stderr)
	next := time.Now().Add(every)
	for {
		err := in.Next(&r)
		var noEnd *kv.ErrNoEnd
		if err == io.EOF || o.cut && errors.As(err, &noEnd) {
			if err != io.EOF {
				fmt.Fprintf(cmd.ErrOrStderr(), "txnfuzz: warning: %s is cut after %d transactions and judged by these\n", path, noEnd.Count)
			}
			h.Header = in.Header()
			h.Settle()
			return h, nil
		}
		if err != nil {
			return nil, unreadable(err)
		}
		h.Add(&r)
		if h.Len()&0xfff == 0 && time.Now().After(next) {
			next = time.Now().Add(every)
			if err := cmd.Context().Err(); err != nil {
				return nil, err
			}
			share := ""
			if size := in.Size(); size > 0 {
				share = fmt.Sprintf(" (%d %%)", 100*in.Read()/size)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d transactions read%s\n", path, h.Len(), share)
		}
	}
}

func (o *checkFlags) checkFile(cmd *cobra.Command, path string, format kv.Format) (checkReport, error) {
	begun := time.Now()
	h, err := o.load(cmd, path, format)
	if err != nil {
		return checkReport{}, err
	}
	read := time.Since(begun)
	every := pace(os.Stderr)
	told := time.Now()
	r, err := o.judge(cmd.Context(), h, false, func(stage string) {
		if time.Since(told) > every {
			told = time.Now()
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", path, stage)
		}
	})
	if err != nil {
		return r, err
	}
	r.Seconds = map[string]float64{"read": read.Seconds(), "judge": time.Since(begun).Seconds() - read.Seconds()}
	return r, o.draw(r)
}

func (o *checkFlags) judge(ctx context.Context, h *kv.History, partial bool, progress func(string)) (checkReport, error) {
	asked, err := o.asked(h.Header)
	if err != nil {
		return checkReport{}, err
	}
	res, err := untilInterrupted(ctx, func() (*infer.Result, error) {
		return infer.Check(h, infer.Options{Models: asked, Examples: o.examples, Conflicts: o.conflicts, Partial: partial, Progress: progress})
	})
	switch {
	case errors.Is(err, context.Canceled):
		return checkReport{}, fmt.Errorf("%s: interrupted before it was judged", h.File)
	case err != nil:
		return checkReport{}, usagef("%s: %w", h.File, err)
	}
	r := newCheckReport(h, res, asked)
	if !partial {
		r.addLost(load.LostIn(h), o.examples)
	}
	return r, nil
}

// untilInterrupted waits for a judgement, which can take minutes, or for the context.
// What is left running ends with the process.
func untilInterrupted(ctx context.Context, check func() (*infer.Result, error)) (*infer.Result, error) {
	type outcome struct {
		res *infer.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		res, err := check()
		done <- outcome{res, err}
	}()
	select {
	case o := <-done:
		return o.res, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// followFile judges a growing file whenever it has grown by a quarter, and at
// its end. Of a part only what no further line can take back is told.
func (o *checkFlags) followFile(ctx context.Context, path string, format kv.Format, people io.Writer) (checkReport, error) {
	f, err := os.Open(path)
	if err != nil {
		return checkReport{}, unreadable(err)
	}
	defer f.Close()
	if format != "" && format != kv.JSONLines {
		return checkReport{}, usagef("--follow: only JSON Lines has a last line to wait for, not %s", format)
	}
	src, err := kv.ReadJSONLines(path, &growing{ctx: ctx, f: f})
	if err != nil {
		return checkReport{}, unreadable(err)
	}
	h := kv.NewHistory(src.Header(), src.Names())
	h.File = path
	var rec kv.Record
	judged, next := 0, time.Now().Add(time.Second)
	for {
		err := src.Next(&rec)
		if err == io.EOF {
			h.Settle()
			return o.judge(ctx, h, false, nil)
		}
		if err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("%s: interrupted before its last line, after %d transactions", path, h.Len())
				return checkReport{}, err
			}
			return checkReport{}, unreadable(err)
		}
		h.Add(&rec)
		if h.Len() < judged+judged/4+1000 || time.Now().Before(next) {
			continue
		}
		r, err := o.judge(ctx, h, true, nil)
		if err != nil {
			return r, err
		}
		if r.Verdict == infer.Fails {
			return r, o.draw(r)
		}
		judged, next = h.Len(), time.Now().Add(time.Second)
		fmt.Fprintf(people, "%s: %d transactions so far, nothing found\n", path, judged)
	}
}

// growing reads a file that is being written: at its end it waits for more.
type growing struct {
	ctx context.Context
	f   *os.File
}

func (g *growing) Read(p []byte) (int, error) {
	for {
		n, err := g.f.Read(p)
		if n > 0 || err != io.EOF {
			return n, err
		}
		select {
		case <-g.ctx.Done():
			return 0, io.EOF
		case <-time.After(100 * time.Millisecond):
		}
	}
}
