// Command instrumented holds the dependency graph of the oracle against one that is made
// of a server's answers alone.
//
//	go run -tags notidb ./scripts/instrumented --target mariadb:11.8 --cases 2000 --seed 1
//	go run -tags notidb ./scripts/instrumented --again out/instrumented/1-17.jsonl
//
// It surrounds each statement of a generated case with plain SELECTs in the same session
// that show what the statement met and what it left: all rows of the table before it
// (VSR), those that match its condition (PM), the rows after a write (AWR), and which rows
// match each condition of the case before a write (BPM) and after it (APM). Two more
// columns make the versions of rows recognisable. At READ COMMITTED, and if nothing
// waits, these answers tell version order, read-from and who changed whether a row
// matches; Adya's definitions then give the edges. The oracle's graph of the same run
// must have the same edges, with the same transactions, statements and items.
//
// A case in which something waits is run again with its statements in the order in which
// they returned, until nothing waits.
//
// The reads and the columns change the case: what is compared is the instrumented one.
// It cannot see
//
//   - an UPDATE that writes what is already there, since each one writes a new version
//     number, and a version that differs from the one before in nothing;
//   - waits, deadlocks, and other levels than READ COMMITTED;
//   - statements of several tables and subqueries, which the oracle's graph takes to
//     match every row;
//   - what an INSERT of several rows or an UPDATE read that met a duplicate key: which row
//     met it is not in the answer;
//   - whether a row that is not there was deleted or never was: that is by the order of
//     commits, and so is, by definition, what an item is (see newStore).
//
// It ends with status 1 if edges differ or answers contradict each other, with 2 on wrong
// usage, with 3 if a server fails.
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
