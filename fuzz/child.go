package fuzz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// A server inside this process takes the process down when it panics. So what
// may crash runs in a child: this very program, told its part by environment
// variables. The two talk through files of a folder; the end of the child's
// standard input, which comes with the end of the parent too, cancels it.
const (
	envChild    = "TXNFUZZ_CHILD"
	envChildDir = "TXNFUZZ_CHILD_DIR"

	roleCase     = "case"
	roleCampaign = "campaign"

	fileRequest = "request.json"
	fileServer  = "server.json"
	fileResult  = "result.json"
	fileCase    = "case.sql"
)

// childStart bounds the life of a child that runs one case: start of the
// server, the case, the end.
const childStart = time.Minute

// childEnd is how long a child that was told to end may take.
const childEnd = 20 * time.Second

// runChildPart does the part of a child process, if this is one; campaign is the part of
// roleCampaign, with the folder that it talks through.
func runChildPart(campaign func(ctx context.Context, dir string) error) (code int, ran bool) {
	role, dir := os.Getenv(envChild), os.Getenv(envChildDir)
	if role == "" {
		return 0, false
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if role != roleRunner { // which reads it
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	var err error
	switch role {
	case roleCase:
		err = caseChild(ctx, dir)
	case roleCampaign:
		err = campaign(ctx, dir)
	case roleRunner:
		err = runnerChild(ctx, dir) // a target's name
	default:
		err = fmt.Errorf("%s: unknown part %q", envChild, role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "txnfuzz: child: "+err.Error())
		return 3, true
	}
	return 0, true
}

// caseResult is what a child that lived says of a case.
type caseResult struct {
	History *history.History `json:"history"`
	Verdict oracle.Verdict   `json:"verdict"`
	Err     string           `json:"error,omitempty"`
}

func caseChild(ctx context.Context, dir string) error {
	var target string
	if err := readJSON(filepath.Join(dir, fileRequest), &target); err != nil {
		return err
	}
	c, err := corpus.Load(filepath.Join(dir, fileCase))
	if err != nil {
		return err
	}
	t, err := OpenTarget(ctx, target, TargetOptions{})
	if err != nil {
		return err
	}
	if err := writeJSONFile(filepath.Join(dir, fileServer), t.Server()); err != nil {
		return err
	}
	r := t.Judge(ctx, c, LevelsFor(c, t.Levels()[0]))
	if err := writeJSONFile(filepath.Join(dir, fileResult), resultOf(r)); err != nil {
		return err
	}
	return t.Close()
}

// childProcess is this program started again with a part to play.
type childProcess struct {
	role, dir string
	// stderr receives what the child writes, up to the text of a crash.
	stderr io.Writer
}

// died is how a child ended that did not end by itself.
type died struct {
	state string
	// text is its crash text, or the last it wrote.
	text string
}

func (d *died) Error() string { return "the process died: " + d.state + ": " + firstLines(d.text, 2) }

// run waits for the end of the child. A *died error says that it was taken
// down; others that it could not do its part.
func (p *childProcess) run(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start a child: %w", err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), envChild+"="+p.role, envChildDir+"="+p.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the parent, who passes it on
	output := &crashFilter{to: p.stderr}
	cmd.Stderr, cmd.Stdout = output, output
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start a child: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a child: %w", err)
	}
	ended := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		_ = stdin.Close()
		select {
		case <-ended:
		case <-time.After(childEnd):
			_ = cmd.Process.Kill()
		}
	})
	defer unhook()
	err = cmd.Wait()
	close(ended)
	if err == nil {
		return nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("run a child: %w", err)
	}
	text := output.text()
	if exit.ExitCode() == 3 && crashLines(text) == "" {
		return fmt.Errorf("run a child: %s", strings.TrimSpace(text))
	}
	return &died{exit.String(), text}
}

// crashFilter passes lines on until a crash begins, whose dump of goroutines
// is for the file of the finding, not for the terminal.
type crashFilter struct {
	to      io.Writer
	mu      sync.Mutex
	crashed bool
	kept    []byte // the crash, or the last lines before it
	line    []byte
}

const crashKept = 64 << 10

func (f *crashFilter) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range p {
		f.line = append(f.line, b)
		if b == '\n' {
			f.flush()
		}
	}
	return len(p), nil
}

func (f *crashFilter) flush() {
	if !f.crashed && (strings.HasPrefix(string(f.line), "panic: ") || strings.HasPrefix(string(f.line), "fatal error: ")) {
		f.crashed, f.kept = true, f.kept[:0]
	}
	switch {
	case f.crashed && len(f.kept) < crashKept:
		f.kept = append(f.kept, f.line...)
	case !f.crashed:
		f.kept = append(f.kept, f.line...)
		if over := len(f.kept) - crashKept; over > 0 {
			f.kept = f.kept[over:]
		}
		if f.to != nil {
			_, _ = f.to.Write(f.line)
		}
	}
	f.line = f.line[:0]
}

func (f *crashFilter) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flush()
	return string(f.kept)
}

// childJudge judges cases on a target, each in a process of its own.
type childJudge struct {
	target string
	mu     sync.Mutex
	server history.Server // of the last child that got that far
}

// judge is a judgeFunc.
func (j *childJudge) judge(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	r := Trial{Case: c, Levels: levels, Verdict: oracle.Verdict{Outcome: oracle.Unknown, Stmt: -1, Reason: ReasonHarness}}
	dir, err := os.MkdirTemp("", "txnfuzz-child-*")
	if err != nil {
		r.Err = fmt.Errorf("start a child: %w", err)
		return r
	}
	defer func() { _ = os.RemoveAll(dir) }()
	with := c.Clone()
	with.SetLevels(levels)
	if _, err := corpus.Save(dir, fileCase, with); err != nil {
		r.Err = err
		return r
	}
	if r.Err = writeJSONFile(filepath.Join(dir, fileRequest), j.target); r.Err != nil {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, childStart)
	defer cancel()
	r.Err = (&childProcess{role: roleCase, dir: dir}).run(ctx)
	var server history.Server
	if err := readJSON(filepath.Join(dir, fileServer), &server); err == nil {
		j.mu.Lock()
		j.server = server
		j.mu.Unlock()
	}
	var dead *died
	if errors.As(r.Err, &dead) {
		r.Verdict, r.Log = crashVerdict(dead.text), dead.text
		return r
	}
	if r.Err != nil {
		return r
	}
	var result caseResult
	if r.Err = readJSON(filepath.Join(dir, fileResult), &result); r.Err != nil {
		return r
	}
	r.History, r.Verdict = result.History, result.Verdict
	if result.Err != "" {
		r.Err = errors.New(result.Err)
	}
	return r
}

// Server is that of the last child that got far enough to tell.
func (j *childJudge) Server() history.Server {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.server
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read a message: %w", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read a message: %s: %w", filepath.Base(path), err)
	}
	return nil
}

func writeJSONFile(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	return wholefile.Write(path, text)
}
