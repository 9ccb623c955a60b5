package server

import (
	"bytes"
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/txnfuzz/txnfuzz/harness"
)

// threads watches the threads of a server on this machine through /proc: three
// reads of 1 to 3 µs against a question of 60 to 400. It is used where the
// server is ours; for another one its process would have to be found, and
// reading its system calls needs the right to trace it.
//
// https://man7.org/linux/man-pages/man5/proc_pid_syscall.5.html
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
// https://docs.kernel.org/scheduler/sched-stats.html
type threads struct {
	pid int
	// query returns connection and thread ids as the kernel knows them; %s is a
	// list of connection ids.
	query string
	seen  map[uint64]*thread
}

// thread holds open files, -1 where there is none.
type thread struct{ syscall, stat, schedstat int }

// maxThreads bounds the open files.
const maxThreads = 128

// threadQueries tell the kernel's ids of threads. MariaDB's performance schema
// would know them, too, but is off.
var threadQueries = map[method]string{
	status:     "SELECT ID, TID FROM information_schema.PROCESSLIST WHERE ID IN (%s)",
	lockTables: "SELECT PROCESSLIST_ID, THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID IN (%s)",
}

func newThreads(pid int, m method) *threads {
	return &threads{pid: pid, query: threadQueries[m], seen: map[uint64]*thread{}}
}

// learn finds the threads of connections not yet known.
func (t *threads) learn(ctx context.Context, s *side, conns []uint64) error {
	if t == nil || t.pid <= 0 {
		return nil
	}
	var ask []string
	for _, c := range conns {
		if t.seen[c] == nil {
			ask = append(ask, strconv.FormatUint(c, 10))
		}
	}
	if len(ask) == 0 {
		return nil
	}
	if len(t.seen)+len(ask) > maxThreads {
		t.close()
		return t.learn(ctx, s, conns)
	}
	err := s.each(ctx, fmt.Sprintf(t.query, strings.Join(ask, ",")), func(row []driver.Value) {
		conn, err := number(row[0])
		tid, err2 := number(row[1])
		if err == nil && err2 == nil && tid > 0 {
			t.seen[conn] = t.open(tid)
		}
	})
	if err != nil {
		return fmt.Errorf("ask for the threads of connections: %w", err)
	}
	return nil
}

func (t *threads) open(tid uint64) *thread {
	file := func(name string) int {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/%s", t.pid, tid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1
		}
		return fd
	}
	return &thread{syscall: file("syscall"), stat: file("stat"), schedstat: file("schedstat")}
}

// futex is how the file syscall starts for a thread that waits on a condition
// variable, as all lock waits of these servers do.
var futex = []byte(strconv.Itoa(unix.SYS_FUTEX) + " ")

// Watch implements harness.Watcher.
func (t *threads) Watch(conn uint64) harness.Sight {
	if t == nil {
		return harness.Sight{}
	}
	th := t.seen[conn]
	if th == nil {
		return harness.Sight{}
	}
	var buf [512]byte
	n, err := unix.Pread(th.syscall, buf[:], 0)
	if err != nil {
		return harness.Sight{}
	}
	if !bytes.HasPrefix(buf[:n], futex) {
		return harness.Sight{Seen: true}
	}
	// The file syscall takes a thread that was woken and has yet to be given a
	// processor for one that sleeps; its state does not.
	return sleeper{stat: th.stat, schedstat: th.schedstat}.sight()
}

// sight reads the state first: what ran in between is told by the counter.
func (s sleeper) sight() harness.Sight {
	var buf [512]byte
	n, err := unix.Pread(s.stat, buf[:], 0)
	if err != nil {
		return harness.Sight{}
	}
	asleep := bytes.HasPrefix(buf[bytes.LastIndexByte(buf[:n], ')')+1:n], []byte(" S "))
	if n, err = unix.Pread(s.schedstat, buf[:], 0); err != nil {
		return harness.Sight{}
	}
	fields := bytes.Fields(buf[:n]) // time on a processor, time in its queue, times given one
	if len(fields) != 3 {
		return harness.Sight{}
	}
	runs, err := strconv.ParseUint(string(fields[2]), 10, 64)
	if err != nil {
		return harness.Sight{}
	}
	return harness.Sight{Runs: runs, Asleep: asleep, Seen: true}
}

func (t *threads) close() {
	if t == nil {
		return
	}
	for _, th := range t.seen {
		_, _, _ = unix.Close(th.syscall), unix.Close(th.stat), unix.Close(th.schedstat)
	}
	clear(t.seen)
}
