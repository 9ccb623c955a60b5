package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
	"github.com/txnfuzz/txnfuzz/mutate"
)

func main() {
	var o options
	flag.IntVar(&o.cases, "cases", 20000, "cases of each target")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of each campaign")
	flag.IntVar(&o.workers, "workers", 1, "cases that run at a time")
	flag.StringVar(&o.counts, "counts", filepath.Join("scripts", "features", "counts.json"), "file of the counts, a target's replaced by a run")
	flag.StringVar(&o.table, "table", filepath.Join("docs", "features.md"), "file of the table; - is standard output")
	flag.StringVar(&o.out, "out", filepath.Join("out", "features"), "folder for findings")
	flag.Parse()
	if err := run(context.Background(), o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "features:", err)
		os.Exit(3)
	}
}

type options struct {
	cases, workers int
	seed           uint64
	counts, table  string
	out            string
}

// measured is what one campaign made.
type measured struct {
	Target  string              `json:"target"`
	Version string              `json:"server_version"`
	Seed    uint64              `json:"seed"`
	Unknown int                 `json:"unknown"`
	Counts  campaign.FormCounts `json:"counts"`
}

func run(ctx context.Context, o options, targets []string) error {
	all, err := load(o.counts)
	if err != nil {
		return err
	}
	for _, target := range targets {
		m, err := measure(ctx, o, target)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		all = replaced(all, m)
		if err := save(o.counts, all); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("%s holds no counts: name a target", o.counts)
	}
	text := tableOf(all)
	if o.table == "-" {
		_, err := os.Stdout.WriteString(text)
		return err
	}
	if err := os.WriteFile(o.table, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

// measure runs a campaign without reduction and tells its verdicts on standard
// error.
func measure(ctx context.Context, o options, name string) (*measured, error) {
	m := &measured{Target: name, Seed: o.seed}
	var mu sync.Mutex
	report, err := campaign.RunHere(ctx, campaign.Settings{
		Target: name, Cases: o.cases, Workers: o.workers, Seed: o.seed, Conflict: mutate.Mix, Known: findings.StoredDir, Out: o.out,
		Observe: func(r *target.Trial, _ string) {
			mu.Lock()
			defer mu.Unlock()
			m.Counts.Add(r)
		},
	})
	if err != nil {
		return nil, err
	}
	m.Version, m.Unknown = report.ServerVersion, report.Verdicts["unknown"]
	fmt.Fprintf(os.Stderr, "%s: %d cases, %v\n", name, m.Counts.Cases, report.Verdicts)
	return m, nil
}

func replaced(all []*measured, m *measured) []*measured {
	for i := range all {
		if all[i].Target == m.Target {
			all[i] = m
			return all
		}
	}
	return append(all, m)
}

func load(path string) ([]*measured, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the counts: %w", err)
	}
	var all []*measured
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read the counts in %s: %w", path, err)
	}
	return all, nil
}

func save(path string, all []*measured) error {
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return fmt.Errorf("write the counts: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the counts: %w", err)
	}
	return nil
}
