package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// options of both measurements.
type options struct {
	targets   []string
	workloads []string
	seeds     int
	duration  time.Duration
	explain   time.Duration
	long      time.Duration
	workers   int
	dir       string
	binary    string
	level     string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: examples times|mended|page [flags]")
		os.Exit(2)
	}
	o := flags(os.Args[1], os.Args[2:])
	var err error
	switch os.Args[1] {
	case "times":
		err = o.times(ctx)
	case "mended":
		err = o.mended(ctx)
	case "page":
		err = o.page(os.Stdout)
	default:
		fmt.Fprintf(os.Stderr, "examples: no command %q; there are times, mended and page\n", os.Args[1])
		os.Exit(2)
	}
	var differs *difference
	switch {
	case errors.As(err, &differs):
		fmt.Fprintln(os.Stderr, "examples:", err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "examples:", err)
		os.Exit(3)
	}
}

func flags(command string, args []string) *options {
	o := &options{}
	var targets, workloads string
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	f := flag.NewFlagSet("examples "+command, flag.ExitOnError)
	f.StringVar(&targets, "target", "mariadb:11.8", "the servers, separated by commas")
	f.StringVar(&workloads, "workload", "bank,courseware,flashsale,smallbank,tpcc,username", "the examples, separated by commas")
	f.IntVar(&o.seeds, "seeds", 5, "how many seeds")
	f.DurationVar(&o.duration, "duration", time.Minute, "how long the cases of a run may take")
	f.DurationVar(&o.explain, "explain", 0, "time for making findings small; 0: 20 s for times, 6 minutes for mended")
	f.DurationVar(&o.long, "long", 10*time.Minute, "how long a mended workload is run")
	f.IntVar(&o.workers, "workers", 2, "cases at a time")
	f.StringVar(&o.dir, "dir", filepath.Join(cache, "txnfuzz", "examples"), "folder for results")
	f.StringVar(&o.level, "level", "", "of mended: propose FOR UPDATE at this level only, such as RR")
	f.StringVar(&o.binary, "binary", "", "the txnfuzz to measure; empty: it is built")
	_ = f.Parse(args)
	o.targets, o.workloads = strings.Split(targets, ","), strings.Split(workloads, ",")
	if o.explain == 0 {
		o.explain = map[string]time.Duration{"times": 20 * time.Second, "mended": 6 * time.Minute}[command]
	}
	return o
}

// difference says that something did not come as expected.
type difference struct{ what string }

func (d *difference) Error() string { return d.what }
