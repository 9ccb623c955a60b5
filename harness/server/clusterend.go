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
		children := childrenOf(p.pid)
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = allEnd(children)
	}
	return p.kill()
}

// Recover implements harness.Crasher.
func (b *cluster) Recover(ctx context.Context) error {
	if !b.durable {
		return errNotDurable
	}
	left := func(f *folder) []string {
		socket := b.socketFile(f.path)
		return []string{socket, socket + ".lock", filepath.Join(b.data(f), pidName)}
	}
	return b.recovered(ctx, left, func(f *folder) (*process, error) {
		p, _, err := b.launch(ctx, f)
		return p, err
	})
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
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		if _, of, ok := look(pid); ok && of == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// look returns the state of a process and its parent.
func look(pid int) (state string, parent int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, false
	}
	// The name before them is in parentheses, and may hold any.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 2 {
		return "", 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return fields[0], parent, err == nil
}

// allEnd waits until processes have ended, be it that nobody has waited for them, and returns those
// that have not in time.
func allEnd(pids []int) (left []int) {
	left = slices.Clone(pids)
	for end := time.Now().Add(clusterEnds); ; time.Sleep(time.Millisecond) {
		left = slices.DeleteFunc(left, func(pid int) bool {
			state, _, ok := look(pid)
			return !ok || state == "Z" || state == "X"
		})
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
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
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p)))
		if err != nil {
			continue
		}
		// What is left of a watchdog has the same arguments; it would signal a pid that may be another's by then.
		if program, _, _ := bytes.Cut(cmdline, []byte{0}); filepath.Base(string(program)) == "sh" {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		} else if syscall.Kill(pid, syscall.SIGQUIT) == nil {
			_ = syscall.Kill(pid, syscall.SIGCONT)
			pids = append(pids, pid)
		}
	}
	for _, pid := range allEnd(pids) {
		for _, child := range childrenOf(pid) {
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
