package pause

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrForbidden says that the kernel lets nobody be traced here.
var ErrForbidden = errors.New("this system does not allow a process to be traced (ptrace)")

// Tracer supervises threads. It is safe for several goroutines; what is done about one thread must
// come from one at a time.
//
// The kernel takes the requests of a tracer only from the thread that seized. So one goroutine,
// locked to its thread, makes them all, and others hand functions to it. A blocking wait cannot be
// woken for that (Go installs its handlers with SA_RESTART), and to wait through os/signal costs
// three times as much a stop: therefore the tracer has a tracee of its own, the bell, a process that
// sleeps. A signal to it makes it stop, the wait returns, and the functions are looked at.
type Tracer struct {
	mu       sync.Mutex
	requests []func()
	bell     int
	closed   bool

	threads map[int]*thread // of the locked goroutine
}

const (
	waitOwn   = 0x20000000 // __WNOTHREAD: not the children of other threads, which os/exec waits for
	waitAll   = 0x40000000 // __WALL
	eventStop = 128        // PTRACE_EVENT_STOP
)

// New starts a Tracer. It returns ErrForbidden where the kernel refuses.
func New() (*Tracer, error) {
	t := &Tracer{threads: map[int]*thread{}}
	ready := make(chan error)
	go t.begin(ready)
	if err := <-ready; err != nil {
		return nil, err
	}
	return t, nil
}

// begin serves on a thread that is fit for it, and keeps those that are not from being offered again until there is one.
func (t *Tracer) begin(ready chan<- error) {
	fit := make(chan struct{})
	var search func()
	search = func() {
		runtime.LockOSThread() // never unlocked where it serves: with the thread its tracees end
		if unix.Gettid() != unix.Getpid() && !hasChildren() {
			close(fit)
			t.serve(ready)
			return
		}
		go search()
		<-fit
		runtime.UnlockOSThread()
	}
	search()
}

// hasChildren says that this thread has started processes that nobody has waited for yet: the tracer's wait would take
// their ends from those who do. The first thread of the process is unfit, too: Go never ends it, so what it has seized
// could be neither let go nor reaped, and it inherits the children of threads that end.
func hasChildren() bool {
	const all = 0 // P_ALL
	var info unix.Siginfo
	return unix.Waitid(all, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|waitAll|waitOwn, nil) == nil // else ECHILD
}

func (t *Tracer) serve(ready chan<- error) {
	bell := exec.Command("/bin/sleep", "infinity")
	bell.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL, Setsid: true}
	if err := bell.Start(); err != nil {
		ready <- fmt.Errorf("start a tracer: %w", err)
		return
	}
	t.bell = bell.Process.Pid
	if err := ptrace(unix.PTRACE_SEIZE, t.bell, 0, unix.PTRACE_O_EXITKILL); err != nil {
		_ = bell.Process.Kill()
		_ = bell.Wait()
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
			err = ErrForbidden
		}
		ready <- err
		return
	}
	ready <- nil
	for {
		var ws unix.WaitStatus
		tid, err := unix.Wait4(-1, &ws, waitAll|waitOwn, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return // no tracee is left, not even the bell
		case tid != t.bell:
			t.event(tid, ws)
		case ws.Exited() || ws.Signaled():
			return
		default:
			_ = ptrace(unix.PTRACE_CONT, tid, 0, 0) // without the signal
			t.mu.Lock()
			requests := t.requests
			t.requests = nil
			t.mu.Unlock()
			for _, f := range requests {
				f()
			}
		}
	}
}

// do runs f on the tracer's thread.
func (t *Tracer) do(f func()) error {
	done := make(chan struct{})
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return errors.New("the tracer is closed")
	}
	t.requests = append(t.requests, func() { f(); close(done) })
	t.mu.Unlock()
	if err := unix.Kill(t.bell, unix.SIGUSR1); err != nil {
		return fmt.Errorf("ring the tracer's bell: %w", err)
	}
	<-done
	return nil
}

// Close ends the Tracer. What is still seized ends with it, unless the kernel has done so already.
func (t *Tracer) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		_ = unix.Kill(t.bell, unix.SIGKILL)
	}
}

// Attach seizes a thread, which goes on at once. The process of a seized thread ends with this
// process. To seize a thread twice changes nothing.
func (t *Tracer) Attach(tid int) error {
	var err error
	if e := t.do(func() {
		if t.threads[tid] != nil {
			return
		}
		if err = ptrace(unix.PTRACE_SEIZE, tid, 0, unix.PTRACE_O_EXITKILL); err == nil {
			t.threads[tid] = &thread{tid: tid}
		}
	}); e != nil {
		return e
	}
	if errors.Is(err, unix.EPERM) {
		err = ErrForbidden // of another user, as a PostgreSQL is that root has started
		if by := tracerOf(tid); by != "0" {
			err = fmt.Errorf("thread %s traces it already", by)
		}
	}
	if err != nil {
		return fmt.Errorf("trace thread %d: %w", tid, err)
	}
	return nil
}

// tracerOf is the thread that traces one, as the kernel has it; 0 for none.
// https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
func tracerOf(tid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return "0"
	}
	_, by, _ := strings.Cut(string(text), "\nTracerPid:\t")
	by, _, _ = strings.Cut(by, "\n")
	return by
}

// Detach lets a thread go for good.
func (t *Tracer) Detach(tid int) error {
	return t.whileStopped(tid, func(th *thread) {
		th.disarm()
		th.letGo()
		th.held = true // it is not resumed: detaching does that
		_ = ptrace(unix.PTRACE_DETACH, tid, 0, uintptr(th.pending))
		delete(t.threads, tid)
	})
}

// Arm has a thread held when it executes the instruction at addr for the n-th time from now. The
// channel is closed then, and also when the thread ends. There is one such place at a time.
// A hit costs about 40 µs.
func (t *Tracer) Arm(tid int, addr uint64, n int) (<-chan struct{}, error) {
	hit := make(chan struct{})
	err := t.whileStopped(tid, func(th *thread) {
		th.letGo()
		th.hit, th.left = hit, n
		th.arm(addr)
	})
	return hit, err
}

// Release lets a held thread go on, disarms one that did not come by, and ends what Record began.
func (t *Tracer) Release(tid int) error {
	return t.whileStopped(tid, func(th *thread) {
		th.disarm()
		th.letGo()
		th.steps = nil
		if th.held {
			th.held = false
			t.resume(th)
		}
	})
}

// Held says that a thread stands at the place that was armed.
func (t *Tracer) Held(tid int) bool {
	held := false
	err := t.do(func() {
		th := t.threads[tid]
		held = th != nil && th.held
	})
	return held && err == nil
}

// Record runs a thread by single steps from now on and notes the addresses in [from, to) that it
// executes, at most max of them; then it goes on at its own speed. A step takes about 30 µs. The
// returned function ends the recording and returns what was noted.
func (t *Tracer) Record(tid int, from, to uint64, max int) (end func() ([]uint64, error), err error) {
	s := &steps{from: from, to: to, max: max}
	err = t.whileStopped(tid, func(th *thread) { th.steps = s })
	return func() ([]uint64, error) {
		err := t.whileStopped(tid, func(th *thread) { th.steps = nil })
		return s.addrs, err
	}, err
}

// whileStopped runs f on the tracer's thread while a tracee stands still.
//
// The registers of a thread that was interrupted in a system call must not be changed: the call
// restarts by itself, and only epoll_wait and io_getevents return EINTR, which the servers bear.
func (t *Tracer) whileStopped(tid int, f func(*thread)) error {
	done := make(chan error, 1)
	if err := t.do(func() {
		th := t.threads[tid]
		if th == nil {
			done <- unix.ESRCH
			return
		}
		if th.held {
			f(th)
			done <- nil
			return
		}
		th.want = append(th.want, func(err error) {
			if err == nil {
				f(th)
			}
			done <- err
		})
		if err := ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0); err != nil {
			th.want = th.want[:len(th.want)-1]
			done <- err
		}
	}); err != nil {
		return err
	}
	if err := <-done; err != nil {
		return fmt.Errorf("stop thread %d: %w", tid, err)
	}
	return nil
}
