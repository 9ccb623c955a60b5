package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// running is the instance of a private server and what is known of its log.
type running struct {
	mu      sync.Mutex
	current *process // replaced by Restart
	last    string   // log of the last instance, once closed
	read    int64    // how much of the current log LogProblems has read
	closed  bool
}

func (r *running) instance() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// Log returns the end of the error log, from the first sign of a crash if there
// is one. It still answers after Close.
func (r *running) Log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return r.last
	}
	return r.current.log()
}

// LogProblems returns the lines that tell of failed assertions, corruption or
// fatal signals and that no earlier call returned. A server may live on after
// some of them.
func (r *running) LogProblems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	lines, read := problemsSince(filepath.Join(r.current.folder.path, logName), r.read)
	r.read = read
	return lines
}

// restart puts a new instance in the place of the current one, dead or alive, which it ends.
func (r *running) restart(ctx context.Context, start func(context.Context) (*process, history.Server, error)) error {
	p, _, err := start(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return errors.Join(errors.New("restart a server that was closed"), p.close())
	}
	old := r.current
	r.current, r.read = p, 0
	r.mu.Unlock()
	return old.close()
}

// Close ends the server and removes its folder.
func (r *running) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed, r.last = true, r.current.log()
	return r.current.close()
}

// recovered launches a killed server anew on the data in its folder. left names the files that the killed one has left
// there: the pid in them may be another process's by now.
func (r *running) recovered(ctx context.Context, left func(*folder) []string, launch func(*folder) (*process, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errors.New("recover a server that was closed")
	}
	select {
	case <-r.current.gone:
	default:
		return errors.New("recover a server that runs")
	}
	f := r.current.folder
	for _, path := range left(f) {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("recover a server: %w", err)
		}
	}
	p, err := launch(f)
	if err != nil {
		r.closed, r.last = true, err.Error() // launch has removed the folder
		r.current.killed = false
		if ctx.Err() != nil {
			return err
		}
		return &harness.RecoveryError{Err: err, Log: err.Error()}
	}
	r.current.killed = false // the folder is the new process's
	r.current = p
	return nil
}

// whyDead tells how a server died that does not answer, or that it lives. A server that dies breaks its connections
// before it can be waited for.
func (p *process) whyDead(ctx context.Context, unanswered error) error {
	select {
	case <-p.exited:
		return p.dead()
	case <-time.After(200 * time.Millisecond):
	case <-ctx.Done():
	}
	return fmt.Errorf("the server does not answer: %w", unanswered)
}
