//go:build amd64

package server

import (
	"context"

	"github.com/txnfuzz/txnfuzz/harness"
)

// Holder implements harness.Holdable. A session of PostgreSQL is a process that the server has forked, so that its
// program lies where the server's own does; its pid is the connection's ID.
func (b *cluster) Holder(context.Context) (harness.Holder, error) {
	h, err := newHolder(b.in.binary, b.instance().pid)
	if err != nil {
		return nil, err
	}
	sleepers := newBackends()
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
