package server

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// stillness tells whether a process does anything at all. A Go program has no thread for
// each connection that could be watched; but while all of its threads sleep, none of its
// statements goes on.
//
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
// https://docs.kernel.org/scheduler/sched-stats.html
type stillness struct {
	pid  int
	open map[string]sleeper // by thread id
}

// sleeper holds the open files of one thread.
type sleeper struct{ stat, schedstat int }

func newStillness(pid int) *stillness {
	return &stillness{pid: pid, open: map[string]sleeper{}}
}

const (
	// stillPatience is how long a busy process is looked at: a thread of it that goes to
	// sleep may have to wait for a processor first.
	stillPatience = 1500 * time.Microsecond
	// stillPause is slept in the kernel: the timers of Go's runtime are as coarse as a
	// millisecond where all else of this process waits for the network.
	stillPause = 100 * time.Microsecond
)

// still says that there was a moment, in this call, at which no thread of the process ran
// or was about to.
func (s *stillness) still(ctx context.Context) bool {
	if s == nil || s.pid <= 0 {
		return false
	}
	var before string
	for end := time.Now().Add(stillPatience); ; {
		// Two equal sights of sleepers: each slept from its first look to its second,
		// and all of the first looks came before all of the second.
		now, asleep := s.sight()
		switch {
		case asleep && now == before:
			return true
		case asleep:
			before = now
		default:
			before = ""
			if time.Now().After(end) || ctx.Err() != nil {
				return false
			}
			nap := unix.NsecToTimespec(int64(stillPause))
			_ = unix.Nanosleep(&nap, nil) // it may end early
		}
	}
}

// sight returns how often each thread was given a processor, and whether all sleep.
func (s *stillness) sight() (runs string, asleep bool) {
	var out []byte
	asleep = s.eachThread(func(tid string, sleeps bool, runs []byte) bool {
		out = append(append(append(append(out, tid...), '='), runs...), ' ')
		return sleeps
	})
	return string(out), asleep
}

// eachThread calls f with every thread: whether it sleeps, and how often it was given a
// processor. It returns false where it cannot tell or f does.
func (s *stillness) eachThread(f func(tid string, sleeps bool, runs []byte) bool) bool {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", s.pid))
	if err != nil || len(tasks) == 0 || len(tasks) > maxThreads {
		return false
	}
	for _, t := range tasks {
		files, ok := s.files(t.Name())
		if !ok {
			return false
		}
		var buf [512]byte
		// The state first: a thread that ran in between is told by the counter.
		n, err := unix.Pread(files.stat, buf[:], 0)
		if err != nil {
			return false
		}
		sleeps := bytes.HasPrefix(buf[bytes.LastIndexByte(buf[:n], ')')+1:n], []byte(" S "))
		if n, err = unix.Pread(files.schedstat, buf[:], 0); err != nil {
			return false
		}
		fields := bytes.Fields(buf[:n]) // time on a processor, time in its queue, times given one
		if len(fields) != 3 || !f(t.Name(), sleeps, fields[2]) {
			return false
		}
	}
	return true
}

// awake returns how often each thread that does not sleep was given a processor; nil
// where that cannot be seen.
func (s *stillness) awake() map[string]string {
	if s == nil || s.pid <= 0 {
		return nil
	}
	out := map[string]string{}
	if !s.eachThread(func(tid string, sleeps bool, runs []byte) bool {
		if !sleeps {
			out[tid] = string(runs)
		}
		return true
	}) {
		return nil
	}
	return out
}

// stuck drops from threads that were awake those that sleep by now or were given a
// processor since, and returns how many are left.
func (s *stillness) stuck(threads map[string]string) int {
	now := s.awake()
	if now == nil {
		return 1
	}
	for tid, runs := range threads {
		if now[tid] != runs {
			delete(threads, tid)
		}
	}
	return len(threads)
}

func (s *stillness) files(tid string) (sleeper, bool) {
	if f, ok := s.open[tid]; ok {
		return f, true
	}
	file := func(name string) int {
		fd, err := unix.Open("/proc/"+strconv.Itoa(s.pid)+"/task/"+tid+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1
		}
		return fd
	}
	f := sleeper{stat: file("stat"), schedstat: file("schedstat")}
	if f.stat < 0 || f.schedstat < 0 {
		_, _ = unix.Close(f.stat), unix.Close(f.schedstat)
		return sleeper{}, false
	}
	s.open[tid] = f
	return f, true
}

func (s *stillness) close() {
	if s == nil {
		return
	}
	for _, f := range s.open {
		_, _ = unix.Close(f.stat), unix.Close(f.schedstat)
	}
	clear(s.open)
}
