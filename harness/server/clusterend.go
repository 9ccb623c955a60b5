package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

var _ harness.Crasher = (*cluster)(nil)

// Kill implements harness.Crasher. All processes of the server are killed: its first one alone would leave
// others, which go on until they next wait for something.
func (b *cluster) Kill() error {
	if !b.durable {
		return errNotDurable
	}
	p := b.instance()
	// A server that is stopped makes no process and lets none go, so that no pid is another's by now.
	if err := p.signal(syscall.SIGSTOP); err == nil {
		for _, pid := range childrenOf(p.pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return p.kill()
}

// Recover implements harness.Crasher.
func (b *cluster) Recover(ctx context.Context) error {
	if !b.durable {
		return errNotDurable
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errors.New("recover a server that was closed")
	}
	select {
	case <-b.current.gone:
	default:
		return errors.New("recover a server that runs")
	}
	f := b.current.folder
	// Left by the killed server; the pid in them may be another process's now.
	socket := b.socketFile(f.path)
	for _, path := range []string{socket, socket + ".lock", filepath.Join(b.data(f), pidName)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("recover a server: %w", err)
		}
	}
	p, _, err := b.launch(ctx, f)
	if err != nil {
		b.closed, b.last = true, err.Error() // launch has removed the folder
		b.current.killed = false
		if ctx.Err() != nil {
			return err
		}
		return &harness.RecoveryError{Err: err, Log: err.Error()}
	}
	b.current.killed = false // the folder is the new process's
	b.current = p
	return nil
}

// Pause implements harness.Crasher: it stops all processes of the server.
func (b *cluster) Pause() error { return b.stopOrGo(syscall.SIGSTOP) }

// Resume implements harness.Crasher.
func (b *cluster) Resume() error { return b.stopOrGo(syscall.SIGCONT) }

func (b *cluster) stopOrGo(s syscall.Signal) error {
	if !b.durable {
		return errNotDurable
	}
	p := b.instance()
	err := p.signal(s)
	for _, pid := range childrenOf(p.pid) {
		if e := syscall.Kill(pid, s); err == nil && !errors.Is(e, syscall.ESRCH) {
			err = e
		}
	}
	if err != nil {
		return fmt.Errorf("send %v to the server: %w", s, err)
	}
	return nil
}

// pidName is the file in a data directory that names the first process and its shared memory.
const pidName = "postmaster.pid"

// childrenOf returns the processes that another one has started and not waited for.
func childrenOf(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// Behind the name, which is in parentheses and may hold any: the state and the parent.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// clusterEnds is how long a server may take to end its processes when it is told to: it kills those
// itself that do not within 5 seconds.
const clusterEnds = 8 * time.Second

// killClusters ends the PostgreSQL servers whose data lies below path, and what is left of their
// shared memory.
func killClusters(path string) {
	data := filepath.Join(path, "data")
	left := segmentOf(data)
	defer left.remove()
	argument := []byte("\x00-D\x00" + data + "\x00")
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var pids []int
	for _, p := range procs {
		cmdline, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(cmdline, argument) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil && syscall.Kill(pid, syscall.SIGQUIT) == nil {
			_ = syscall.Kill(pid, syscall.SIGCONT)
			pids = append(pids, pid)
		}
	}
	for end := time.Now().Add(clusterEnds); len(pids) > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		pids = slices.DeleteFunc(pids, func(pid int) bool { return syscall.Kill(pid, 0) != nil })
	}
	for _, pid := range pids {
		for _, child := range childrenOf(pid) {
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
