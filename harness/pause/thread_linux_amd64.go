package pause

import "golang.org/x/sys/unix"

// thread is a tracee; only the tracer's own thread touches it.
type thread struct {
	tid     int
	held    bool
	want    []func(error) // called at the next stop that was asked for
	pending int           // signal to deliver when it goes on

	armed bool
	hit   chan struct{} // closed at the last of left executions
	left  int
	steps *steps
}

// steps is what a thread executes one by one.
type steps struct {
	from, to uint64
	max      int
	addrs    []uint64
}

// event handles the stop or the end of a tracee.
func (t *Tracer) event(tid int, ws unix.WaitStatus) {
	th := t.threads[tid]
	if th == nil {
		return
	}
	if ws.Exited() || ws.Signaled() {
		th.letGo()
		for _, f := range th.want {
			f(unix.ESRCH)
		}
		delete(t.threads, tid)
		return
	}
	signal, event := ws.StopSignal(), int(ws)>>16
	switch {
	case event == eventStop && signal == unix.SIGTRAP: // PTRACE_INTERRUPT
		want := th.want
		th.want = nil
		for _, f := range want {
			f(nil)
		}
		if t.threads[tid] == nil || want != nil && th.held {
			return
		}
	case event == eventStop: // a group stop: it stays, and hears SIGCONT
		_ = ptrace(unix.PTRACE_LISTEN, tid, 0, 0)
		return
	case event != 0:
	case signal == unix.SIGTRAP:
		if th.trapped() {
			// An interruption that was asked for meanwhile never shows while it is held.
			want := th.want
			th.want = nil
			for _, f := range want {
				f(nil)
			}
			return
		}
	default:
		th.pending = int(signal)
	}
	t.resume(th)
}

func (t *Tracer) resume(th *thread) {
	if th.held || t.threads[th.tid] == nil {
		return
	}
	how := unix.PTRACE_CONT
	if th.steps != nil {
		how = unix.PTRACE_SINGLESTEP
	}
	signal := th.pending
	th.pending = 0
	_ = ptrace(how, th.tid, 0, uintptr(signal))
}

// trapped handles a trap and says that the thread is held by it.
func (th *thread) trapped() (held bool) {
	if th.armed && trapOf(th.tid) == trapHardware {
		// The kernel has set the resume flag: the instruction runs when the thread goes on.
		if th.left--; th.left > 0 {
			return false
		}
		th.disarm()
		th.letGo()
		th.held = true
		return true
	}
	if s := th.steps; s != nil {
		if at := uint64(peekUser(th.tid, offRIP)); at >= s.from && at < s.to {
			s.addrs = append(s.addrs, at)
		}
		if len(s.addrs) >= s.max {
			th.steps = nil
		}
	}
	return false
}

func (th *thread) arm(addr uint64) {
	th.armed = true
	_ = pokeUser(th.tid, offDR0, uintptr(addr))
	_ = pokeUser(th.tid, offDR7, 1) // local, one byte, on execution
}

func (th *thread) disarm() {
	if th.armed {
		th.armed = false
		_ = pokeUser(th.tid, offDR7, 0)
	}
}

// letGo tells whoever waits for the thread to be held that it will not be, or is.
func (th *thread) letGo() {
	if th.hit != nil {
		close(th.hit)
		th.hit = nil
	}
}
