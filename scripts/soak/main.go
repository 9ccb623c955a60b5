package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const usage = `Runs many cases against a target in chunks and appends a line for each chunk to
the tally. What was interrupted goes on where it stopped, with fresh seeds: only
the chunks of the ruleset that judges now count, which is the last commit that
changed the oracle's code.

  go run ./scripts/soak --target embedded --cases 100000
  go run ./scripts/soak --target mysql:9.7,binlog=off --workers 2
  go run ./scripts/soak --table docs/deviations.md     run nothing; write the table

`

func main() {
	target := flag.String("target", "embedded", "target, as `txnfuzz run` takes it")
	levels := flag.String("levels", "", "levels, as `txnfuzz run` takes them; empty: its default")
	total := flag.Int("cases", 100000, "stop when the tally holds so many cases of this target and commit")
	chunk := flag.Int("chunk", 5000, "cases of one run")
	workers := flag.Int("workers", 1, "workers of one run")
	binary := flag.String("txnfuzz", "", "binary to use; empty: build one")
	tally := flag.String("tally", filepath.Join("scripts", "soak", "tally.tsv"), "tally to append to")
	out := flag.String("out", filepath.Join("out", "soak"), "folder for findings")
	table := flag.String("table", "", "run nothing; write the table of deviations to this file, - is standard output")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if *table != "" {
		if err := writeTable(*table, *tally); err != nil {
			fmt.Fprintln(os.Stderr, "soak:", err)
			os.Exit(3)
		}
		return
	}
	if err := run(*target, *levels, *total, *chunk, *workers, *binary, *tally, *out); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(3)
	}
}

func run(target, levels string, total, chunk, workers int, binary, tally, out string) error {
	if binary == "" {
		dir, err := os.MkdirTemp("", "soak")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "txnfuzz")
		if b, err := exec.Command("go", "build", "-o", binary, "./cmd/txnfuzz").CombinedOutput(); err != nil {
			return fmt.Errorf("build txnfuzz: %w\n%s", err, b)
		}
	}
	ruleset, err := rulesetVersion()
	if err != nil {
		return err
	}
	done, seed, err := resume(tally, ruleset, target, levels)
	if err != nil {
		return err
	}
	for done < total {
		seed++
		n := min(chunk, total-done)
		s, err := one(binary, target, levels, seed, n, workers, out)
		if err != nil {
			return err
		}
		if s.Cases == 0 {
			return errors.New("a chunk ran no case")
		}
		if err := appendChunk(tally, &row{ruleset, target, levels, seed, s}); err != nil {
			return err
		}
		done += s.Cases
		fmt.Printf("%s %s: %d of %d cases, this chunk %v, judged %.4f\n", target, levels, done, total, s.Verdicts, s.Judged)
	}
	return nil
}

// oracleCode are the files that decide what is judged how.
var oracleCode = []string{"oracle", ":(exclude)oracle/testdata", ":(exclude,glob)oracle/**/testdata/**", ":(exclude,glob)oracle/**/*_test.go"}

// rulesetVersion identifies what judges: the last commit that touched the
// oracle. Cases that another ruleset judged do not count.
func rulesetVersion() (string, error) {
	changed, err := exec.Command("git", append([]string{"status", "--porcelain", "--"}, oracleCode...)...).Output()
	if err != nil {
		return "", fmt.Errorf("ask git whether the oracle is as committed: %w", err)
	}
	if len(changed) > 0 {
		return "", fmt.Errorf("the oracle has changes that are not committed, so that the tally could not name the ruleset:\n%s", changed)
	}
	b, err := exec.Command("git", append([]string{"log", "-1", "--format=%h", "--"}, oracleCode...)...).Output()
	if err != nil {
		return "", fmt.Errorf("ask git for the oracle's last commit: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// resume returns how many cases the tally holds for this ruleset and target,
// and the highest seed that was ever used on the target.
func resume(tally, ruleset, target, levels string) (done, seed int, err error) {
	chunks, err := readTally(tally)
	if err != nil {
		return 0, 0, err
	}
	for _, c := range chunks {
		if c.target != target {
			continue
		}
		seed = max(seed, c.seed)
		if c.ruleset == ruleset && c.levels == levels {
			done += c.Cases
		}
	}
	return done, seed, nil
}

func one(binary, target, levels string, seed, cases, workers int, out string) (summary, error) {
	var s summary
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	result := filepath.Join(dir, "run.json")
	args := []string{"run", "--target", target, "--cases", strconv.Itoa(cases), "--seed", strconv.Itoa(seed),
		"--workers", strconv.Itoa(workers), "--out", out, "--json", result}
	if levels != "" {
		args = append(args, "--levels", levels)
	}
	cmd := exec.Command(binary, args...)
	cmd.Stderr = os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	// Status 1 says that something was found, which is a result.
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return s, fmt.Errorf("run %s %s: %w", binary, strings.Join(args, " "), err)
	}
	b, err := os.ReadFile(result)
	if err != nil {
		return s, fmt.Errorf("read the result: %w", err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("read the result: %w", err)
	}
	return s, nil
}
