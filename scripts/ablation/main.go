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

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

// The files, relative to the root of the project.
const (
	cellsFile = "scripts/ablation/cells.jsonl"
	tableFile = "scripts/ablation/README.md"
	plotFile  = "scripts/ablation/behaviours.svg"
)

func main() {
	if code, ran := campaign.RunChild(); ran {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ablation:", err)
		os.Exit(3)
	}
}

var errUsage = errors.New("want run or table; each tells its flags with -h")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	f := flag.NewFlagSet(args[0], flag.ExitOnError)
	switch args[0] {
	case "run":
		g := grid{}
		f.IntVar(&g.seeds, "seeds", 3, "seeds of each cell")
		f.DurationVar(&g.embedded, "embedded", 4*time.Minute, "time of a cell on the embedded TiDB")
		f.DurationVar(&g.server, "server", 3*time.Minute, "time of a cell on another server; 0: none")
		target := f.String("target", "mariadb:10.11", "the other server")
		f.StringVar(&g.later, "later", "", "name of a later measurement, which gets tables of its own")
		only := f.String("arms", "", "only these arms, with commas")
		binaries := f.String("bin", "", "folder with binaries that are already built; empty: build them")
		_ = f.Parse(args[1:]) // exits on an error
		g.target, g.only = *target, split(*only)
		return g.run(ctx, *binaries)
	case "table":
		_ = f.Parse(args[1:])
		cells, err := readCells(cellsFile)
		if err != nil {
			return err
		}
		return errors.Join(intoFile(tableFile, table(cells)), writeFile(plotFile, plot(cells)))
	case "campaign": // the part of a process that run starts
		return runCampaign(ctx, f, args[1:])
	}
	return errUsage
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func writeFile(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write what was measured: %w", err)
	}
	return nil
}
