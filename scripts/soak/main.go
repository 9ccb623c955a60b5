// Command soak runs many cases against a target in chunks and appends a line
// for each chunk to a tally, so that a run which was interrupted goes on where
// it stopped, with fresh seeds.
//
//	go run ./scripts/soak --target embedded --cases 100000
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// summary is what the tally keeps of the JSON that `txnfuzz run` writes.
type summary struct {
	ServerVersion string         `json:"server_version"`
	Seconds       float64        `json:"seconds"`
	Cases         int            `json:"cases"`
	Statements    int            `json:"statements"`
	Judged        float64        `json:"judged"`
	Blocked       int            `json:"blocked"`
	Conflicting   float64        `json:"conflicting"`
	Verdicts      map[string]int `json:"verdicts"`
	Known         map[string]int `json:"known"`
	Unknown       map[string]int `json:"unknown"`
}

var columns = []string{"rules", "target", "server_version", "levels", "seed", "cases", "statements", "judged", "blocked", "conflicting", "ok", "known", "violation", "unknown", "seconds", "known_rules", "unknown_reasons"}

func main() {
	target := flag.String("target", "embedded", "target, as `txnfuzz run` takes it")
	levels := flag.String("levels", "", "levels, as `txnfuzz run` takes them; empty: its default")
	total := flag.Int("cases", 100000, "stop when the tally holds so many cases of this target and commit")
	chunk := flag.Int("chunk", 5000, "cases of one run")
	workers := flag.Int("workers", 1, "workers of one run")
	binary := flag.String("txnfuzz", "", "binary to use; empty: build one")
	tally := flag.String("tally", filepath.Join("scripts", "soak", "tally.tsv"), "tally to append to")
	out := flag.String("out", filepath.Join("out", "soak"), "folder for findings")
	flag.Parse()
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
		if err := record(tally, ruleset, target, levels, seed, s); err != nil {
			return err
		}
		done += s.Cases
		fmt.Printf("%s %s: %d of %d cases, this chunk %v, judged %.4f\n", target, levels, done, total, s.Verdicts, s.Judged)
	}
	return nil
}

// rulesetVersion identifies what judged: the last commit that touched the
// oracle. Cases that another ruleset judged do not count.
func rulesetVersion() (string, error) {
	b, err := exec.Command("git", "log", "-1", "--format=%h", "--", "oracle").Output()
	if err != nil {
		return "", fmt.Errorf("ask git for the oracle's last commit: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// resume returns how many cases the tally holds for this ruleset and target,
// and the highest seed that was ever used on the target.
func resume(tally, ruleset, target, levels string) (done, seed int, err error) {
	f, err := os.Open(tally)
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read the tally: %w", err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for line := 1; sc.Scan(); line++ {
		v := strings.Split(sc.Text(), "\t")
		if line == 1 || len(v) < len(columns) || v[1] != target {
			continue
		}
		s, err1 := strconv.Atoi(v[4])
		n, err2 := strconv.Atoi(v[5])
		if err := errors.Join(err1, err2); err != nil {
			return 0, 0, fmt.Errorf("%s:%d: %w", tally, line, err)
		}
		seed = max(seed, s)
		if v[0] == ruleset && v[3] == levels {
			done += n
		}
	}
	return done, seed, sc.Err()
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

func record(tally, ruleset, target, levels string, seed int, s summary) error {
	_, statErr := os.Stat(tally)
	f, err := os.OpenFile(tally, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("append to the tally: %w", err)
	}
	defer f.Close()
	if errors.Is(statErr, os.ErrNotExist) {
		fmt.Fprintln(f, strings.Join(columns, "\t"))
	}
	row := []any{ruleset, target, s.ServerVersion, levels, seed, s.Cases, s.Statements, fmt.Sprintf("%.4f", s.Judged), s.Blocked, fmt.Sprintf("%.3f", s.Conflicting),
		s.Verdicts["ok"], s.Verdicts["known"], s.Verdicts["violation"], s.Verdicts["unknown"], fmt.Sprintf("%.1f", s.Seconds), counts(s.Known), counts(s.Unknown)}
	text := make([]string, len(row))
	for i, v := range row {
		text[i] = fmt.Sprint(v)
	}
	if _, err := fmt.Fprintln(f, strings.Join(text, "\t")); err != nil {
		return fmt.Errorf("append to the tally: %w", err)
	}
	return f.Sync()
}

func counts(m map[string]int) string {
	out := make([]string, 0, len(m))
	for k, n := range m {
		out = append(out, fmt.Sprintf("%s=%d", k, n))
	}
	sort.Strings(out)
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, ",")
}
