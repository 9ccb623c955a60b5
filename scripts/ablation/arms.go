package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
)

// The arms, as the table names them.
const (
	armNative    = "native engine"
	armLibFuzzer = "libFuzzer"
	armSignal    = "campaign"
	armBlind     = "blind campaign"
	armRandom    = "random"
	armPatterns  = "patterns"
	// startAlone opens the target and closes it: what coverage begins with.
	startAlone = "start alone"
)

// arms are all of them, in the order of the table.
var arms = []string{armNative, armLibFuzzer, armSignal, armBlind, armRandom, armPatterns, startAlone}

// everywhere are the arms that need no server in the process.
var everywhere = []string{armSignal, armBlind, armRandom, armPatterns}

// binaries are the programs of the arms, with absolute paths.
type binaries struct{ native, libFuzzer, campaign string }

// Files below the folder of a cell.
const (
	firstsFile  = "firsts.tsv"
	coverageDir = "coverage"
)

// build makes the binaries in a folder; where was given, they are there.
func build(ctx context.Context, where string) (*binaries, error) {
	dir := where
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("build the arms: %w", err)
		}
		dir = filepath.Join(cache, "txnfuzz", "ablation")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("build the arms: %w", err)
	}
	b := &binaries{filepath.Join(dir, "native.test"), filepath.Join(dir, "fuzz_txn_pair"), filepath.Join(dir, "campaign")}
	if where != "" {
		return b, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("build the arms: %w", err)
	}
	// Go writes line coverage at an exit only if the main package has some, too.
	covered := `"-coverpkg=$(paste -sd, scripts/covered.txt),github.com/txnfuzz/txnfuzz/scripts/ablation"`
	for _, step := range []string{
		"go build -cover " + covered + ` -o "$1/campaign" ./scripts/ablation`,
		`scripts/fuzz --build "$1/native.test" --cover`,
		`COVER=1 OUT=$1 scripts/libfuzzer build fuzz_txn_pair`,
	} {
		fmt.Fprintln(os.Stderr, step)
		cmd := exec.CommandContext(ctx, "bash", "-c", step, "build", dir)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("build the arms: %s: %w", step, err)
		}
	}
	return b, nil
}

// work runs an arm in an empty folder until its time is over, again and again if
// it ends early: a panic of the server ends an engine.
func (b *binaries) work(ctx context.Context, c *cell, dir string, d time.Duration) (ends int, err error) {
	if err := prepare(c, dir); err != nil {
		return 0, err
	}
	end := time.Now().Add(d)
	const shortest = 5 * time.Second
	for {
		err := b.once(ctx, c, dir, max(time.Until(end), time.Second).Round(time.Second))
		if ctx.Err() != nil {
			return ends, ctx.Err()
		}
		if time.Until(end) < shortest || c.Arm == startAlone {
			if err != nil && c.Arm == startAlone {
				return ends, fmt.Errorf("%s: %w", c, err)
			}
			return ends, nil
		}
		if ends++; ends > 20 {
			return ends, fmt.Errorf("%s: ended %d times before its time, the last: %w; see %s", c, ends, err, dir)
		}
	}
}

// prepare makes the folders of a cell: the native engine runs in the folder of
// its package, two levels below which the stored cases are expected.
func prepare(c *cell, dir string) error {
	for _, sub := range []string{"root/fuzz", "found", "corpus", "seeds", coverageDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	stored, err := filepath.Abs("corpus")
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	if err := os.Symlink(stored, filepath.Join(dir, "root", "corpus")); err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	known, err := campaign.LoadKnown(findings.StoredDir)
	if err != nil {
		return err
	}
	for i, seed := range campaign.PairSeeds(known) {
		if err := os.WriteFile(filepath.Join(dir, "seeds", strconv.Itoa(i)), seed, 0o644); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	return nil
}

// once runs the process of an arm. It returns an error also where the process
// says that it found something.
func (b *binaries) once(ctx context.Context, c *cell, dir string, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d+90*time.Second)
	defer cancel()
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	defer func() { _ = log.Close() }()
	args := b.arguments(c, dir, d)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GODEBUG=fuzzseed="+strconv.Itoa(c.Seed), "TXNFUZZ_GO_ON=1",
		"GOCOVERDIR="+filepath.Join(dir, coverageDir), "TXNFUZZ_FIRSTS="+filepath.Join(dir, firstsFile), "TXNFUZZ_OUT="+filepath.Join(dir, "found"))
	if c.Arm == armNative {
		cmd.Dir = filepath.Join(dir, "root", "fuzz")
	}
	cmd.Stdout, cmd.Stderr = log, log
	// An engine has children; they go with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}

func (b *binaries) arguments(c *cell, dir string, d time.Duration) []string {
	seconds, seed, kept := strconv.Itoa(int(d.Seconds())), strconv.Itoa(c.Seed), filepath.Join(dir, "corpus")
	switch c.Arm {
	case armNative:
		return []string{b.native, "-test.run=^$", "-test.fuzz=^FuzzTxnPair$", "-test.fuzzcachedir=" + kept,
			"-test.fuzzminimizetime=0s", "-test.parallel=1", "-test.fuzztime=" + seconds + "s"}
	case armLibFuzzer:
		return []string{b.libFuzzer, "-seed=" + seed, "-use_counters=0", "-len_control=0", "-max_len=" + strconv.Itoa(campaign.MaxInput),
			"-timeout=30", "-rss_limit_mb=4096", "-max_total_time=" + seconds, "-artifact_prefix=" + dir + "/", kept, filepath.Join(dir, "seeds")}
	}
	return []string{b.campaign, "campaign", "-arm", c.Arm, "-target", c.Target, "-dir", dir, "-seed", seed, "-duration", d.String()}
}
