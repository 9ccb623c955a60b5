//go:build !notidb

package embedded

import (
	"context"
	"fmt"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// prober tells which connections wait: those with a lock request under way for
// a key that another running transaction has locked. That the holder runs is
// part of it, because TiDB unlocks all but the first key of a transaction after
// COMMIT has returned, and nobody waits for a transaction that is over.
type prober struct {
	in   *instance
	wake chan struct{}
}

func (p *prober) Waiting(ctx context.Context, conns []uint64) ([]harness.Waiting, error) {
	var out []harness.Waiting
	seen := map[uint64]bool{}
	for _, l := range p.in.spy.of(conns) {
		if seen[l.conn] {
			continue
		}
		locks, err := p.in.spy.locks(ctx, l)
		if err != nil {
			return nil, err
		}
		for _, k := range l.keys {
			holder, locked := locks[string(k)]
			if !locked || holder == l.startTS {
				continue
			}
			id, runs := p.in.spy.owner(holder)
			if !runs || p.in.idle(id) {
				continue
			}
			seen[l.conn] = true
			out = append(out, harness.Waiting{
				Conn: l.conn, Kind: history.RowLock, Holders: []uint64{id},
				ID: fmt.Sprintf("%x@%d", k, holder), At: p.in.placeOf(k),
			})
			break
		}
	}
	return out, nil
}

func (p *prober) Wake() <-chan struct{} { return p.wake }

func (p *prober) Close() error {
	p.in.spy.mute(p.wake)
	return nil
}
