package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

var (
	server   = flag.String("target", "mariadb:10.11", "the server, as for txnfuzz run")
	wanted   = flag.Int("findings", 40, "how many findings to replay")
	cases    = flag.Int("cases", 400, "cases of one campaign")
	seed     = flag.Uint64("seed", 1, "seed of the first campaign; each one after it has the next")
	reduceIn = flag.Duration("reduce", fuzzReduce, "the longest time for reducing one finding")
	binary   = flag.String("binary", "", "the txnfuzz to measure; empty: it is built")
	keep     = flag.String("keep", "", "folder in which the findings stay; empty: none")
	share    = flag.Float64("share", 0.95, "the least share that must show")
)

// fuzzReduce is short: a measurement needs many findings, not the smallest.
const fuzzReduce = 20e9

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := measure(ctx)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "reproduced:", err)
		os.Exit(3)
	case !ok:
		os.Exit(1)
	}
}

// counted is what became of some findings.
type counted struct {
	findings, shown int
	// claimed counts those whose file says that they reproduce, lied those of
	// them that did not show.
	claimed, lied, unconfirmed int
	rates                      map[findings.Rate]int
}

func measure(ctx context.Context) (bool, error) {
	out := *keep
	if out == "" {
		dir, err := os.MkdirTemp("", "txnfuzz-reproduced-")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
		out = dir
	}
	if *binary == "" {
		*binary = filepath.Join(out, "txnfuzz")
		tags := "-tags=notidb"
		if *server == target.Default {
			tags = "-tags="
		}
		build := exec.CommandContext(ctx, "go", "build", tags, "-o", *binary, "./cmd/txnfuzz")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return false, fmt.Errorf("build txnfuzz: %w", err)
		}
	}
	sum := counted{rates: map[findings.Rate]int{}}
	for s := *seed; sum.findings < *wanted && ctx.Err() == nil; s++ {
		r, err := runCampaign(ctx, s, filepath.Join(out, "seed-"+strconv.FormatUint(s, 10)))
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return false, err
		}
		fmt.Printf("seed %d: %d cases in %.0f s, %d findings\n", s, r.Cases, r.Seconds, len(r.Findings))
		for i := range r.Findings {
			if sum.findings == *wanted || ctx.Err() != nil {
				break
			}
			if err := sum.add(ctx, &r.Findings[i]); err != nil && ctx.Err() == nil {
				return false, err
			}
		}
	}
	got := float64(sum.shown) / float64(max(sum.findings, 1))
	fmt.Printf("%s: %d findings, %d (%.0f%%) show on a new instance from the file alone; %d say that they reproduce, of which %d do not; %d say that they do not, %d are unconfirmed\n",
		*server, sum.findings, sum.shown, 100*got, sum.claimed, sum.lied, sum.findings-sum.claimed-sum.unconfirmed, sum.unconfirmed)
	for r := findings.Unconfirmed; r <= 10; r++ {
		if n := sum.rates[r]; n > 0 {
			fmt.Printf("  reproduced %s: %d\n", r, n)
		}
	}
	if ctx.Err() != nil {
		return false, fmt.Errorf("cut off after %d findings of %d", sum.findings, *wanted)
	}
	return got >= *share && sum.lied == 0, nil
}

// runCampaign runs one and returns its report.
func runCampaign(ctx context.Context, seed uint64, out string) (*campaign.Report, error) {
	var r campaign.Report
	return &r, txnfuzz(ctx, &r, "run", "--target", *server, "--strict", "--seed", strconv.FormatUint(seed, 10),
		"--cases", strconv.Itoa(*cases), "--reduce", reduceIn.String(), "--out", out, "--json", "-")
}

// add replays the file of a finding.
func (c *counted) add(ctx context.Context, f *findings.Finding) error {
	var results []findings.Replayed
	if err := txnfuzz(ctx, &results, "replay", f.File, "--target", *server, "--json", "-"); err != nil {
		return err
	}
	shown, runs, got := false, 0, ""
	for i := range results {
		r := &results[i]
		shown = shown || r.Fingerprint == f.Fingerprint
		runs, got = max(runs, r.Runs), string(r.Verdict)+" "+r.Fingerprint
	}
	c.findings++
	c.rates[f.Reproduced]++
	switch {
	case shown:
		c.shown++
	default:
		fmt.Printf("  does not show in %d runs: %s: reproduced %s, in the campaign %s; now %s\n", runs, f.File, f.Reproduced, f.InCampaign, got)
	}
	if f.Reproduced > 0 {
		c.claimed++
		if !shown {
			c.lied++
		}
	}
	if f.Reproduced == findings.Unconfirmed {
		c.unconfirmed++
	}
	return nil
}

// txnfuzz runs the program and reads the JSON that it writes. That something was
// found is no error.
func txnfuzz(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, *binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("txnfuzz %s: %w\n%s", args[0], err, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), into); err != nil {
		return fmt.Errorf("txnfuzz %s: %w", args[0], err)
	}
	return nil
}
