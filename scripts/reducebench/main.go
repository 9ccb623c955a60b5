package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/reduce"

	_ "github.com/txnfuzz/txnfuzz/harness/server" // MySQL, MariaDB and DSNs
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "reducebench:", err)
		os.Exit(3)
	}
}

var errUsage = errors.New("want one of: collect, reduce, table, purity; each tells its flags with -h")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	f := flag.NewFlagSet(args[0], flag.ExitOnError)
	switch args[0] {
	case "collect":
		target := f.String("target", "embedded", "as `txnfuzz run` takes it")
		n := f.Int("findings", 70, "how many to collect")
		alike := f.Int("alike", 0, "at most so many with the same rules; 0: any number")
		histories := f.Bool("histories", false, "keep the histories, which purity needs")
		add := f.String("add", "", "file to add them to")
		seed := f.Uint64("seed", 1, "seed of the campaign")
		_ = f.Parse(args[1:]) // exits on an error
		return addFindings(ctx, *add, *target, *n, *alike, *histories, *seed)
	case "reduce":
		file := f.String("set", "scripts/reducebench/findings.jsonl.gz", "the findings")
		target := f.String("target", "mariadb:11.8", "reduce those of this target")
		out := f.String("out", "scripts/reducebench/results.jsonl", "file to append results to; goes on where it stopped")
		strategy := f.String("strategy", "", "only this strategy; empty: each, delta debugging too")
		limit := f.Duration("limit", 2*time.Minute, "the longest time for one reduction")
		joint := f.Bool("joint", false, "keep all deviations of a case that shows several, to see what that costs")
		blindly := f.Bool("blindly", false, "foresee nothing")
		_ = f.Parse(args[1:])
		chosen := strategies
		if *strategy != "" {
			s, err := reduce.ParseStrategy(*strategy)
			if err != nil {
				return err
			}
			chosen = []reduce.Strategy{s}
		}
		set, err := readSet(*file)
		if err != nil {
			return err
		}
		return benchmark(ctx, set, *target, *out, chosen, *limit, *joint, *blindly)
	case "table":
		svg := f.String("svg", "", "file for the plot over attempts")
		_ = f.Parse(args[1:])
		return evaluate(f.Args(), *svg)
	case "purity":
		_ = f.Parse(args[1:])
		var list []finding
		for _, file := range f.Args() {
			part, err := readSet(file)
			if err != nil {
				return err
			}
			list = append(list, part...)
		}
		return purity(os.Stdout, list)
	}
	return errUsage
}

func evaluate(files []string, svg string) error {
	var list []measurement
	for _, file := range files {
		part, err := readMeasurements(file)
		if err != nil {
			return err
		}
		list = append(list, part...)
	}
	if len(list) == 0 {
		return errors.New("table: no results in the files named")
	}
	writeTable(os.Stdout, list)
	if svg == "" {
		return nil
	}
	out, err := os.Create(svg)
	if err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	return errors.Join(writePlot(out, list), out.Close())
}

func addFindings(ctx context.Context, file, target string, n, alike int, histories bool, seed uint64) error {
	if file == "" {
		return errors.New("collect: --add names no file")
	}
	old, err := readSet(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	list, err := collect(ctx, target, n, alike, histories, seed)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d findings, %s\n", target, len(list), strings.Join(tallyRules(list), ", "))
	return writeSet(file, append(old, list...))
}
