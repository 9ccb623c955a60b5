//go:build !notidb

package embedded

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pingcap/kvproto/pkg/coprocessor"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// timestamp is the kind of a request for one; TiKV's client calls the others by names of its own.
const timestamp = "TSO"

// kinds are those of the requests that statements send.
var kinds = []string{
	timestamp, tikvrpc.CmdGet.String(), tikvrpc.CmdBatchGet.String(), tikvrpc.CmdBufferBatchGet.String(),
	tikvrpc.CmdScan.String(), tikvrpc.CmdCop.String(), tikvrpc.CmdPessimisticLock.String(),
	tikvrpc.CmdPessimisticRollback.String(), tikvrpc.CmdPrewrite.String(), tikvrpc.CmdCommit.String(),
	tikvrpc.CmdBatchRollback.String(), tikvrpc.CmdCleanup.String(), tikvrpc.CmdTxnHeartBeat.String(),
	tikvrpc.CmdCheckTxnStatus.String(), tikvrpc.CmdCheckSecondaryLocks.String(), tikvrpc.CmdResolveLock.String(),
}

// longestStand bounds how long a request is held, whatever becomes of the one who holds it.
const longestStand = 30 * time.Second

// requests stands between the sessions and the store, and holds and records what they ask for.
type requests struct {
	users atomic.Int32 // who want it; 0: nothing is looked at
	mu    sync.Mutex
	armed map[uint64]*standing // by connection
	trail map[uint64]*requestTrail
	moves map[uint64]*movement
}

func newRequests() *requests {
	return &requests{
		armed: map[uint64]*standing{}, trail: map[uint64]*requestTrail{}, moves: map[uint64]*movement{},
	}
}

// standing is a request that is to be held, or is.
type standing struct {
	of      *requests
	conn    uint64
	at      corpus.Hold
	seen    int // requests of the kind
	here    bool
	hit, on chan struct{}
	once    sync.Once
}

// Stands implements harness.Holding.
func (s *standing) Stands() bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return s.here
}

// Hit implements harness.Holding.
func (s *standing) Hit() <-chan struct{} { return s.hit }

// Release implements harness.Holding.
func (s *standing) Release() error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.of.armed[s.conn] == s {
		delete(s.of.armed, s.conn)
	}
	s.once.Do(func() { close(s.on) })
	return nil
}

// movement is what a session's requests came to.
type movement struct {
	// answers counts those that did not tell of a lock in the way.
	answers uint64
	// locked says that the last one did: the session asks for the lock's transaction, and tries again.
	locked bool
}

// request is one that is under way.
type request struct {
	conn uint64 // 0: nobody knows
	kind string
	n    int
	held *standing
}

// arm has a connection's request held.
func (r *requests) arm(conn uint64, at corpus.Hold) *standing {
	s := &standing{of: r, conn: conn, at: at, hit: make(chan struct{}), on: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.armed[conn] = s
	return s
}

// begins notes a request, and holds it if that is wanted before the store sees it.
func (r *requests) begins(ctx context.Context, kind string) request {
	if r.users.Load() == 0 {
		return request{}
	}
	q := request{conn: connOf(ctx), kind: kind}
	if q.conn == 0 {
		return q
	}
	r.mu.Lock()
	if t := r.trail[q.conn]; t != nil {
		q.n = t.begins(kind)
	}
	if s := r.armed[q.conn]; s != nil && s.at.Request == kind {
		if s.seen++; s.seen == s.at.Hit {
			q.held = s
		}
	}
	stand := q.held != nil && !q.held.at.Answered
	r.mu.Unlock()
	if stand {
		r.stand(ctx, q.held)
	}
	return q
}

// ends notes the answer to a request, and holds it if that is wanted. resp is nil where there is no answer that tells
// of locks.
func (r *requests) ends(ctx context.Context, q request, resp *tikvrpc.Response) {
	if q.conn == 0 {
		return
	}
	r.mu.Lock()
	if t := r.trail[q.conn]; t != nil && q.n > 0 {
		t.ends(q.kind, q.n)
	}
	m := r.moves[q.conn]
	if m == nil {
		m = &movement{}
		r.moves[q.conn] = m
	}
	if m.locked = tellsOfLock(resp); !m.locked {
		m.answers++
	}
	r.mu.Unlock()
	if q.held != nil && q.held.at.Answered {
		r.stand(ctx, q.held)
	}
}

// stand returns when a request is let go, or its statement ends.
func (r *requests) stand(ctx context.Context, s *standing) {
	r.mu.Lock()
	if r.armed[s.conn] != s { // let go already
		r.mu.Unlock()
		return
	}
	s.here = true
	r.mu.Unlock()
	close(s.hit)
	last := time.NewTimer(longestStand)
	defer last.Stop()
	select {
	case <-s.on:
	case <-ctx.Done():
	case <-last.C:
	}
	r.mu.Lock()
	s.here = false
	r.mu.Unlock()
}

// forget drops what is known of a connection that is closed.
func (r *requests) forget(conn uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.moves, conn)
}

// tellsOfLock says that an answer names a lock of somebody else's, so that the request will be sent again.
func tellsOfLock(resp *tikvrpc.Response) bool {
	if resp == nil {
		return false
	}
	switch r := resp.Resp.(type) {
	case *kvrpcpb.GetResponse:
		return r.GetError().GetLocked() != nil
	case *kvrpcpb.BatchGetResponse:
		return r.GetError().GetLocked() != nil || pairLocked(r.Pairs)
	case *kvrpcpb.ScanResponse:
		return r.GetError().GetLocked() != nil || pairLocked(r.Pairs)
	case *coprocessor.Response:
		return r.GetLocked() != nil
	case *kvrpcpb.PrewriteResponse:
		return anyLocked(r.Errors)
	case *kvrpcpb.PessimisticLockResponse:
		return anyLocked(r.Errors)
	case *kvrpcpb.CheckTxnStatusResponse:
		return r.LockTtl > 0
	}
	return false
}

func pairLocked(pairs []*kvrpcpb.KvPair) bool {
	for _, p := range pairs {
		if p.GetError().GetLocked() != nil {
			return true
		}
	}
	return false
}

func anyLocked(errs []*kvrpcpb.KeyError) bool {
	for _, e := range errs {
		if e.GetLocked() != nil {
			return true
		}
	}
	return false
}

// clock is the oracle of the store, whose timestamps are requests, too.
type clock struct {
	oracle.Oracle
	requests *requests
}

// GetTimestamp implements oracle.Oracle.
func (c clock) GetTimestamp(ctx context.Context, o *oracle.Option) (uint64, error) {
	q := c.requests.begins(ctx, timestamp)
	ts, err := c.Oracle.GetTimestamp(ctx, o)
	c.requests.ends(ctx, q, nil)
	return ts, err
}

// GetTimestampAsync implements oracle.Oracle. The timestamp is made when it is waited for.
func (c clock) GetTimestampAsync(ctx context.Context, o *oracle.Option) oracle.Future {
	return &tick{c.Oracle.GetTimestampAsync(ctx, o), ctx, c.requests}
}

type tick struct {
	oracle.Future
	ctx      context.Context
	requests *requests
}

// Wait implements oracle.Future.
func (t *tick) Wait() (uint64, error) {
	q := t.requests.begins(t.ctx, timestamp)
	ts, err := t.Future.Wait()
	t.requests.ends(t.ctx, q, nil)
	return ts, err
}
