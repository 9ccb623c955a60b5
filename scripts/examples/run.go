package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/workload"
)

// run is one run of the command, as it is kept.
type run struct {
	// Key says what was run; a run with a key that is there is not made again.
	Key      string
	Workload string
	Target   string
	Levels   string
	Seed     int
	Seconds  float64
	Report   *workload.Report
}

// once runs a workload, or returns the run that is kept.
func (o *options) once(ctx context.Context, file, target, levels string, seed int, duration, explain time.Duration, tries int) (*run, error) {
	name := strings.TrimSuffix(filepath.Base(file), ".workload")
	key := fmt.Sprintf("%s %s %s seed=%d duration=%s explain=%s tries=%d", name, target, levels, seed, duration, explain, tries)
	kept, err := o.kept()
	if err != nil {
		return nil, err
	}
	for _, r := range kept {
		if r.Key == key {
			return r, nil
		}
	}
	if err := o.build(ctx); err != nil {
		return nil, err
	}
	out := filepath.Join(o.dir, "found", strings.NewReplacer(":", "-", ",", "-").Replace(name+"-"+target+"-"+strconv.Itoa(seed)+"-"+levels))
	args := []string{"workload", file, "--target", target, "--seed", strconv.Itoa(seed), "--duration", duration.String(), "--explain", explain.String(),
		"--tries", strconv.Itoa(tries), "--workers", strconv.Itoa(o.workers), "--out", out, "--json", "-"}
	if levels != "" {
		args = append(args, "--levels", levels)
	}
	cmd := exec.CommandContext(ctx, o.binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begun := time.Now()
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil // that something was found is no error
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", key, err, stderr.String())
	}
	r := &run{Key: key, Workload: name, Target: target, Levels: levels, Seed: seed, Seconds: duration.Seconds(), Report: &workload.Report{}}
	if err := json.Unmarshal(stdout.Bytes(), r.Report); err != nil {
		return nil, fmt.Errorf("%s: read its JSON: %w", key, err)
	}
	fmt.Fprintf(os.Stderr, "%s: %d cases, %d findings, in %.0f s\n", key, r.Report.Cases, len(r.Report.Findings), time.Since(begun).Seconds())
	return r, o.keep(r)
}

// results is the file of kept runs.
func (o *options) results() string { return filepath.Join(o.dir, "runs.jsonl") }

func (o *options) keep(r *run) error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(o.results(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n')) // one write, so that two measurements may share the file
	return errors.Join(err, f.Close())
}

func (o *options) kept() ([]*run, error) {
	f, err := os.Open(o.results())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []*run
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for n := 1; lines.Scan(); n++ {
		r := &run{}
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", o.results(), n, err)
		}
		out = append(out, r)
	}
	return out, lines.Err()
}

// build builds the command, with TiDB where that is asked for.
func (o *options) build(ctx context.Context) error {
	if o.binary != "" {
		return nil
	}
	tags := "notidb"
	for _, t := range o.targets {
		if t == target.Default {
			tags = ""
		}
	}
	o.binary = filepath.Join(o.dir, "txnfuzz"+tags)
	cmd := exec.CommandContext(ctx, "go", "build", "-tags="+tags, "-o", o.binary, "./cmd/txnfuzz")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build txnfuzz: %w", err)
	}
	return nil
}
