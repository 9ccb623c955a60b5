package server

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
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
	*threads
	// connOf holds the connection of read-write transactions. Ids of read-only
	// transactions are addresses and come again; these never do.
	connOf map[uint64]uint64
	// connOfThread holds the connection of each thread of the performance
	// schema, whose ids never come again either.
	connOfThread map[uint64]uint64
	// places holds the records of the locks that were waited for in this case.
	places map[string]*history.Place
}

// firstReadOnly is the least id that InnoDB shows for a transaction that has
// not written: the address of its object with this bit set.
const firstReadOnly = 1 << 48

func (p *lockTableProber) Wake() <-chan struct{} { return nil }

func (p *lockTableProber) Close() error {
	p.threads.close()
	_ = p.purgeHold.side.Close()
	return p.side.Close()
}

// BeginCase finds the threads of the case's sessions, and holds purge.
func (p *lockTableProber) BeginCase(ctx context.Context, key uint64, conns []uint64) error {
	clear(p.places)
	if err := p.learn(ctx, &p.side, conns); err != nil {
		return err
	}
	return p.purgeHold.BeginCase(ctx, key, conns)
}

const edgesQuery = "SELECT REQUESTING_ENGINE_TRANSACTION_ID, BLOCKING_ENGINE_TRANSACTION_ID, REQUESTING_ENGINE_LOCK_ID FROM performance_schema.data_lock_waits"

// edge is one row of data_lock_waits.
type edge struct {
	requester, blocker uint64
	lock               string
}

// Waiting asks for the waits and, where there are any, for the connections of
// their transactions. With one connection there can be no cycle of waits to be
// found, so that its holders are left out and one query does.
func (p *lockTableProber) Waiting(ctx context.Context, conns []uint64) ([]harness.Waiting, error) {
	waiting, err := p.waitingAtRowLocks(ctx, conns)
	if err != nil {
		return nil, err
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
	return confirmMetadata(ctx, &p.side, p.threads, suspects, waiting)
}

func (p *lockTableProber) waitingAtRowLocks(ctx context.Context, conns []uint64) ([]harness.Waiting, error) {
	if len(conns) == 1 {
		return p.single(ctx, conns[0])
	}
	edges, err := p.edges(ctx)
	if err != nil || len(edges) == 0 {
		return nil, err
	}
	return p.rowLocks(ctx, conns, edges)
}

// edges asks who waits for whom.
func (p *lockTableProber) edges(ctx context.Context) ([]edge, error) {
	var edges []edge
	var bad error
	err := p.side.eachPrepared(ctx, edgesQuery, func(row []driver.Value) {
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
	return edges, nil
}

// locksQuery tells the locks waited for, and the threads of all transactions. To
// choose among the rows by transaction, or to join the threads to them, takes the
// server longer than to return all: 0.4 ms against 0.15.
const locksQuery = "SELECT ENGINE_TRANSACTION_ID, THREAD_ID, LOCK_STATUS, ENGINE_LOCK_ID, LOCK_TYPE, OBJECT_NAME, INDEX_NAME, LOCK_MODE, LOCK_DATA FROM performance_schema.data_locks WHERE LOCK_STATUS = 'WAITING' OR LOCK_TYPE = 'TABLE'"

// request is a lock that a transaction waits for.
type request struct {
	txn  uint64
	lock string
}

// locks asks for the locks waited for and the thread of each transaction that has
// locked a table, and notes where in an index the former are.
func (p *lockTableProber) locks(ctx context.Context) (waits []request, owner map[uint64]uint64, _ error) {
	owner = map[uint64]uint64{}
	var bad error
	err := p.side.eachPrepared(ctx, locksQuery, func(row []driver.Value) {
		txn, err := number(row[0])
		thread, err2 := number(row[1])
		status, ok := row[2].([]byte)
		lock, ok2 := row[3].([]byte)
		kind, ok3 := row[4].([]byte)
		if err != nil || err2 != nil || !ok || !ok2 || !ok3 {
			bad = fmt.Errorf("unexpected row %v", row)
			return
		}
		if string(kind) == "TABLE" {
			owner[txn] = thread
		}
		if string(status) != "WAITING" {
			return
		}
		waits = append(waits, request{txn, string(lock)})
		switch at := p.places[string(lock)]; {
		case string(kind) == "TABLE":
			p.places[string(lock)] = nil
		case at == nil || len(at.Fields) == 0:
			p.places[string(lock)] = placeOf(row[5], row[6], row[7], row[8])
		}
	})
	return waits, owner, errors.Join(err, bad)
}

// placeOf reads OBJECT_NAME, INDEX_NAME, LOCK_MODE and LOCK_DATA of data_locks.
// https://dev.mysql.com/doc/refman/en/performance-schema-data-locks-table.html
func placeOf(table, index, mode, data driver.Value) *history.Place {
	text := func(v driver.Value) string { b, _ := v.([]byte); return string(b) }
	at := &history.Place{Table: text(table), Index: text(index), Mode: text(mode), Kind: history.RecordLock}
	switch d := text(data); {
	case d == "supremum pseudo-record":
		at.Kind = history.Supremum
	case strings.Contains(at.Mode, "INSERT_INTENTION"):
		at.Kind, at.Fields = history.InsertIntention, fieldsOf(d)
	case strings.Contains(at.Mode, "GAP") && !strings.Contains(at.Mode, "REC_NOT_GAP"):
		at.Kind, at.Fields = history.GapLock, fieldsOf(d)
	default:
		at.Fields = fieldsOf(d)
	}
	return at
}

// fieldsOf cuts LOCK_DATA at its commas; in quoted text, quotes are doubled.
func fieldsOf(data string) []string {
	var out []string
	for data != "" {
		end, quoted := 0, false
		for end < len(data) && (quoted || data[end] != ',') {
			quoted = quoted != (data[end] == '\'')
			end++
		}
		out = append(out, strings.TrimSpace(data[:end]))
		data = data[min(end+1, len(data)):]
	}
	return out
}

// single asks whether one connection waits for a row lock.
func (p *lockTableProber) single(ctx context.Context, conn uint64) ([]harness.Waiting, error) {
	waits, owner, err := p.locks(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask for lock waits: %w", err)
	}
	if len(waits) == 0 {
		return nil, nil
	}
	fleeting := map[uint64]uint64{}
	if err := p.learnOwners(ctx, owner, fleeting); err != nil {
		return nil, fmt.Errorf("ask for the connections of transactions: %w", err)
	}
	for _, w := range waits {
		c, ok := fleeting[w.txn]
		if w.txn < firstReadOnly {
			c, ok = p.connOf[w.txn]
		}
		if ok && c == conn {
			return []harness.Waiting{{Conn: conn, Kind: history.RowLock, ID: w.lock, At: p.places[w.lock]}}, nil
		}
	}
	return nil, nil
}

func waitsAmong(waiting []harness.Waiting, c uint64) bool {
	for _, w := range waiting {
		if w.Conn == c {
			return true
		}
	}
	return false
}

// Blockers implements harness.Blockers.
func (p *lockTableProber) Blockers(ctx context.Context, conns []uint64) (map[uint64][]uint64, error) {
	edges, err := p.edges(ctx)
	if err != nil {
		return nil, err
	}
	waiting, err := p.rowLocks(ctx, conns, edges)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64][]uint64, len(waiting))
	for _, w := range waiting {
		out[w.Conn] = w.Holders
	}
	return out, nil
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
		w := harness.Waiting{Conn: c, Kind: history.RowLock, ID: e.lock, At: p.places[e.lock]}
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
// the transactions of edges. Transactions that ended meanwhile are not known. It
// asks where somebody or some lock's place is not known yet.
func (p *lockTableProber) connections(ctx context.Context, edges []edge) (func(uint64) (uint64, bool), error) {
	unknown := false
	for _, e := range edges {
		for _, t := range [2]uint64{e.requester, e.blocker} {
			_, known := p.connOf[t]
			unknown = unknown || !known
		}
		if _, known := p.places[e.lock]; !known {
			unknown = true
		}
	}
	fleeting := map[uint64]uint64{}
	if unknown {
		if err := p.askOwners(ctx, fleeting); err != nil {
			return nil, fmt.Errorf("ask for the connections of transactions: %w", err)
		}
	}
	return func(txn uint64) (uint64, bool) {
		if c, ok := p.connOf[txn]; ok {
			return c, true
		}
		c, ok := fleeting[txn]
		return c, ok
	}, nil
}

// askOwners learns the connection of every transaction that has locked a table.
func (p *lockTableProber) askOwners(ctx context.Context, fleeting map[uint64]uint64) error {
	_, owner, err := p.locks(ctx)
	if err != nil {
		return err
	}
	return p.learnOwners(ctx, owner, fleeting)
}

// learnOwners turns the threads of transactions into connections.
func (p *lockTableProber) learnOwners(ctx context.Context, owner, fleeting map[uint64]uint64) error {
	if len(p.connOfThread) > 10000 {
		clear(p.connOfThread)
	}
	if len(p.connOf) > 10000 {
		clear(p.connOf)
	}
	var bad error
	var ask []string
	for _, thread := range owner {
		if _, known := p.connOfThread[thread]; !known {
			ask = append(ask, strconv.FormatUint(thread, 10))
		}
	}
	if len(ask) > 0 {
		slices.Sort(ask)
		err := p.side.each(ctx, "SELECT THREAD_ID, PROCESSLIST_ID FROM performance_schema.threads WHERE THREAD_ID IN ("+strings.Join(ask, ",")+")", func(row []driver.Value) {
			if row[1] == nil {
				return // a thread of the server's own
			}
			thread, err := number(row[0])
			conn, err2 := number(row[1])
			if err != nil || err2 != nil {
				bad = fmt.Errorf("unexpected row %v %v", row[0], row[1])
				return
			}
			p.connOfThread[thread] = conn
		})
		if err = errors.Join(err, bad); err != nil {
			return err
		}
	}
	for txn, thread := range owner {
		c, ok := p.connOfThread[thread]
		switch {
		case !ok:
		case txn < firstReadOnly:
			p.connOf[txn] = c
		default:
			fleeting[txn] = c
		}
	}
	return nil
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
