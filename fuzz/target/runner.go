package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// roleRunner is a child that opens a target of its own and runs the cases that
// it is sent, each in a new database: a fresh instance of a server that lives in
// its process.
const roleRunner = "runner"

// Requests come as JSON values on the child's standard input, whose end is that
// of the child; answers go to the file with this number.
const runnerAnswers = 3

// runnerRequest is one run that is asked of a runner.
type runnerRequest struct {
	Case   string               `json:"case"` // its text; of its header the protocol alone
	Levels map[int]corpus.Level `json:"levels"`
	Facts  bool                 `json:"facts,omitempty"` // the run is one for facts
}

// runnerChild does the part of the child. The first answer says that the target
// is open.
func runnerChild(ctx context.Context, target string) (err error) {
	t, err := Open(ctx, target, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	answers := json.NewEncoder(os.NewFile(runnerAnswers, "answers"))
	if err := answers.Encode(caseResult{}); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	requests := json.NewDecoder(os.Stdin)
	for {
		var q runnerRequest
		if err := requests.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		c, err := corpus.Parse("request", []byte(q.Case))
		if err != nil {
			return err
		}
		judge := t.JudgeFresh
		if q.Facts {
			judge = t.JudgeForFacts
		}
		if err := answers.Encode(resultOf(judge(ctx, c, q.Levels))); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
}

func resultOf(r Trial) caseResult {
	result := caseResult{History: r.History, Verdict: r.Verdict, Path: r.Path}
	if r.Err != nil {
		result.Err = r.Err.Error()
	}
	return result
}

// runner is such a child, seen from its parent. A case that takes it down is
// answered with a crash, and the next one finds a new child.
type runner struct {
	target string
	mu     sync.Mutex // one run at a time
	child  *runnerProcess
}

type runnerProcess struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	results *json.Decoder
	answers *os.File
	output  *crashFilter
}

func startRunner(ctx context.Context, target string) (*FreshServer, error) {
	r := &runner{target: target}
	var err error
	if r.child, err = startRunnerProcess(ctx, target); err != nil {
		return nil, err
	}
	return &FreshServer{r.judge, r.judgeForFacts, r.close}, nil
}

func startRunnerProcess(ctx context.Context, target string) (*runnerProcess, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	p := &runnerProcess{cmd: exec.Command(exe), answers: from, results: json.NewDecoder(from), output: &crashFilter{}}
	p.cmd.Env = append(os.Environ(), EnvChild+"="+roleRunner, EnvChildDir+"="+target)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.ExtraFiles = []*os.File{to}
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	_ = to.Close()
	if err != nil {
		_ = from.Close()
		return nil, fmt.Errorf("start a child: %w", err)
	}
	if _, err := p.answer(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start a child: %w: %s", err, FirstLines(p.output.text(), 3)), p.kill())
	}
	return p, nil
}

// answer reads the next answer, or gives up with the context: then the child is
// of no more use.
func (p *runnerProcess) answer(ctx context.Context) (caseResult, error) {
	unhook := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	defer unhook()
	var result caseResult
	err := p.results.Decode(&result)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return result, err
}

func (p *runnerProcess) kill() error {
	_ = p.cmd.Process.Kill()
	return p.end()
}

// end waits for a child that has no more requests.
func (p *runnerProcess) end() error {
	_ = p.stdin.Close()
	err := p.cmd.Wait()
	_ = p.answers.Close()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil // it was killed, or its crash has been told
	}
	return err
}

// judge is a JudgeFunc, as Target.JudgeFresh is.
func (r *runner) judge(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return r.ask(ctx, c, levels, false)
}

// judgeForFacts is a JudgeFunc, as Target.JudgeForFacts is.
func (r *runner) judgeForFacts(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return r.ask(ctx, c, levels, true)
}

func (r *runner) ask(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level, facts bool) Trial {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := Trial{Case: c, Levels: levels, Verdict: judging.Undecided(ReasonHarness, "")}
	if r.child == nil {
		if r.child, t.Err = startRunnerProcess(ctx, r.target); t.Err != nil {
			return t
		}
	}
	var text bytes.Buffer
	bare := &corpus.Case{Init: c.Init, Steps: c.Steps} // the rest of a header need not fit a case that was reduced
	bare.SetProtocol(c.Protocol())
	text.Write(corpus.Print(bare, corpus.Text))
	request, err := json.Marshal(runnerRequest{text.String(), levels, facts})
	if err != nil {
		t.Err = fmt.Errorf("ask a child: %w", err)
		return t
	}
	_, _ = r.child.stdin.Write(append(request, '\n')) // that it is gone shows with the answer
	result, err := r.child.answer(ctx)
	if err == nil {
		t.History, t.Verdict, t.Path = result.History, result.Verdict, result.Path
		if result.Err != "" {
			t.Err = errors.New(result.Err)
		}
		return t
	}
	t.Err = errors.Join(err, r.child.kill())
	log := r.child.output.text()
	if r.child = nil; ctx.Err() == nil && strings.TrimSpace(crashLines(log)) != "" {
		t.Verdict, t.Log = CrashVerdict(log), log
	}
	return t
}

func (r *runner) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child == nil {
		return nil
	}
	// Nothing of it is needed any more: its files are swept up by the next start,
	// and an orderly end takes TiDB a second.
	return r.child.kill()
}
