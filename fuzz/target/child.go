package target

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
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// A server inside this process takes the process down when it panics. So what
// may crash runs in a child: this very program, told its part by environment
// variables. The two talk through files of a folder; the end of the child's
// standard input, which comes with the end of the parent too, cancels it.
const (
	EnvChild    = "TXNFUZZ_CHILD"     // the part
	EnvChildDir = "TXNFUZZ_CHILD_DIR" // the folder, or of roleRunner the target's name

	roleCase     = "case"     // one case
	RoleCampaign = "campaign" // a whole campaign

	FileRequest = "request.json" // what the child is to do
	fileServer  = "server.json"  // what its server is
	FileResult  = "result.json"  // what came of it
	fileCase    = "case.sql"
)

// childStart bounds the life of a child that runs one case: start of the
// server, the case, the end.
const childStart = time.Minute

// childEnd is how long a child that was told to end may take.
const childEnd = 20 * time.Second

// RunChild does the part of a child process, if this is one; campaign is the part of
// RoleCampaign, with the folder that it talks through.
func RunChild(campaign func(ctx context.Context, dir string) error) (code int, ran bool) {
	role, dir := os.Getenv(EnvChild), os.Getenv(EnvChildDir)
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
	case RoleCampaign:
		err = campaign(ctx, dir)
	case roleRunner:
		err = runnerChild(ctx, dir) // a target's name
	default:
		err = fmt.Errorf("%s: unknown part %q", EnvChild, role)
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
	Path    []judging.State  `json:"path,omitempty"`
	Err     string           `json:"error,omitempty"`
}

func caseChild(ctx context.Context, dir string) error {
	var target string
	if err := ReadJSON(filepath.Join(dir, FileRequest), &target); err != nil {
		return err
	}
	c, err := corpus.Load(filepath.Join(dir, fileCase))
	if err != nil {
		return err
	}
	t, err := Open(ctx, target, Options{})
	if err != nil {
		return err
	}
	if err := WriteJSON(filepath.Join(dir, fileServer), t.Server()); err != nil {
		return err
	}
	r := t.Judge(ctx, c, LevelsFor(c, t.Levels()[0]))
	if err := WriteJSON(filepath.Join(dir, FileResult), resultOf(r)); err != nil {
		return err
	}
	return t.Close()
}

// ChildProcess is this program started again with a part to play.
type ChildProcess struct {
	// Role is the part, Dir the folder that both talk through.
	Role, Dir string
	// Stderr receives what the child writes, up to the text of a crash.
	Stderr io.Writer
}

// Died is how a child ended that did not end by itself.
type Died struct {
	state string
	// Text is its crash text, or the last it wrote.
	Text string
}

// Error tells how the process ended, and the first of its last words.
func (d *Died) Error() string { return "the process died: " + d.state + ": " + FirstLines(d.Text, 2) }

// Run starts the child and waits for its end. A *Died error says that it was taken
// down; others that it could not do its part.
func (p *ChildProcess) Run(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start a child: %w", err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), EnvChild+"="+p.Role, EnvChildDir+"="+p.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the parent, who passes it on
	output := &crashFilter{to: p.Stderr}
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
	return &Died{exit.String(), text}
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

// ChildJudge judges cases on a target, each in a process of its own.
type ChildJudge struct {
	Target string // by name, with its password
	mu     sync.Mutex
	server history.Server // of the last child that got that far
}

// Judge is a JudgeFunc.
func (j *ChildJudge) Judge(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	r := Trial{Case: c, Levels: levels, Verdict: judging.Undecided(ReasonHarness, "")}
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
	if r.Err = WriteJSON(filepath.Join(dir, FileRequest), j.Target); r.Err != nil {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, childStart)
	defer cancel()
	r.Err = (&ChildProcess{Role: roleCase, Dir: dir}).Run(ctx)
	var server history.Server
	if err := ReadJSON(filepath.Join(dir, fileServer), &server); err == nil {
		j.mu.Lock()
		j.server = server
		j.mu.Unlock()
	}
	var dead *Died
	if errors.As(r.Err, &dead) {
		r.Verdict, r.Log = CrashVerdict(dead.Text), dead.Text
		return r
	}
	if r.Err != nil {
		return r
	}
	var result caseResult
	if r.Err = ReadJSON(filepath.Join(dir, FileResult), &result); r.Err != nil {
		return r
	}
	r.History, r.Verdict, r.Path = result.History, result.Verdict, result.Path
	if result.Err != "" {
		r.Err = errors.New(result.Err)
	}
	return r
}

// Server is that of the last child that got far enough to tell.
func (j *ChildJudge) Server() history.Server {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.server
}

// ReadJSON reads a message between a child and its parent.
func ReadJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read a message: %w", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read a message: %s: %w", filepath.Base(path), err)
	}
	return nil
}

// WriteJSON writes a message, in one step.
func WriteJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	return wholefile.Write(path, text)
}
