//go:build amd64

package server

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/txnfuzz/txnfuzz/harness"
)

// Holder implements harness.Holdable. A session of PostgreSQL is a process that the server has forked, so that its
// program lies where the server's own does; its pid is the connection's ID.
func (b *cluster) Holder(context.Context) (harness.Holder, error) {
	h, err := newHolder(b.in.binary, b.instance().pid)
	if err != nil {
		return nil, err
	}
	sleepers := &backends{open: map[uint64]sleeper{}}
	h.threadOf = func(_ context.Context, conn uint64) (int, error) { return int(conn), nil }
	h.done = sleepers.close
	return &clusterHolder{h, sleepers}, nil
}

// clusterHolder also sees who sleeps, which the server must not be asked while it is held.
type clusterHolder struct {
	*holder
	*backends
}

// Close implements harness.Holder.
func (h *clusterHolder) Close() error { return h.holder.Close() }

var _ harness.Watcher = (*clusterHolder)(nil)

// backends watches the processes of sessions through /proc. Whatever one of them waits for (a lock, a lightweight lock,
// another one's spinlock), it sleeps then; one that was sent a statement is awake, since its socket has woken it.
type backends struct {
	open map[uint64]sleeper // by pid
}

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
	return f.sight()
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
