package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
)

type options struct {
	target   string
	cases    int
	seed     uint64
	workers  int
	out      string
	recordTo string
	again    string
}

// errDiffer says that something differs, which is a result.
var errDiffer = errors.New("not all edges are equal")

var errUsage = errors.New("usage")

func main() {
	var o options
	flag.StringVar(&o.target, "target", target.Default, "a server, as txnfuzz run takes it")
	flag.IntVar(&o.cases, "cases", 2000, "run until so many cases are compared")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the cases")
	flag.IntVar(&o.workers, "workers", 1, "how many cases run at a time")
	flag.StringVar(&o.out, "out", filepath.Join("out", "instrumented"), "folder for the cases that differ")
	flag.StringVar(&o.recordTo, "record", "", "append what was compared to this file, for tests")
	flag.StringVar(&o.again, "again", "", "compare a kept run again, without a server")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, o, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "instrumented:", err)
	}
	var name *target.Error
	switch {
	case err == nil:
	case errors.Is(err, errDiffer):
		os.Exit(1)
	case errors.Is(err, errUsage), errors.As(err, &name):
		os.Exit(2)
	default:
		os.Exit(3)
	}
}

func run(ctx context.Context, o options, w, progress io.Writer) error {
	if flag.NArg() > 0 || o.cases < 1 || o.workers < 1 {
		return fmt.Errorf("%w: no arguments but flags; --cases and --workers are at least 1", errUsage)
	}
	if o.again != "" {
		return again(o.again, w)
	}
	sum, err := runCases(ctx, o, progress)
	if sum != nil {
		fmt.Fprint(w, sum.reasons())
		fmt.Fprintln(w, sum.line(target.Redact(o.target)))
	}
	if err == nil && sum.differ+sum.contradict > 0 {
		err = errDiffer
	}
	return err
}

// again compares kept runs.
func again(path string, w io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("compare again: %w", err)
	}
	defer f.Close()
	list, err := loadRecorded(f)
	if err != nil {
		return fmt.Errorf("compare %s again: %w", path, err)
	}
	differ := false
	for i := range list {
		c, err := list[i].check()
		var odd *contradiction
		switch {
		case errors.As(err, &odd):
			differ = true
			fmt.Fprintf(w, "%s: %v\n", list[i].Name, odd)
		case err != nil:
			return fmt.Errorf("compare %s again: %w", list[i].Name, err)
		default:
			differ = differ || !c.equal()
			fmt.Fprintf(w, "%s: equal edges by kind: %v\n%s", list[i].Name, c.all, &c)
		}
	}
	if differ {
		return errDiffer
	}
	return nil
}
