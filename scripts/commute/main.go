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
	target  string
	swaps   int
	each    int
	seed    uint64
	workers int
	out     string
}

// errUnexplained says that a difference has no explanation, which is a result.
var errUnexplained = errors.New("some differences are unexplained")

func main() {
	var o options
	flag.StringVar(&o.target, "target", target.Default, "a server, as txnfuzz run takes it")
	flag.IntVar(&o.swaps, "swaps", 100_000, "run until so many swaps were compared")
	flag.IntVar(&o.each, "each", 6, "at most so many swaps of one case, each in the order that the one before it left")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the cases")
	flag.IntVar(&o.workers, "workers", 2, "how many cases run at a time")
	flag.StringVar(&o.out, "out", filepath.Join("out", "commute"), "folder for the cases whose difference is unexplained")
	flag.Parse()
	if flag.NArg() > 0 || o.swaps < 1 || o.each < 1 || o.workers < 1 {
		fmt.Fprintln(os.Stderr, "commute: no arguments but flags; --swaps, --each and --workers are at least 1")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := o.run(ctx, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "commute:", err)
	}
	var name *target.Error
	switch {
	case err == nil:
	case errors.Is(err, errUnexplained):
		os.Exit(1)
	case errors.As(err, &name):
		os.Exit(2)
	default:
		os.Exit(3)
	}
}

func (o *options) run(ctx context.Context, w, progress io.Writer) (err error) {
	t, err := target.Open(ctx, o.target, target.Options{Workers: o.workers, Progress: progress})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	sum, err := o.campaign(ctx, t, progress)
	fmt.Fprint(w, sum.byRules())
	fmt.Fprintln(w, sum.judged())
	fmt.Fprintln(w, target.Redact(o.target)+": "+sum.line())
	if err == nil && sum.count[unexplained] > 0 {
		err = errUnexplained
	}
	return err
}
