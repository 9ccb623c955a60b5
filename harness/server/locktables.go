package server

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// lockTableProber asks MySQL's performance schema. The column
// requesting_thread_id is of no use: when a lock is moved it turns into the
// thread that moved it, often the blocker. The transaction's id stays, and the
// thread of a transaction is that of its table locks, which only the
// transaction itself ever takes: it has an intention lock on a table before it
// can wait for a record of it.
type lockTableProber struct {
	side side
	*purgeHold
	// threads holds the connection of read-write transactions. Ids of read-only
	// transactions are addresses and come again; these never do.
	threads map[uint64]uint64
}

// firstReadOnly is the least id that InnoDB shows for a transaction that has
// not written: the address of its object with this bit set.
const firstReadOnly = 1 << 48

func (p *lockTableProber) Wake() <-chan struct{} { return nil }

func (p *lockTableProber) Close() error {
	_ = p.purgeHold.side.Close()
	return p.side.Close()
}

const edgesQuery = "SELECT REQUESTING_ENGINE_TRANSACTION_ID, BLOCKING_ENGINE_TRANSACTION_ID, REQUESTING_ENGINE_LOCK_ID FROM performance_schema.data_lock_waits"

// edge is one row of data_lock_waits.
type edge struct {
	requester, blocker uint64
	lock               string
}

func (p *lockTableProber) Waiting(ctx context.Context, conns []uint64) ([]harness.Waiting, error) {
	var edges []edge
	var bad error
	err := p.side.each(ctx, edgesQuery, func(row []driver.Value) {
		requester, err := number(row[0])
		blocker, err2 := number(row[1])
		if err != nil || err2 != nil {
			bad = fmt.Errorf("unexpected row %v %v", row[0], row[1])
			return
		}
		lock, _ := row[2].([]byte)
		edges = append(edges, edge{requester, blocker, string(lock)})
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, fmt.Errorf("ask for lock waits: %w", err)
	}
	var waiting []harness.Waiting
	if len(edges) > 0 {
		if waiting, err = p.rowLocks(ctx, conns, edges); err != nil {
			return nil, err
		}
	}
	if len(waiting) == len(conns) {
		return waiting, nil
	}
	var rest []uint64
	for _, c := range conns {
		if !waitsAmong(waiting, c) {
			rest = append(rest, c)
		}
	}
	suspects, err := inMetadataState(ctx, &p.side, rest)
	if err != nil {
		return nil, err
	}
	return confirmMetadata(ctx, &p.side, suspects, waiting)
}

func waitsAmong(waiting []harness.Waiting, c uint64) bool {
	for _, w := range waiting {
		if w.Conn == c {
			return true
		}
	}
	return false
}

// rowLocks turns the rows of data_lock_waits into waits of conns.
func (p *lockTableProber) rowLocks(ctx context.Context, conns []uint64, edges []edge) ([]harness.Waiting, error) {
	connOf, err := p.connections(ctx, edges)
	if err != nil {
		return nil, err
	}
	var waiting []harness.Waiting
	for i, e := range edges {
		c, ok := connOf(e.requester)
		if !ok || !contains(conns, c) || seenBefore(edges[:i], e.requester) {
			continue
		}
		w := harness.Waiting{Conn: c, Kind: history.RowLock, ID: e.lock}
		for _, f := range edges[i:] {
			if f.requester != e.requester {
				continue
			}
			if h, ok := connOf(f.blocker); ok && !contains(w.Holders, h) {
				w.Holders = append(w.Holders, h)
			}
		}
		waiting = append(waiting, w)
	}
	return waiting, nil
}

func seenBefore(edges []edge, requester uint64) bool {
	for _, e := range edges {
		if e.requester == requester {
			return true
		}
	}
	return false
}

// connections returns a function from transaction ids to connection ids for
// the transactions of edges. Transactions that ended meanwhile are not known.
func (p *lockTableProber) connections(ctx context.Context, edges []edge) (func(uint64) (uint64, bool), error) {
	if len(p.threads) > 10000 {
		clear(p.threads)
	}
	var ask []string
	wanted := map[uint64]bool{}
	for _, e := range edges {
		for _, t := range [2]uint64{e.requester, e.blocker} {
			if _, known := p.threads[t]; !known && !wanted[t] {
				wanted[t] = true
				ask = append(ask, strconv.FormatUint(t, 10))
			}
		}
	}
	fleeting := map[uint64]uint64{}
	if len(ask) > 0 {
		q := "SELECT l.ENGINE_TRANSACTION_ID, t.PROCESSLIST_ID FROM performance_schema.data_locks l" +
			" JOIN performance_schema.threads t ON t.THREAD_ID = l.THREAD_ID" +
			" WHERE l.LOCK_TYPE = 'TABLE' AND l.ENGINE_TRANSACTION_ID IN (" + strings.Join(ask, ",") + ")"
		var bad error
		err := p.side.each(ctx, q, func(row []driver.Value) {
			txn, err := number(row[0])
			conn, err2 := number(row[1])
			if err != nil || err2 != nil {
				bad = fmt.Errorf("unexpected row %v %v", row[0], row[1])
				return
			}
			if txn < firstReadOnly {
				p.threads[txn] = conn
			} else {
				fleeting[txn] = conn
			}
		})
		if err == nil {
			err = bad
		}
		if err != nil {
			return nil, fmt.Errorf("ask for the connections of transactions: %w", err)
		}
	}
	return func(txn uint64) (uint64, bool) {
		if c, ok := p.threads[txn]; ok {
			return c, true
		}
		c, ok := fleeting[txn]
		return c, ok
	}, nil
}

// number reads an integer as the driver returns it.
func number(v driver.Value) (uint64, error) {
	switch v := v.(type) {
	case []byte:
		return strconv.ParseUint(string(v), 10, 64)
	case int64:
		return uint64(v), nil
	case uint64:
		return v, nil
	default:
		return 0, fmt.Errorf("not a number: %v", v)
	}
}
