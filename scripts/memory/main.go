//go:build linux

package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/shirou/gopsutil/v3/process"
)

// most is how much the memory may grow between the two moments.
const most = 1.2

func main() {
	target := flag.String("target", "mariadb:10.11", "target, as `txnfuzz run` takes it: a private server")
	levels := flag.String("levels", "", "levels, as `txnfuzz run` takes them; empty: its default")
	workers := flag.Int("workers", 1, "workers of the run")
	out := flag.String("out", filepath.Join("out", "memory"), "folder for findings")
	first := flag.Duration("first", 3*time.Minute, "when to look first")
	second := flag.Duration("second", 15*time.Minute, "when to look again")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	grown, err := measure(ctx, *target, *levels, *out, *workers, *first, *second)
	if err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(3)
	}
	if grown {
		os.Exit(1)
	}
}

// measure reports whether either process grew by more than it may.
func measure(ctx context.Context, target, levels, out string, workers int, first, second time.Duration) (grown bool, err error) {
	dir, err := os.MkdirTemp("", "txnfuzz-memory-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	tool := filepath.Join(dir, "txnfuzz")
	if b, err := exec.CommandContext(ctx, "go", "build", "-tags", "notidb", "-o", tool, "./cmd/txnfuzz").CombinedOutput(); err != nil {
		return false, fmt.Errorf("build txnfuzz: %w\n%s", err, b)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run := exec.CommandContext(ctx, tool, "run", "--target", target, "--workers", strconv.Itoa(workers),
		"--duration", (second + 10*time.Second).String(), "--out", out)
	if levels != "" {
		run.Args = append(run.Args, "--levels", levels)
	}
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.Stderr = os.Stderr
	var report bytes.Buffer
	run.Stdout = &report
	begun := time.Now()
	if err := run.Start(); err != nil {
		return false, fmt.Errorf("start txnfuzz: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	fmt.Println("at\ttool MB\tserver MB\thistory")
	var looks []look
	for _, at := range []time.Duration{first, second} {
		select {
		case <-time.After(time.Until(begun.Add(at))):
		case err := <-ended:
			return false, errors.Join(errors.New("txnfuzz ended early"), err)
		}
		l, err := lookAt(ctx, run.Process.Pid)
		if err != nil {
			cancel()
			<-ended
			return false, err
		}
		fmt.Printf("%v\t%.1f\t%.1f\t%d\n", at, l.tool, l.server, l.history)
		looks = append(looks, l)
	}
	if err := <-ended; err != nil && run.ProcessState.ExitCode() != 1 { // 1: something was found
		return false, fmt.Errorf("txnfuzz: %w", err)
	}
	_, _ = io.Copy(os.Stdout, &report)
	tools, servers := looks[1].tool/looks[0].tool, looks[1].server/looks[0].server
	fmt.Printf("grown to: tool %.2f, server %.2f of what it was; at most %.1f\n", tools, servers, most)
	return tools > most || servers > most, nil
}

// look is what was seen at one moment, in MB.
type look struct {
	tool, server float64
	history      int
}

func lookAt(ctx context.Context, pid int) (l look, err error) {
	tool, err := process.NewProcessWithContext(ctx, int32(pid))
	if err != nil {
		return l, fmt.Errorf("find txnfuzz: %w", err)
	}
	if l.tool, err = resident(ctx, tool); err != nil {
		return l, err
	}
	server, socket, err := serverBelow(ctx, tool)
	if err != nil {
		return l, err
	}
	if l.server, err = resident(ctx, server); err != nil {
		return l, err
	}
	l.history, err = historyLength(ctx, socket)
	return l, err
}

// resident returns the memory of a process that is in use, in MB.
func resident(ctx context.Context, p *process.Process) (float64, error) {
	m, err := p.MemoryInfoWithContext(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask for the memory of process %d: %w", p.Pid, err)
	}
	return float64(m.RSS) / (1 << 20), nil
}

// serverBelow finds the server that a process started, and its socket.
func serverBelow(ctx context.Context, tool *process.Process) (server *process.Process, socket string, err error) {
	for below := []*process.Process{tool}; len(below) > 0; below = below[1:] {
		children, err := below[0].ChildrenWithContext(ctx)
		if err != nil && !errors.Is(err, process.ErrorNoChildren) {
			return nil, "", fmt.Errorf("list the children of process %d: %w", below[0].Pid, err)
		}
		for _, c := range children {
			arguments, err := c.CmdlineSliceWithContext(ctx)
			if err != nil || len(arguments) == 0 || filepath.Base(arguments[0]) == "sh" { // it has ended, or starts the server
				continue
			}
			for _, a := range arguments {
				if socket, ok := strings.CutPrefix(a, "--socket="); ok {
					return c, socket, nil
				}
			}
		}
		below = append(below, children...)
	}
	return nil, "", fmt.Errorf("process %d has no server", tool.Pid)
}

var listLength = regexp.MustCompile(`History list length (\d+)`)

func historyLength(ctx context.Context, socket string) (int, error) {
	db, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var engine, name, status string
	if err := db.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&engine, &name, &status); err != nil {
		return 0, fmt.Errorf("ask for the history list length: %w", err)
	}
	m := listLength.FindStringSubmatch(status)
	if m == nil {
		return 0, errors.New("the server's status tells no history list length")
	}
	return strconv.Atoi(m[1])
}
