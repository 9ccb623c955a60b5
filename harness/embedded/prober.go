//go:build !notidb

package embedded

import (
	"context"
	"fmt"
	"time"

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
	// leaving holds since when a connection is gone whose locks are still there.
	leaving map[uint64]time.Time
}

// unlocksLate is how long a session that is gone may keep its locks. What is there then stays until
// the store takes the transaction for dead, and what waits for it is to be judged.
const unlocksLate = time.Second

// Dropped reports whether a session has left the list of connections, and its locks are gone: TiDB
// takes it off that list first and rolls back its transaction then.
func (p *prober) Dropped(ctx context.Context, conn uint64) (bool, error) {
	if _, listed := p.in.srv.GetProcessInfo(conn); listed {
		return false, nil
	}
	held, err := p.in.spy.holds(ctx, conn)
	if err != nil {
		return false, err
	}
	if !held {
		p.in.spy.forget(conn)
		delete(p.leaving, conn)
		return true, nil
	}
	since, again := p.leaving[conn]
	if !again {
		p.leaving[conn] = time.Now()
	}
	return again && time.Since(since) >= unlocksLate, nil
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
