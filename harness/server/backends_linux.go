package server

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/txnfuzz/txnfuzz/harness"
)

// backends watches the processes of sessions through /proc. Whatever one of them waits for (a lock, a lightweight
// lock, another one's spinlock, its client), it sleeps then; one that was sent a statement is awake, since its socket
// has woken it.
type backends struct {
	open map[uint64]sleeper // by pid
}

func newBackends() *backends { return &backends{open: map[uint64]sleeper{}} }

// Watch implements harness.Watcher. A process that sleeps and wakes over and over, as at a spinlock, is seen to run.
func (b *backends) Watch(conn uint64) harness.Sight {
	f, ok := b.open[conn]
	if !ok {
		if len(b.open) >= maxThreads {
			_ = b.close()
		}
		f = sleeper{stat: openOf(conn, "stat"), schedstat: openOf(conn, "schedstat")}
		b.open[conn] = f
	}
	s := f.sight()
	if !s.Seen { // it is gone, and another one may get its pid
		_, _ = unix.Close(f.stat), unix.Close(f.schedstat)
		delete(b.open, conn)
	}
	return s
}

// openOf opens a file that tells of a process; -1 where there is none.
func openOf(pid uint64, name string) int {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/%s", pid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

func (b *backends) close() error {
	for _, f := range b.open {
		_, _ = unix.Close(f.stat), unix.Close(f.schedstat)
	}
	clear(b.open)
	return nil
}
